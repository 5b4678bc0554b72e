//! A transaction on a connection it owns.

use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{Executor, Postgres};
use tokio_util::task::TaskTracker;

use super::statement;
use crate::{Row, StorageError, Value};

/// How long a dropped transaction's ROLLBACK may take before its connection is given up.
const ROLLBACK: Duration = Duration::from_secs(5);

/// BEGIN, COMMIT and ROLLBACK are sent by hand: sqlx's own transaction, dropped while its BEGIN is under way, gives a
/// connection with an open transaction back to the pool. Here only a connection known to be clean goes back.
pub(crate) struct Transaction {
    /// `None` once it ended.
    connection: Option<PoolConnection<Postgres>>,
    /// A statement was sent and its end not seen.
    under_way: bool,
    tasks: TaskTracker,
}

impl Transaction {
    pub(super) async fn begin(
        connection: PoolConnection<Postgres>,
        begin: &'static str,
        tasks: TaskTracker,
    ) -> Result<Self, StorageError> {
        let mut transaction = Self { connection: Some(connection), under_way: false, tasks };
        transaction.command(begin).await?;
        Ok(transaction)
    }

    pub(crate) async fn rows(&mut self, sql: &str, params: &[Value]) -> Result<Vec<Row>, StorageError> {
        let query = statement::query(sql, params);
        let connection = self.start()?;
        let rows = connection.fetch_all(query).await;
        self.end(rows)?.iter().map(statement::row).collect()
    }

    pub(crate) async fn row(&mut self, sql: &str, params: &[Value]) -> Result<Option<Row>, StorageError> {
        let query = statement::query(sql, params);
        let connection = self.start()?;
        let row = connection.fetch_optional(query).await;
        self.end(row)?.as_ref().map(statement::row).transpose()
    }

    pub(crate) async fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64, StorageError> {
        let query = statement::query(sql, params);
        let connection = self.start()?;
        let done = connection.execute(query).await;
        Ok(self.end(done)?.rows_affected())
    }

    /// A statement without parameters or rows.
    pub(crate) async fn command(&mut self, sql: &'static str) -> Result<(), StorageError> {
        let connection = self.start()?;
        let done = connection.execute(sql).await;
        self.end(done).map(drop)
    }

    pub(crate) async fn commit(mut self) -> Result<(), StorageError> {
        self.command("COMMIT").await?;
        self.connection = None;
        Ok(())
    }

    fn start(&mut self) -> Result<&mut PoolConnection<Postgres>, StorageError> {
        if self.under_way {
            return Err(StorageError::Unavailable("the transaction was interrupted".to_owned()));
        }
        let ended = || StorageError::Statement("the transaction has ended".to_owned());
        let connection = self.connection.as_mut().ok_or_else(ended)?;
        self.under_way = true;
        Ok(connection)
    }

    /// An error the server sent leaves the connection usable, any other does not.
    fn end<T>(&mut self, result: Result<T, sqlx::Error>) -> Result<T, StorageError> {
        let answered = match &result {
            Ok(_) | Err(sqlx::Error::ColumnDecode { .. }) => true,
            Err(sqlx::Error::Database(error)) => !error.code().is_some_and(|code| code.starts_with("57P")),
            Err(_) => false,
        };
        self.under_way = !answered;
        Ok(result?)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) if !self.under_way => {
                let rollback = async move {
                    let done = tokio::time::timeout(ROLLBACK, connection.execute("ROLLBACK")).await;
                    if !matches!(done, Ok(Ok(_))) {
                        drop(connection.detach());
                    }
                };
                self.tasks.spawn_on(rollback, &runtime);
            }
            // The server rolls back when it sees the closed socket.
            _ => drop(connection.detach()),
        }
    }
}
