//! The garage's tables beside the product's.

use storage::{OpenError, Store, StoreOptions};
use testkit::Process;

use crate::support::Place;

on_both_engines! {
    a_product_s_database_becomes_a_garage_s
    a_newer_garage_is_refused
    two_processes_at_once_migrate_once
}

fn options(place: &Place) -> StoreOptions {
    StoreOptions { url: place.url.clone(), durability: storage::Durability::Normal, connections: 0, application: None }
}

async fn a_product_s_database_becomes_a_garage_s(place: Place) {
    Store::open(options(&place)).await.unwrap().close().await;
    let ran = place.setup().run(&["migrate"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.ends_with("its tables of garage at 1\n"), "{}", ran.stdout);
    let store = place.store().await;
    assert_eq!(store.application_version(&garage::MIGRATIONS).await.unwrap(), 1);
    let mut tx = store.read().await.unwrap();
    for table in ["garage_organizations", "garage_cars", "garage_todos"] {
        assert!(tx.rows(&format!("SELECT 1 FROM {table}"), &[]).await.unwrap().is_empty());
    }
}

async fn a_newer_garage_is_refused(place: Place) {
    let store = place.store().await;
    let mut tx = store.begin().await.unwrap();
    tx.execute("INSERT INTO app_migrations (application, version) VALUES ('garage', 7)", &[]).await.unwrap();
    tx.commit().await.unwrap();
    store.close().await;
    for command in [&["migrate"][..], &["org", "list"], &["serve", "--listen", "127.0.0.1:0"], &["run", "hello"]] {
        let ran = place.setup().run(command);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{command:?}");
        let expected = "the tables of garage have version 7, this build knows 1; use the newer build";
        assert!(ran.stderr.contains(expected), "{command:?}: {}", ran.stderr);
    }
    let application = Some(garage::MIGRATIONS);
    let error = Store::open(StoreOptions { application, ..options(&place) }).await.err().unwrap();
    assert!(matches!(error, OpenError::ApplicationNewer { found: 7, known: 1, .. }), "{error}");
}

async fn two_processes_at_once_migrate_once(place: Place) {
    let setup = place.setup();
    let mut starting: Vec<_> = (0..3).map(|_| Process::spawn(&setup, &["migrate"])).collect();
    for process in &mut starting {
        assert_eq!(process.wait().code(), Some(0), "{}", process.stderr());
    }
    let store = place.store().await;
    let mut tx = store.read().await.unwrap();
    let row = tx.row("SELECT COUNT(*), MAX(version) FROM app_migrations", &[]).await.unwrap().unwrap();
    assert_eq!((row.get::<i64>(0).unwrap(), row.get::<i64>(1).unwrap()), (1, 1));
}
