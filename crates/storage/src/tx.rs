//! One transaction on either engine, with one SQL text.
//!
//! Parameters are `$1`, `$2`, … bound by name (SQLite numbers them by first appearance). Column types are TEXT,
//! BIGINT, BLOB/BYTEA and BOOLEAN only. A trailing `FOR UPDATE [SKIP LOCKED]` is cut on SQLite, whose writer is
//! alone. A `Tx` has no lifetime, is `Send`, and rolls back when dropped.
//!
//! A failed statement fails the transaction, on both engines: what follows is refused, `commit` too, until
//! [`Tx::rollback_to_savepoint`]. A constraint that is expected to refuse is written `ON CONFLICT DO NOTHING`.

mod value;

use crate::{StorageError, postgres, sqlite};

pub use value::{FromValue, Row, Value};

/// An open transaction.
pub struct Tx {
    inner: Inner,
    shift: i64,
    now: Option<i64>,
    marked: bool,
    /// The first statement that failed.
    failed: Option<StorageError>,
}

enum Inner {
    Sqlite(sqlite::Transaction),
    Postgres(postgres::Transaction),
}

impl Tx {
    pub(crate) fn sqlite(transaction: sqlite::Transaction, shift: i64) -> Self {
        Self { inner: Inner::Sqlite(transaction), shift, now: None, marked: false, failed: None }
    }

    pub(crate) fn postgres(transaction: postgres::Transaction, shift: i64) -> Self {
        Self { inner: Inner::Postgres(transaction), shift, now: None, marked: false, failed: None }
    }

    /// The database's time, milliseconds since the Unix epoch, the same throughout the transaction: the time of the
    /// first call. On SQLite this machine's clock.
    pub async fn now(&mut self) -> Result<i64, StorageError> {
        if let Some(now) = self.now {
            return Ok(now);
        }
        let time = match &self.inner {
            Inner::Sqlite(_) => sqlite::now(),
            Inner::Postgres(_) => {
                let row = self.row(postgres::NOW, &[]).await?;
                row.ok_or_else(|| StorageError::Corrupt("no time".to_owned()))?.get(0)?
            }
        };
        let now = time.saturating_add(self.shift);
        self.now = Some(now);
        Ok(now)
    }

    pub async fn rows(&mut self, sql: &str, params: &[Value]) -> Result<Vec<Row>, StorageError> {
        self.alive()?;
        let result = match &mut self.inner {
            Inner::Sqlite(transaction) => transaction.rows(sql, params).await,
            Inner::Postgres(transaction) => transaction.rows(sql, params).await,
        };
        self.seen(result)
    }

    /// The first row, if any. For reads by key and `RETURNING`: it does not leave the calling task.
    pub async fn row(&mut self, sql: &str, params: &[Value]) -> Result<Option<Row>, StorageError> {
        self.alive()?;
        let result = match &mut self.inner {
            Inner::Sqlite(transaction) => transaction.row(sql, params),
            Inner::Postgres(transaction) => transaction.row(sql, params).await,
        };
        self.seen(result)
    }

    /// Rows changed.
    pub async fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64, StorageError> {
        self.alive()?;
        let result = match &mut self.inner {
            Inner::Sqlite(transaction) => transaction.execute(sql, params),
            Inner::Postgres(transaction) => transaction.execute(sql, params).await,
        };
        self.seen(result)
    }

    /// Marks a place [`Tx::rollback_to_savepoint`] returns to. One at a time: a second mark replaces the first.
    pub async fn savepoint(&mut self) -> Result<(), StorageError> {
        self.alive()?;
        if self.marked {
            self.command("RELEASE SAVEPOINT mark").await?;
        }
        self.command("SAVEPOINT mark").await?;
        self.marked = true;
        Ok(())
    }

    /// Undoes everything since [`Tx::savepoint`], which stays; a failed transaction goes on from there.
    pub async fn rollback_to_savepoint(&mut self) -> Result<(), StorageError> {
        if !self.marked {
            return Err(StorageError::Statement("no savepoint to return to".to_owned()));
        }
        self.command("ROLLBACK TO SAVEPOINT mark").await?;
        self.failed = None;
        Ok(())
    }

    /// Returns once the change is as durable as `store.durability` says; so does a transaction that only read. On an
    /// error nothing may be answered: what was written is gone, or (connection lost at that moment) not known.
    pub async fn commit(self) -> Result<(), StorageError> {
        self.alive()?;
        match self.inner {
            Inner::Sqlite(transaction) => transaction.commit().await,
            Inner::Postgres(transaction) => transaction.commit().await,
        }
    }

    async fn command(&mut self, sql: &'static str) -> Result<(), StorageError> {
        let result = match &mut self.inner {
            Inner::Sqlite(transaction) => transaction.execute(sql, &[]).map(drop),
            Inner::Postgres(transaction) => transaction.command(sql).await,
        };
        self.seen(result)
    }

    fn alive(&self) -> Result<(), StorageError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn seen<T>(&mut self, result: Result<T, StorageError>) -> Result<T, StorageError> {
        if let Err(error) = &result {
            self.failed.get_or_insert_with(|| error.clone());
        }
        result
    }
}
