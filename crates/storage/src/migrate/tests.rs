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
    let schema = Schema::product(TWO);
    assert_eq!(schema.next(1).unwrap().unwrap().version, 2);
    assert!(schema.next(2).unwrap().is_none());
    assert!(matches!(schema.next(3), Err(OpenError::Newer { found: 3, known: 2 })));
}

#[test]
fn steps_run_once_and_a_broken_one_leaves_nothing() {
    let mut connection = rusqlite::Connection::open_in_memory().unwrap();
    assert!(matches!(
        sqlite::run_schema(&mut connection, &Schema::product(BROKEN)),
        Err(OpenError::Migration { version: 2, .. })
    ));
    assert_eq!(connection.query_row("SELECT COUNT(*) FROM a", [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    for _ in 0..2 {
        sqlite::run_schema(&mut connection, &Schema::product(TWO)).unwrap();
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

const ONE: &str = "CREATE TABLE shop_a (x BIGINT); INSERT INTO shop_a (x) VALUES (1)";
const TWICE: &str = "ALTER TABLE shop_a ADD COLUMN y BIGINT; UPDATE shop_a SET y = 2; CREATE INDEX shop_a_x ON shop_a (x)";
const FIRST: Migrations = shop(&[ONE]);
const BOTH: Migrations = shop(&[ONE, TWICE]);

const fn shop(steps: &'static [&'static str]) -> Migrations {
    Migrations { application: "shop", sqlite: steps, postgres: steps }
}

async fn places() -> Vec<Place> {
    [Some(Place::sqlite(Durability::Full)), Place::postgres().await].into_iter().flatten().collect()
}

async fn open(place: &Place, application: Option<Migrations>) -> Result<Store, OpenError> {
    Store::open(crate::StoreOptions { application, ..place.options() }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_s_tables_are_versioned_beside_the_product_s() {
    for place in places().await {
        let store = open(&place, Some(FIRST)).await.unwrap();
        assert_eq!(store.application_version(&FIRST).await.unwrap(), 1);
        store.close().await;
        for _ in 0..2 {
            let store = open(&place, Some(BOTH)).await.unwrap();
            assert_eq!(store.application_version(&BOTH).await.unwrap(), 2);
            assert_eq!(store.version().await.unwrap(), list::SQLITE.len() as i64);
            let mut tx = store.read().await.unwrap();
            let row = tx.row("SELECT COUNT(*), CAST(SUM(x + y) AS BIGINT) FROM shop_a", &[]).await.unwrap().unwrap();
            assert_eq!((row.get::<i64>(0).unwrap(), row.get::<i64>(1).unwrap()), (1, 3));
            drop(tx);
            store.close().await;
        }
        let older = open(&place, Some(FIRST)).await.err().unwrap();
        assert!(matches!(older, OpenError::ApplicationNewer { application: "shop", found: 2, known: 1 }), "{older}");
        // Another application counts from its own 1; a program without any does not look.
        let other = Migrations { application: "mill", ..shop(&["CREATE TABLE mill_a (x BIGINT)"]) };
        assert_eq!(open(&place, Some(other)).await.unwrap().application_version(&other).await.unwrap(), 1);
        open(&place, None).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_open_at_once_migrate_an_application_once() {
    for place in places().await {
        let opening: Vec<_> = (0..6)
            .map(|_| {
                let options = crate::StoreOptions { application: Some(BOTH), ..place.options() };
                tokio::spawn(Store::open(options))
            })
            .collect();
        for store in opening {
            store.await.unwrap().unwrap();
        }
        let store = open(&place, Some(BOTH)).await.unwrap();
        let mut tx = store.read().await.unwrap();
        let row = tx.row("SELECT COUNT(*) FROM app_migrations WHERE application = 'shop'", &[]).await.unwrap().unwrap();
        assert_eq!(row.get::<i64>(0).unwrap(), 2);
        let row = tx.row("SELECT COUNT(*) FROM shop_a", &[]).await.unwrap().unwrap();
        assert_eq!(row.get::<i64>(0).unwrap(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_keeps_to_its_own_names_and_a_broken_step_leaves_nothing() {
    let broken: [&'static [&'static str]; 4] = [
        &[ONE, "CREATE TABLE approvals (x BIGINT)"],
        &[ONE, "CREATE INDEX by_x ON shop_a (x)"],
        &[ONE, "DROP TABLE rates"],
        &[ONE, "INSERT INTO shop_a (x) VALUES (2); SELECT nothing"],
    ];
    for place in places().await {
        for steps in broken {
            let error = open(&place, Some(shop(steps))).await.err().unwrap();
            assert!(matches!(error, OpenError::ApplicationMigration { version: 2, .. }), "{error}");
        }
        let store = open(&place, Some(FIRST)).await.unwrap();
        let mut tx = store.read().await.unwrap();
        let row = tx.row("SELECT COUNT(*) FROM shop_a", &[]).await.unwrap().unwrap();
        assert_eq!(row.get::<i64>(0).unwrap(), 1);
        assert!(tx.rows("SELECT 1 FROM rates", &[]).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn lists_that_are_none_are_refused_before_anything_is_written() {
    let place = Place::sqlite(Durability::Full);
    let uneven = Migrations { application: "shop", sqlite: &[ONE], postgres: &[] };
    for application in [uneven, Migrations { application: "", ..FIRST }, Migrations { application: "Shop's", ..FIRST }] {
        let error = open(&place, Some(application)).await.err().unwrap();
        assert!(matches!(error, OpenError::Migrations(_)), "{error}");
    }
    let connection = rusqlite::Connection::open(place.path()).unwrap();
    assert_eq!(connection.query_row("SELECT COUNT(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}
