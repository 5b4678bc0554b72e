//! Opening a store and beginning transactions on it.

use crate::{OpenError, StorageError, Tx};

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

#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// `sqlite:PATH` (a relative path is relative to the working directory; `sqlite::memory:` is refused) or
    /// `postgres://…`.
    pub url: String,
    pub durability: Durability,
    /// PostgreSQL connections, SQLite readers; 0 takes the default (16, 4).
    pub connections: u32,
}

/// The database. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    _private: (),
}

impl Store {
    /// Opens (creating a SQLite file if need be) and migrates, one process at a time.
    pub async fn open(_options: StoreOptions) -> Result<Self, OpenError> {
        todo!()
    }

    pub fn engine(&self) -> Engine {
        todo!()
    }

    /// A transaction that may write. On SQLite it waits its turn behind the one writer.
    pub async fn begin(&self) -> Result<Tx, StorageError> {
        todo!()
    }

    /// A snapshot that may only read; never waits for writers.
    pub async fn read(&self) -> Result<Tx, StorageError> {
        todo!()
    }

    /// Returns when another process may have changed something (SQLite: `PRAGMA data_version`, asked every 200 ms;
    /// PostgreSQL: NOTIFY). Hints only: some may be missed.
    pub async fn changed(&self) {
        todo!()
    }

    /// Tells other processes that something changed; best effort, outside any transaction. SQLite needs no telling.
    pub async fn announce(&self) {
        todo!()
    }

    /// Milliseconds added to the database's time from now on, in this process.
    #[cfg(feature = "shift-clock")]
    pub fn shift_clock(&self, _ms: i64) {
        todo!()
    }

    /// Waits for what is being committed and closes; later calls are [`StorageError::Unavailable`].
    pub async fn close(&self) {
        todo!()
    }
}
