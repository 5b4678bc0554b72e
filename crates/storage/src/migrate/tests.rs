use super::*;
use crate::testing::Place;
use crate::{Durability, Store};

static TWO: &[Migration] = &[
    Migration { version: 1, sql: "CREATE TABLE a (x BIGINT); INSERT INTO a (x) VALUES (1)" },
    Migration { version: 2, sql: "ALTER TABLE a ADD COLUMN y BIGINT; UPDATE a SET y = 2" },
];
static BROKEN: &[Migration] = &[TWO_1, Migration { version: 2, sql: "INSERT INTO a (x) VALUES (2); SELECT nothing" }];
const TWO_1: Migration = Migration { version: 1, sql: "CREATE TABLE a (x BIGINT); INSERT INTO a (x) VALUES (1)" };

#[test]
fn lists_are_numbered_without_gaps() {
    for migrations in [list::SQLITE, list::POSTGRES] {
        let versions = migrations.iter().map(|migration| migration.version);
        assert!(versions.eq((1..).take(migrations.len())));
    }
    assert_eq!(list::SQLITE.len(), list::POSTGRES.len());
}

#[test]
fn a_newer_database_is_refused() {
    assert_eq!(next(TWO, 1).unwrap().unwrap().version, 2);
    assert!(next(TWO, 2).unwrap().is_none());
    assert!(matches!(next(TWO, 3), Err(OpenError::Newer { found: 3, known: 2 })));
}

#[test]
fn steps_run_once_and_a_broken_one_leaves_nothing() {
    let mut connection = rusqlite::Connection::open_in_memory().unwrap();
    assert!(matches!(sqlite::run_list(&mut connection, BROKEN), Err(OpenError::Migration { version: 2, .. })));
    assert_eq!(connection.query_row("SELECT COUNT(*) FROM a", [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    for _ in 0..2 {
        sqlite::run_list(&mut connection, TWO).unwrap();
    }
    assert_eq!(connection.query_row("SELECT SUM(x + y) FROM a", [], |row| row.get::<_, i64>(0)).unwrap(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_open_at_once_migrate_once() {
    let places = [Some(Place::sqlite(Durability::Full)), Place::postgres().await];
    for place in places.into_iter().flatten() {
        let opening: Vec<_> = (0..6).map(|_| tokio::spawn(Store::open(place.options()))).collect();
        for store in opening {
            store.await.unwrap().unwrap();
        }
        let store = place.open().await;
        let mut tx = store.begin().await.unwrap();
        let row = tx.row("SELECT COUNT(*), MAX(version) FROM schema_migrations", &[]).await.unwrap().unwrap();
        let known = list::SQLITE.len() as i64;
        assert_eq!((row.get(0).unwrap(), row.get(1).unwrap()), (known, known));
        tx.execute("INSERT INTO schema_migrations (version) VALUES ($1)", &[(known + 1).into()]).await.unwrap();
        tx.commit().await.unwrap();
        let newer = Store::open(place.options()).await.err().unwrap();
        assert!(matches!(newer, OpenError::Newer { .. }), "{newer}");
    }
}
