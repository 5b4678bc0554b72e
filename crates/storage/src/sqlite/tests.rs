use std::sync::atomic::AtomicUsize;

use super::*;
use crate::testing::{Place, add_one, n, table};
use crate::{Durability, Store, Tx};

async fn database(place: &Place) -> Arc<Database> {
    Database::open(place.path(), &place.options()).await.unwrap()
}

async fn begin(database: &Arc<Database>) -> Tx {
    Tx::sqlite(database.begin().await.unwrap(), 0)
}

/// Counts the physical commits of a database that wrote something.
async fn count(database: &Database) -> Arc<AtomicUsize> {
    let commits = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&commits);
    let hook = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        false
    };
    database.writer.lock().await.connection().unwrap().commit_hook(Some(hook)).unwrap();
    commits
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_transactions_share_a_commit() {
    for durability in [Durability::Full, Durability::Normal] {
        share_a_commit(durability).await;
    }
}

async fn share_a_commit(durability: Durability) {
    let place = Place::sqlite(durability);
    table(&place.open().await).await;
    let database = database(&place).await;
    let commits = count(&database).await;
    let first = begin(&database).await;
    let writers: Vec<_> = (0..64)
        .map(|_| {
            let database = Arc::clone(&database);
            tokio::spawn(async move {
                let mut tx = begin(&database).await;
                tx.execute("UPDATE t SET n = n + 1", &[]).await.unwrap();
                tx.commit().await.unwrap();
            })
        })
        .collect();
    // All of them have begun to wait once as many tasks hold the lock.
    while Arc::strong_count(&database.writer) < 64 {
        tokio::task::yield_now().await;
    }
    first.commit().await.unwrap();
    for writer in writers {
        writer.await.unwrap();
    }
    let commits = commits.load(Ordering::Relaxed);
    assert!((1..16).contains(&commits), "{commits} commits for 64 transactions");
    assert_eq!(n(&place.open().await).await, 64);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_a_group_may_roll_back() {
    for durability in [Durability::Full, Durability::Normal] {
        roll_one_back(durability).await;
    }
}

async fn roll_one_back(durability: Durability) {
    let place = Place::sqlite(durability);
    table(&place.open().await).await;
    let database = database(&place).await;
    let mut first = begin(&database).await;
    first.execute("UPDATE t SET n = n + 1", &[]).await.unwrap();
    let dropped = {
        let database = Arc::clone(&database);
        tokio::spawn(async move {
            let mut tx = begin(&database).await;
            tx.execute("UPDATE t SET n = n + 100", &[]).await.unwrap();
        })
    };
    let last = {
        let database = Arc::clone(&database);
        tokio::spawn(async move {
            let mut tx = begin(&database).await;
            tx.execute("UPDATE t SET n = n + 10", &[]).await.unwrap();
            tx.commit().await.unwrap();
        })
    };
    first.commit().await.unwrap();
    dropped.await.unwrap();
    last.await.unwrap();
    assert_eq!(n(&place.open().await).await, 11);
}

#[tokio::test]
async fn a_transaction_that_was_lost_does_nothing_more() {
    let place = Place::sqlite(Durability::Normal);
    table(&place.open().await).await;
    let database = database(&place).await;
    let mut tx = begin(&database).await;
    tx.execute("UPDATE t SET n = n + 1", &[]).await.unwrap();
    // As a full disk does: the transaction is rolled back, and a statement says so.
    tx.execute("ROLLBACK", &[]).await.unwrap();
    tx.execute("UPDATE nothing SET n = 1", &[]).await.unwrap_err();
    tx.execute("UPDATE t SET n = n + 10", &[]).await.unwrap_err();
    tx.commit().await.unwrap_err();
    assert_eq!(n(&place.open().await).await, 0);
    add_one(&place.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_read_writes_no_log() {
    let place = Place::sqlite(Durability::Full);
    table(&place.open().await).await;
    let database = database(&place).await;
    let size = || std::fs::metadata(place.path().with_extension("db-wal")).unwrap().len();
    let before = size();
    let mut tx = begin(&database).await;
    tx.row("SELECT n FROM t", &[]).await.unwrap();
    tx.execute("UPDATE t SET n = 1 WHERE k = 'none'", &[]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(size(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_cannot_commit_answers_nobody_with_success() {
    let place = Place::sqlite(Durability::Full);
    table(&place.open().await).await;
    let database = database(&place).await;
    // A commit hook that says yes to "roll back instead" stands for a full disk.
    database.writer.lock().await.connection().unwrap().commit_hook(Some(|| true)).unwrap();
    let writers: Vec<_> = (0..8)
        .map(|_| {
            let database = Arc::clone(&database);
            tokio::spawn(async move {
                let mut tx = begin(&database).await;
                tx.execute("UPDATE t SET n = n + 1", &[]).await.unwrap();
                tx.commit().await
            })
        })
        .collect();
    for writer in writers {
        assert!(writer.await.unwrap().is_err());
    }
    database.writer.lock().await.connection().unwrap().commit_hook(None::<fn() -> bool>).unwrap();
    let mut tx = begin(&database).await;
    assert_eq!(tx.row("SELECT n FROM t", &[]).await.unwrap().unwrap().get::<i64>(0).unwrap(), 0);
    tx.execute("UPDATE t SET n = 1", &[]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(n(&place.open().await).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_stores_on_one_file_write_at_once() {
    for durability in [Durability::Full, Durability::Normal] {
        let place = Place::sqlite(durability);
        let stores = [place.open().await, place.open().await];
        table(&stores[0]).await;
        let writer = |store: &Store| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..25 {
                    add_one(&store).await;
                }
            })
        };
        let writers: Vec<_> = stores.iter().flat_map(|store| [writer(store), writer(store), writer(store)]).collect();
        for writer in writers {
            writer.await.unwrap();
        }
        assert_eq!(n(&stores[1]).await, 150);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_commits_are_no_change() {
    let place = Place::sqlite(Durability::Full);
    let store = place.open().await;
    table(&store).await;
    let database = database(&place).await;
    let version = || async { database.writer.lock().await.data_version().unwrap() };
    let before = version().await;
    let mut tx = begin(&database).await;
    tx.execute("UPDATE t SET n = 1", &[]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(version().await, before);
    add_one(&store).await;
    assert_ne!(version().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_is_copied_back() {
    let place = Place::sqlite(Durability::Normal);
    let store = place.open().await;
    table(&store).await;
    let before = std::fs::metadata(place.path()).unwrap().len();
    let page = vec![7_u8; 64 * 1024];
    // As long as it takes: nobody but the checkpointer makes the database file grow.
    for number in 0_i64.. {
        if std::fs::metadata(place.path()).unwrap().len() > before + 1024 * 1024 {
            break;
        }
        let mut tx = store.begin().await.unwrap();
        let insert = "INSERT INTO t (k, x) VALUES ($1, $2)";
        tx.execute(insert, &[format!("page{number}").into(), page.as_slice().into()]).await.unwrap();
        tx.commit().await.unwrap();
    }
    store.close().await;
    let log = place.path().with_extension("db-wal");
    assert!(!log.exists(), "the last one to close removes the log");
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::sqlite(Durability::Full);
    let store = place.open().await;
    table(&store).await;
    for path in [place.path(), place.path().with_extension("db-wal")] {
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn a_missing_directory_is_named() {
    let place = Place::sqlite(Durability::Full);
    let path = place.path().join("missing/test.db");
    let error = Database::open(path, &place.options()).await.err().unwrap().to_string();
    assert!(error.contains("missing/test.db"), "{error}");
}

#[tokio::test]
async fn a_dropped_scan_gives_its_reader_back() {
    let place = Place::sqlite(Durability::Full);
    let store = place.open().await;
    table(&store).await;
    let mut tx = store.begin().await.unwrap();
    for number in 0..200 {
        // More than is read at once.
        tx.execute("INSERT INTO t (k) VALUES ($1)", &[format!("row{number}").into()]).await.unwrap();
    }
    tx.commit().await.unwrap();
    assert_eq!(store.read().await.unwrap().rows("SELECT k FROM t", &[]).await.unwrap().len(), 201);
    for _ in 0..20 {
        let mut tx = store.read().await.unwrap();
        let scan = std::pin::pin!(tx.rows("SELECT k FROM t", &[]));
        let _ = futures::poll!(scan);
    }
    assert_eq!(n(&store).await, 0);
}

#[tokio::test]
async fn another_programs_file_is_left_alone() {
    let place = Place::sqlite(Durability::Full);
    rusqlite::Connection::open(place.path()).unwrap().execute_batch("CREATE TABLE invoices (a)").unwrap();
    let before = std::fs::read(place.path()).unwrap();
    let error = Database::open(place.path(), &place.options()).await.err().unwrap().to_string();
    assert!(error.ends_with("it is another program's database; name another file"), "{error}");
    assert_eq!(std::fs::read(place.path()).unwrap(), before);
    let error = Database::open("/dev/null".into(), &place.options()).await.err().unwrap().to_string();
    assert!(error.contains("no regular file"), "{error}");
}
