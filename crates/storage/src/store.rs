//! Opening a store and beginning transactions on it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::{Migrations, OpenError, StorageError, Tx, postgres, sqlite};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

/// `store.durability`: what an answered commit survives. `Full`: loss of power. `Normal`: a killed process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    #[default]
    Full,
    Normal,
}

#[derive(Clone)]
pub struct StoreOptions {
    /// `sqlite:PATH` (a relative path is relative to the working directory; `sqlite::memory:` is refused) or
    /// `postgres://…`.
    pub url: String,
    pub durability: Durability,
    /// PostgreSQL connections, SQLite readers; 0 takes the default (16, 4).
    pub connections: u32,
    /// Tables beside the product's, migrated with them.
    pub application: Option<Migrations>,
}

impl std::fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreOptions")
            .field("url", &without_secret(&self.url))
            .field("durability", &self.durability)
            .field("connections", &self.connections)
            .field("application", &self.application.map(|application| application.application))
            .finish()
    }
}

/// The database. Cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    backend: Backend,
    /// Milliseconds added to the database's time; moved by tests only.
    shift: AtomicI64,
}

enum Backend {
    Sqlite(Arc<sqlite::Database>),
    Postgres(Arc<postgres::Database>),
}

/// `FRONTDESK_SHIFT_MS`, so that leases of a process a test has killed are over at once.
#[cfg(feature = "shift-clock")]
fn first_shift() -> i64 {
    std::env::var("FRONTDESK_SHIFT_MS").ok().and_then(|ms| ms.parse().ok()).unwrap_or(0)
}

#[cfg(not(feature = "shift-clock"))]
fn first_shift() -> i64 {
    0
}

/// What `store.url` names.
#[derive(Debug, PartialEq)]
enum Target {
    Sqlite(PathBuf),
    Postgres,
}

impl Store {
    /// Opens (creating a SQLite file if need be) and migrates, one process at a time.
    pub async fn open(options: StoreOptions) -> Result<Self, OpenError> {
        let backend = match target(&options.url)? {
            Target::Sqlite(path) => Backend::Sqlite(sqlite::Database::open(path, &options).await?),
            Target::Postgres => Backend::Postgres(postgres::Database::open(&options).await?),
        };
        Ok(Self(Arc::new(Inner { backend, shift: AtomicI64::new(first_shift()) })))
    }

    pub fn engine(&self) -> Engine {
        match self.0.backend {
            Backend::Sqlite(_) => Engine::Sqlite,
            Backend::Postgres(_) => Engine::Postgres,
        }
    }

    /// A transaction that may write. On SQLite it waits its turn behind the one writer. A task that holds one and
    /// begins another waits for itself, until `Unavailable` after 15 s.
    pub async fn begin(&self) -> Result<Tx, StorageError> {
        let shift = self.shift();
        match &self.0.backend {
            Backend::Sqlite(database) => Ok(Tx::sqlite(database.begin().await?, shift)),
            Backend::Postgres(database) => Ok(Tx::postgres(database.begin().await?, shift)),
        }
    }

    /// A snapshot that may only read; never waits for writers.
    pub async fn read(&self) -> Result<Tx, StorageError> {
        let shift = self.shift();
        match &self.0.backend {
            Backend::Sqlite(database) => Ok(Tx::sqlite(database.read().await?, shift)),
            Backend::Postgres(database) => Ok(Tx::postgres(database.read().await?, shift)),
        }
    }

    /// Returns when another process may have changed something (SQLite: `PRAGMA data_version`, asked every 200 ms;
    /// PostgreSQL: NOTIFY). Hints only: some may be missed. Never returns on a closed store.
    pub async fn changed(&self) {
        match &self.0.backend {
            Backend::Sqlite(database) => database.changed().await,
            Backend::Postgres(database) => database.changed().await,
        }
    }

    /// Tells other processes that something changed; best effort, outside any transaction. SQLite needs no telling.
    pub async fn announce(&self) {
        if let Backend::Postgres(database) = &self.0.backend {
            database.announce();
        }
    }

    /// Moves the database's time by `ms` for transactions begun from now on, in this process; shifts add up.
    #[cfg(feature = "shift-clock")]
    pub fn shift_clock(&self, ms: i64) {
        self.0.shift.fetch_add(ms, Ordering::Relaxed);
    }

    /// Waits for what is being committed and closes; later calls are [`StorageError::Unavailable`].
    pub async fn close(&self) {
        match &self.0.backend {
            Backend::Sqlite(database) => database.close().await,
            Backend::Postgres(database) => database.close().await,
        }
    }

    fn shift(&self) -> i64 {
        self.0.shift.load(Ordering::Relaxed)
    }
}

fn target(url: &str) -> Result<Target, OpenError> {
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(Target::Postgres);
    }
    let refused = || OpenError::Url(without_secret(url));
    let path = url.strip_prefix("sqlite:").ok_or_else(refused)?;
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() || path.contains(":memory:") || path.contains('\0') {
        return Err(refused());
    }
    Ok(Target::Sqlite(PathBuf::from(path)))
}

/// The URL with what stands before its last `@` left out.
fn without_secret(url: &str) -> String {
    match (url.split_once(':'), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}"),
        (None, Some((_, host))) => format!("…@{host}"),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests;
