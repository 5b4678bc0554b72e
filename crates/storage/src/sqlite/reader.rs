//! Connections that only read, opened as they are needed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout_at};

use super::{backoff, connection, error};
use crate::StorageError;

pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

/// One of them, with a snapshot; goes back when dropped.
pub(crate) struct Reader {
    /// `None` until it is opened, and once dropped.
    connection: Option<Connection>,
    readers: Arc<Readers>,
    _permit: OwnedSemaphorePermit,
}

impl Readers {
    pub(super) fn new(path: PathBuf, count: u32) -> Self {
        Self { path, idle: Mutex::new(Vec::new()), permits: Arc::new(Semaphore::new(count as usize)) }
    }

    pub(super) async fn begin(self: &Arc<Self>, deadline: Instant) -> Result<Reader, StorageError> {
        let permit = timeout_at(deadline, Arc::clone(&self.permits).acquire_owned())
            .await
            .map_err(|_| StorageError::Unavailable("all readers stayed busy for 15 s".to_owned()))?
            .map_err(|_| StorageError::Unavailable("the store is closed".to_owned()))?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut reader = Reader { connection: idle, readers: Arc::clone(self), _permit: permit };
        loop {
            match reader.begin() {
                Ok(()) => return Ok(reader),
                // Rare: another process recovers the log or closes the database as the last one.
                Err(error) if error::is_busy(&error) && Instant::now() < deadline => sleep(backoff()).await,
                Err(error) => return Err(error),
            }
        }
    }

    /// Later transactions are refused; open ones go on.
    pub(super) fn close(&self) {
        self.permits.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Reader {
    pub(super) fn connection(&self) -> Result<&Connection, StorageError> {
        self.connection.as_ref().ok_or_else(|| StorageError::Unavailable("the reader has no connection".to_owned()))
    }

    /// Takes the snapshot at once, so that later statements cannot find the database locked.
    fn begin(&mut self) -> Result<(), StorageError> {
        if self.connection.is_none() {
            let connection = connection::open(&self.readers.path, Duration::ZERO)?;
            connection.pragma_update(None, "query_only", true)?;
            self.connection = Some(connection);
        }
        let connection = self.connection()?;
        if connection.is_autocommit() {
            connection.prepare_cached("BEGIN DEFERRED")?.raw_execute()?;
        }
        connection.prepare_cached("SELECT 1 FROM schema_migrations LIMIT 1")?.query_row([], |_| Ok(()))?;
        Ok(())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if !connection.is_autocommit()
            && connection.prepare_cached("ROLLBACK").and_then(|mut rollback| rollback.raw_execute()).is_err()
        {
            return;
        }
        let mut idle = self.readers.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.readers.permits.is_closed() {
            idle.push(connection);
        }
    }
}
