use super::*;
use crate::testing::{Place, n, table};
use crate::{Store, Tx};

async fn database(place: &Place) -> Arc<Database> {
    Database::open(&place.options()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_begin_leaves_no_open_transaction() {
    let Some(place) = Place::postgres().await else { return };
    let mut options = place.options();
    options.connections = 1;
    let store = Store::open(options).await.unwrap();
    table(&store).await;
    for _ in 0..10 {
        let read = std::pin::pin!(store.read());
        let _ = futures::poll!(read);
    }
    for _ in 0..10 {
        let mut tx = store.begin().await.unwrap();
        let update = std::pin::pin!(tx.execute("UPDATE t SET n = n + 1", &[]));
        let _ = futures::poll!(update);
    }
    let mut tx = store.begin().await.unwrap();
    tx.execute("UPDATE t SET n = n + 1", &[]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(n(&store).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_is_replaced() {
    let Some(place) = Place::postgres().await else { return };
    let store = place.open().await;
    table(&store).await;
    let mut tx = store.begin().await.unwrap();
    let own = tx.row("SELECT pg_backend_pid()", &[]).await.unwrap().unwrap().get::<i64>(0).unwrap();
    let kill = format!("SELECT pg_terminate_backend({own})");
    let killed = tx.row(&kill, &[]).await;
    assert!(matches!(killed, Err(StorageError::Unavailable(_))), "{killed:?}");
    assert!(tx.commit().await.is_err());
    assert_eq!(n(&store).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooled_connection_that_died_is_not_noticed() {
    let Some(place) = Place::postgres().await else { return };
    let store = place.open().await;
    table(&store).await;
    let mut pids = Vec::new();
    let mut open: Vec<Tx> = Vec::new();
    for _ in 0..3 {
        let mut tx = store.begin().await.unwrap();
        pids.push(tx.row("SELECT pg_backend_pid()", &[]).await.unwrap().unwrap().get::<i64>(0).unwrap());
        open.push(tx);
    }
    for tx in open {
        tx.commit().await.unwrap();
    }
    let other = place.open().await;
    let mut tx = other.begin().await.unwrap();
    for pid in pids {
        tx.row(&format!("SELECT pg_terminate_backend({pid}, 5000)"), &[]).await.unwrap();
    }
    assert_eq!(n(&store).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadlock_is_a_conflict() {
    let Some(place) = Place::postgres().await else { return };
    let store = place.open().await;
    table(&store).await;
    let insert = "INSERT INTO t (k, n) VALUES ('b', 0)";
    let mut tx = store.begin().await.unwrap();
    tx.execute(insert, &[]).await.unwrap();
    tx.commit().await.unwrap();
    let (mut one, mut two) = (store.begin().await.unwrap(), store.begin().await.unwrap());
    one.execute("UPDATE t SET n = 1 WHERE k = 'a'", &[]).await.unwrap();
    two.execute("UPDATE t SET n = 1 WHERE k = 'b'", &[]).await.unwrap();
    let (first, second) = tokio::join!(
        async {
            one.execute("UPDATE t SET n = 1 WHERE k = 'b'", &[]).await?;
            one.commit().await
        },
        async {
            two.execute("UPDATE t SET n = 1 WHERE k = 'a'", &[]).await?;
            two.commit().await
        }
    );
    let outcomes = [first, second];
    let conflicts = outcomes.iter().filter(|outcome| matches!(outcome, Err(StorageError::Conflict(_)))).count();
    assert_eq!((conflicts, outcomes.iter().filter(|outcome| outcome.is_ok()).count()), (1, 1), "{outcomes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_announcement_is_no_change() {
    let Some(place) = Place::postgres().await else { return };
    let (ours, theirs) = (database(&place).await, database(&place).await);
    // The first return says that it listens.
    ours.changed().await;
    theirs.changed().await;
    let other = Arc::clone(&theirs);
    let heard = tokio::spawn(async move { other.changed().await });
    while !heard.is_finished() {
        ours.announce();
        tokio::task::yield_now().await;
    }
    // Announced in order on one channel: had ours counted, it would have arrived before theirs.
    assert!(futures::poll!(std::pin::pin!(ours.changed())).is_pending());
}

#[tokio::test(flavor = "multi_thread")]
async fn durability_names_the_commit() {
    let Some(mut place) = Place::postgres().await else { return };
    for (durability, expected) in [(Durability::Full, "on"), (Durability::Normal, "off")] {
        place.durability = durability;
        let mut tx = place.open().await.begin().await.unwrap();
        let row = tx.row("SELECT current_setting('synchronous_commit')", &[]).await.unwrap().unwrap();
        assert_eq!(row.get::<String>(0).unwrap(), expected);
    }
}

#[tokio::test]
async fn a_bad_url_is_not_quoted() {
    let options = StoreOptions {
        url: "postgres://ada:secret@db:notaport/x".to_owned(),
        durability: Durability::Full,
        connections: 0,
        application: None,
    };
    let error = Database::open(&options).await.err().unwrap().to_string();
    assert!(!error.contains("secret"), "{error}");
}
