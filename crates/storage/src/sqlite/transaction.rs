//! A transaction on the writer, or a snapshot on a reader.

use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use super::reader::Reader;
use super::writer::Writer;
use super::{Database, group, statement};
use crate::{Durability, Row, StorageError, Value};

/// Rows that cost less to read again than a hop to another thread (about 0.05 CPU-ms).
const SHORT: usize = 64;

pub(crate) enum Transaction {
    Write(Write),
    /// `None` while its statement runs on a blocking thread.
    Read(Option<Reader>),
}

/// Rolls back when dropped.
pub(crate) struct Write {
    /// `None` once it ended.
    writer: Option<OwnedMutexGuard<Writer>>,
    /// Keeps the committer alive.
    database: Arc<Database>,
}

impl Transaction {
    pub(super) fn write(writer: OwnedMutexGuard<Writer>, database: Arc<Database>) -> Self {
        Self::Write(Write { writer: Some(writer), database })
    }

    pub(super) fn read(reader: Reader) -> Self {
        Self::Read(Some(reader))
    }

    /// A reader's scan leaves the async threads once it is more than [`SHORT`]; the writer's are short.
    pub(crate) async fn rows(&mut self, sql: &str, params: &[Value]) -> Result<Vec<Row>, StorageError> {
        let slot = match self {
            Self::Write(write) => return write.run(|writer| statement::rows(writer.connection()?, sql, params, usize::MAX)),
            Self::Read(slot) => slot,
        };
        let rows = statement::rows(slot.as_ref().ok_or_else(interrupted)?.connection()?, sql, params, SHORT + 1)?;
        if rows.len() <= SHORT {
            return Ok(rows);
        }
        let reader = slot.take().ok_or_else(interrupted)?;
        let (sql, params) = (sql.to_owned(), params.to_vec());
        let scan = move || {
            let rows = reader.connection().and_then(|connection| statement::rows(connection, &sql, &params, usize::MAX));
            (reader, rows)
        };
        let (reader, rows) = tokio::task::spawn_blocking(scan).await.map_err(|_| interrupted())?;
        *slot = Some(reader);
        rows
    }

    pub(crate) fn row(&mut self, sql: &str, params: &[Value]) -> Result<Option<Row>, StorageError> {
        let rows = match self {
            Self::Write(write) => write.run(|writer| statement::rows(writer.connection()?, sql, params, 1)),
            Self::Read(reader) => statement::rows(reader.as_ref().ok_or_else(interrupted)?.connection()?, sql, params, 1),
        }?;
        Ok(rows.into_iter().next())
    }

    pub(crate) fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64, StorageError> {
        match self {
            Self::Write(write) => write.run(|writer| statement::execute(writer.connection()?, sql, params)),
            Self::Read(reader) => statement::execute(reader.as_ref().ok_or_else(interrupted)?.connection()?, sql, params),
        }
    }

    pub(crate) async fn commit(self) -> Result<(), StorageError> {
        match self {
            Self::Write(write) => write.commit().await,
            Self::Read(_) => Ok(()),
        }
    }
}

impl Write {
    fn run<T>(&mut self, work: impl FnOnce(&Writer) -> Result<T, StorageError>) -> Result<T, StorageError> {
        let writer = self.writer.as_mut().filter(|writer| !writer.is_lost()).ok_or_else(interrupted)?;
        let result = work(writer);
        if result.is_err() {
            writer.check();
        }
        result
    }

    async fn commit(mut self) -> Result<(), StorageError> {
        let mut writer = self.writer.take().ok_or_else(interrupted)?;
        let joined = writer.join();
        if joined.is_err() {
            writer.rollback();
        }
        let Some(answer) = joined? else {
            return Ok(());
        };
        let waiting = writer.waiting();
        if waiting >= group::FULL || !self.database.is_wanted() {
            // Nobody else is there to share it. From here on it commits also if nobody waits for the answer.
            match self.database.durability {
                Durability::Normal => group::commit_here(writer).await,
                Durability::Full => drop(tokio::task::spawn_blocking(move || group::commit(writer))),
            }
        } else {
            drop(writer);
            if waiting == 1 {
                self.database.waiting.notify_one();
            }
        }
        answer.await.unwrap_or_else(|_| Err(StorageError::Unavailable("the committer stopped".to_owned())))
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        if let Some(mut writer) = self.writer.take() {
            writer.rollback();
        }
    }
}

fn interrupted() -> StorageError {
    StorageError::Unavailable("the transaction was interrupted".to_owned())
}
