//! PostgreSQL: a pool, transactions without lifetime, NOTIFY as a hint.

mod error;
mod notify;
mod statement;
mod transaction;

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::changes::Changes;
use crate::{Durability, OpenError, StorageError, StoreOptions, migrate};

pub(crate) use transaction::Transaction;

pub(crate) const NOW: &str = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT";

/// How long a transaction waits for a connection.
const PATIENCE: Duration = Duration::from_secs(15);
const CONNECTIONS: u32 = 16;

pub(crate) struct Database {
    pool: PgPool,
    changes: Arc<Changes>,
    listening: AtomicBool,
    announcement: Arc<Notify>,
    /// Tells our own announcements from others'.
    name: Arc<str>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Database {
    pub(crate) async fn open(options: &StoreOptions) -> Result<Arc<Self>, OpenError> {
        let connect = connect_options(options)?;
        migrate::postgres::run(&connect, options.application).await?;
        let connections = if options.connections == 0 { CONNECTIONS } else { options.connections };
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(PATIENCE)
            .idle_timeout(Duration::from_secs(600))
            // BEGIN is the test.
            .test_before_acquire(false)
            .connect_lazy_with(connect);
        let database = Self {
            pool,
            changes: Arc::new(Changes::new()),
            listening: AtomicBool::new(false),
            announcement: Arc::new(Notify::new()),
            name: notify::name().into(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        let announce = notify::announce(
            database.pool.clone(),
            Arc::clone(&database.name),
            Arc::clone(&database.announcement),
            database.stop.clone(),
        );
        database.tasks.spawn(announce);
        Ok(Arc::new(database))
    }

    pub(crate) async fn begin(&self) -> Result<Transaction, StorageError> {
        self.start("BEGIN").await
    }

    pub(crate) async fn read(&self) -> Result<Transaction, StorageError> {
        self.start("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await
    }

    /// A pooled connection may have died unnoticed (the server was restarted): then the next one, or a new one.
    async fn start(&self, begin: &'static str) -> Result<Transaction, StorageError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let connection = self.pool.acquire().await?;
            match Transaction::begin(connection, begin, self.tasks.clone()).await {
                Err(StorageError::Unavailable(error)) if Instant::now() < deadline => {
                    tracing::debug!(%error, "a pooled connection was lost");
                }
                other => return other,
            }
        }
    }

    pub(crate) async fn changed(&self) {
        if !self.listening.swap(true, Ordering::Relaxed) {
            let options = (*self.pool.connect_options()).clone();
            let listen = notify::listen(options, Arc::clone(&self.name), Arc::clone(&self.changes), self.stop.clone());
            self.tasks.spawn(listen);
        }
        self.changes.next().await;
    }

    pub(crate) fn announce(&self) {
        self.announcement.notify_one();
    }

    pub(crate) async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        let closed = async {
            self.tasks.wait().await;
            self.pool.close().await;
        };
        if tokio::time::timeout(PATIENCE, closed).await.is_err() {
            tracing::warn!("a transaction did not end; its connection is dropped");
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn connect_options(options: &StoreOptions) -> Result<PgConnectOptions, OpenError> {
    // sqlx's message may quote the URL, which may hold a password.
    let connect = PgConnectOptions::from_str(&options.url)
        .map_err(|_| OpenError::Open("store.url is not a valid postgres:// URL".to_owned()))?;
    let synchronous_commit = match options.durability {
        Durability::Full => "on",
        Durability::Normal => "off",
    };
    Ok(connect.application_name("frontdesk").statement_cache_capacity(256).options([
        ("synchronous_commit", synchronous_commit),
        ("statement_timeout", "30s"),
        ("lock_timeout", "15s"),
        ("idle_in_transaction_session_timeout", "60s"),
    ]))
}

#[cfg(test)]
mod tests;
