//! Empty stores for the engines' own tests.

use std::hash::{BuildHasher, RandomState};

use sqlx::{AssertSqlSafe, Connection, Executor};
use tempfile::TempDir;

use crate::{Durability, Store, StoreOptions};

/// A store to open, once or more often, gone when dropped (a PostgreSQL schema stays until its server goes).
pub(crate) struct Place {
    pub(crate) url: String,
    pub(crate) durability: Durability,
    dir: Option<TempDir>,
}

impl Place {
    pub(crate) fn sqlite(durability: Durability) -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { url: format!("sqlite:{}", dir.path().join("test.db").display()), durability, dir: Some(dir) }
    }

    /// `None`, said aloud, without `FRONTDESK_TEST_POSTGRES`.
    pub(crate) async fn postgres() -> Option<Self> {
        let Ok(server) = std::env::var("FRONTDESK_TEST_POSTGRES") else {
            eprintln!("FRONTDESK_TEST_POSTGRES is not set: not tested on PostgreSQL");
            return None;
        };
        let schema = format!("t_{:016x}", RandomState::new().hash_one(0));
        let mut connection = sqlx::PgConnection::connect(&server).await.unwrap();
        connection.execute(AssertSqlSafe(format!("CREATE SCHEMA {schema}"))).await.unwrap();
        let separator = if server.contains('?') { '&' } else { '?' };
        let url = format!("{server}{separator}options[search_path]={schema}");
        Some(Self { url, durability: Durability::Full, dir: None })
    }

    /// One of each kind.
    pub(crate) async fn all() -> Vec<Self> {
        let sqlite = [Durability::Full, Durability::Normal].map(Self::sqlite);
        sqlite.into_iter().chain(Self::postgres().await).collect()
    }

    pub(crate) fn options(&self) -> StoreOptions {
        StoreOptions { url: self.url.clone(), durability: self.durability, connections: 0, application: None }
    }

    pub(crate) async fn open(&self) -> Store {
        Store::open(self.options()).await.unwrap()
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.dir.as_ref().unwrap().path().join("test.db")
    }
}

/// A table `t (k TEXT PRIMARY KEY, n BIGINT, b BOOLEAN, x bytes)` with the row `a, 0`.
pub(crate) async fn table(store: &Store) {
    let bytes = match store.engine() {
        crate::Engine::Sqlite => "BLOB",
        crate::Engine::Postgres => "BYTEA",
    };
    let mut tx = store.begin().await.unwrap();
    let table = format!("CREATE TABLE t (k TEXT PRIMARY KEY, n BIGINT, b BOOLEAN, x {bytes})");
    tx.execute(&table, &[]).await.unwrap();
    tx.execute("INSERT INTO t (k, n) VALUES ($1, $2)", &["a".into(), 0_i64.into()]).await.unwrap();
    tx.commit().await.unwrap();
}

/// `n` of the row `a`, on a reader.
pub(crate) async fn n(store: &Store) -> i64 {
    let mut tx = store.read().await.unwrap();
    tx.row("SELECT n FROM t WHERE k = $1", &["a".into()]).await.unwrap().unwrap().get(0).unwrap()
}

/// Adds one to `n` of the row `a`: read, then write, so that a lost lock would lose an update.
pub(crate) async fn add_one(store: &Store) {
    let mut tx = store.begin().await.unwrap();
    let row = tx.row("SELECT n FROM t WHERE k = $1 FOR UPDATE", &["a".into()]).await.unwrap().unwrap();
    let n: i64 = row.get(0).unwrap();
    let changed = tx.execute("UPDATE t SET n = $2 WHERE k = $1", &["a".into(), (n + 1).into()]).await.unwrap();
    assert_eq!(changed, 1);
    tx.commit().await.unwrap();
}
