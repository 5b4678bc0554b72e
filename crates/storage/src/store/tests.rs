use super::*;
use crate::testing::{Place, add_one, n, table};
use crate::{Row, Value};

/// A row of the test table: k, n, b, x.
fn columns(row: &Row) -> (String, Option<i64>, Option<bool>, Option<Vec<u8>>) {
    (row.get(0).unwrap(), row.get(1).unwrap(), row.get(2).unwrap(), row.get(3).unwrap())
}

fn refused(url: &str) -> String {
    target(url).unwrap_err().to_string()
}

#[test]
fn urls_name_an_engine() {
    assert_eq!(target("sqlite:frontdesk.db").unwrap(), Target::Sqlite("frontdesk.db".into()));
    assert_eq!(target("sqlite:///var/lib/a.db").unwrap(), Target::Sqlite("/var/lib/a.db".into()));
    assert_eq!(target("postgres://ada@db/frontdesk").unwrap(), Target::Postgres);
    assert!(refused("sqlite::memory:").contains("neither sqlite:PATH nor postgres://"));
    assert!(refused("sqlite:").contains("\"sqlite:\""));
}

#[test]
fn a_refused_url_keeps_its_password_to_itself() {
    for url in ["mysql://ada:p@ss@db/x", "ada:p@ss@db"] {
        assert!(!refused(url).contains("ss@"), "{}", refused(url));
    }
    let options = StoreOptions {
        url: "postgres://ada:secret@db/x".into(),
        durability: Durability::Full,
        connections: 0,
        application: None,
    };
    assert!(!format!("{options:?}").contains("secret"));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_writers_beside_a_long_reader() {
    for place in Place::all().await {
        let store = place.open().await;
        table(&store).await;
        let mut long = store.read().await.unwrap();
        let snapshot = "SELECT n FROM t";
        assert_eq!(long.rows(snapshot, &[]).await.unwrap()[0].get::<i64>(0).unwrap(), 0);
        let writers = (0..64).map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..5 {
                    add_one(&store).await;
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        assert_eq!(long.rows(snapshot, &[]).await.unwrap()[0].get::<i64>(0).unwrap(), 0, "the snapshot moved");
        drop(long);
        assert_eq!(n(&store).await, 320);
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answered_commit_is_what_a_reader_sees() {
    for place in Place::all().await {
        let store = place.open().await;
        table(&store).await;
        for expected in 1..20 {
            add_one(&store).await;
            assert_eq!(n(&store).await, expected);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_transaction_leaves_nothing() {
    for place in Place::all().await {
        let store = place.open().await;
        table(&store).await;
        let mut tx = store.begin().await.unwrap();
        tx.execute("UPDATE t SET n = 7", &[]).await.unwrap();
        drop(tx);
        assert_eq!(n(&store).await, 0);
        add_one(&store).await;
        assert_eq!(n(&store).await, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_savepoint_undoes_what_came_after_it() {
    for place in Place::all().await {
        let store = place.open().await;
        table(&store).await;
        let mut tx = store.begin().await.unwrap();
        assert!(matches!(tx.rollback_to_savepoint().await, Err(StorageError::Statement(_))));
        tx.execute("UPDATE t SET n = 1", &[]).await.unwrap();
        tx.savepoint().await.unwrap();
        tx.execute("UPDATE t SET n = 2", &[]).await.unwrap();
        tx.rollback_to_savepoint().await.unwrap();
        tx.execute("UPDATE t SET n = n + 10", &[]).await.unwrap();
        tx.savepoint().await.unwrap();
        tx.execute("UPDATE t SET n = 3", &[]).await.unwrap();
        let again = tx.execute("INSERT INTO t (k) VALUES ('a')", &[]).await;
        assert!(matches!(again, Err(StorageError::Constraint(_))), "{again:?}");
        tx.rollback_to_savepoint().await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(n(&store).await, 11);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_statement_fails_the_transaction() {
    for place in Place::all().await {
        let store = place.open().await;
        table(&store).await;
        let mut tx = store.begin().await.unwrap();
        tx.execute("UPDATE t SET n = 1", &[]).await.unwrap();
        assert!(matches!(tx.row("SELECT nothing FROM t", &[]).await, Err(StorageError::Statement(_))));
        assert!(tx.row("SELECT n FROM t", &[]).await.is_err());
        assert!(tx.commit().await.is_err());
        assert_eq!(n(&store).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_are_bound_by_name_and_nulls_come_back() {
    for place in Place::all().await {
        let store = place.open().await;
        table(&store).await;
        let mut tx = store.begin().await.unwrap();
        let insert = "INSERT INTO t (x, b, n, k) VALUES ($4, $3, $2, $1)";
        let full: [Value; 4] = ["b".into(), 5_i64.into(), true.into(), vec![0_u8, 255].into()];
        assert_eq!(tx.execute(insert, &full).await.unwrap(), 1);
        let empty: [Value; 4] = ["c".into(), None::<i64>.into(), None::<bool>.into(), None::<Vec<u8>>.into()];
        assert_eq!(tx.execute(insert, &empty).await.unwrap(), 1);
        let rows = tx.rows("SELECT k, n, b, x FROM t WHERE k >= $1 AND $1 <> 'x' ORDER BY k", &["b".into()]).await.unwrap();
        assert_eq!(columns(&rows[0]), ("b".into(), Some(5), Some(true), Some(vec![0, 255])));
        assert_eq!(columns(&rows[1]), ("c".into(), None, None, None));
        assert_eq!(rows.len(), 2);
        assert!(matches!(rows[1].get::<i64>(1), Err(StorageError::Corrupt(_))));
        assert!(matches!(rows[1].get::<i64>(9), Err(StorageError::Corrupt(_))));
        assert!(rows[0].get::<bool>(2).unwrap());
        let changed = tx.row("UPDATE t SET n = $2 WHERE k = $1 RETURNING n", &["c".into(), 9_u32.into()]).await.unwrap();
        assert_eq!(changed.unwrap().get::<i64>(0).unwrap(), 9);
        let count = tx.row("SELECT COUNT(*), COALESCE(MAX(n), 0) FROM t WHERE b IS NULL", &[]).await.unwrap().unwrap();
        assert_eq!((count.get(0).unwrap(), count.get(1).unwrap()), (2_i64, 9_i64));
        assert_eq!(tx.row("SELECT k FROM t WHERE k = $1", &["z".into()]).await.unwrap(), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_parameter_is_refused() {
    for place in Place::all().await {
        let store = place.open().await;
        let result = store.begin().await.unwrap().row("SELECT $1", &[]).await;
        assert!(matches!(result, Err(StorageError::Statement(_))), "{result:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_cannot_write() {
    for place in Place::all().await {
        let store = place.open().await;
        table(&store).await;
        assert!(store.read().await.unwrap().execute("UPDATE t SET n = 1", &[]).await.is_err());
        assert_eq!(n(&store).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn time_stands_still_in_a_transaction() {
    for place in Place::all().await {
        let store = place.open().await;
        let mut tx = store.read().await.unwrap();
        let now = tx.now().await.unwrap();
        assert!(now > 1_700_000_000_000);
        assert_eq!(tx.now().await.unwrap(), now);
        #[cfg(feature = "shift-clock")]
        {
            store.shift_clock(3_600_000);
            assert_eq!(tx.now().await.unwrap(), now);
            assert!(store.read().await.unwrap().now().await.unwrap() >= now + 3_600_000);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_store_is_unavailable() {
    for place in Place::all().await {
        let store = place.open().await;
        table(&store).await;
        store.close().await;
        store.close().await;
        assert!(matches!(store.begin().await, Err(StorageError::Unavailable(_))));
        assert!(matches!(store.read().await, Err(StorageError::Unavailable(_))));
        let store = place.open().await;
        assert_eq!(n(&store).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_waits_for_an_open_transaction() {
    for place in Place::all().await {
        let store = place.open().await;
        table(&store).await;
        let mut tx = store.begin().await.unwrap();
        tx.execute("UPDATE t SET n = 1", &[]).await.unwrap();
        let mut closing = std::pin::pin!(store.close());
        assert!(futures::poll!(&mut closing).is_pending());
        let (committed, ()) = tokio::join!(tx.commit(), closing);
        committed.unwrap();
        assert_eq!(n(&place.open().await).await, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_change_is_noticed() {
    for place in Place::all().await {
        let (ours, theirs) = (place.open().await, place.open().await);
        table(&ours).await;
        let noticed = {
            let ours = ours.clone();
            tokio::spawn(async move { ours.changed().await })
        };
        // A hint may be missed while the watch begins: theirs go on until one is seen.
        while !noticed.is_finished() {
            add_one(&theirs).await;
            theirs.announce().await;
            tokio::task::yield_now().await;
        }
        noticed.await.unwrap();
    }
}
