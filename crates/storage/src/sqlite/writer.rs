//! The one connection that writes.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::{Notify, oneshot};

use crate::StorageError;

/// Pages (4 KiB each) the write-ahead log grows before it is copied back. Counted from the last time, not from its
/// beginning: under constant load it does not start again by itself, and every commit would ask for a copy.
const LONG_LOG: i32 = 1000;
/// A busy writer leaves the lock to other processes for [`GAP`] this often: they ask for it every few milliseconds.
const SPELL: Duration = Duration::from_millis(50);
pub(super) const GAP: Duration = Duration::from_millis(1);

pub(super) type Answer = Result<(), StorageError>;

pub(super) struct Writer {
    /// `None` once closed.
    connection: Option<Connection>,
    /// A physical transaction is open.
    open: bool,
    /// The current transaction is a savepoint in a physical one that others wait for.
    shared: bool,
    /// Changes of this connection when the current transaction began.
    changes: u64,
    /// Committed in the open physical transaction, not answered.
    waiters: Vec<oneshot::Sender<Answer>>,
    long_log: Arc<Notify>,
    /// Length of the log when it was last to be copied back.
    copied: i32,
    busy_since: Instant,
    ended: Instant,
}

thread_local! {
    /// Pages in the log after this thread's last commit: the hook takes no state.
    static LOG_PAGES: Cell<i32> = const { Cell::new(0) };
}

impl Writer {
    pub(super) fn new(connection: Connection, long_log: Arc<Notify>) -> Self {
        connection.wal_hook(Some(|_, pages| {
            LOG_PAGES.set(pages);
            Ok(())
        }));
        let now = Instant::now();
        Self {
            connection: Some(connection),
            open: false,
            shared: false,
            changes: 0,
            waiters: Vec::new(),
            long_log,
            copied: 0,
            busy_since: now,
            ended: now,
        }
    }

    pub(super) fn connection(&self) -> Result<&Connection, StorageError> {
        self.connection.as_ref().ok_or_else(|| StorageError::Unavailable("the store is closed".to_owned()))
    }

    /// Begins a transaction: a physical one, or a savepoint in the one that others wait for.
    pub(super) fn begin(&mut self) -> Result<(), StorageError> {
        if !self.open {
            self.command("BEGIN IMMEDIATE")?;
            self.open = true;
            let now = Instant::now();
            if now.duration_since(self.ended) > GAP {
                self.busy_since = now;
            }
        }
        self.changes = self.connection()?.total_changes();
        self.shared = !self.waiters.is_empty();
        if self.shared
            && let Err(error) = self.command("SAVEPOINT tx")
        {
            self.leave();
            return Err(error);
        }
        Ok(())
    }

    /// Undoes the current transaction.
    pub(super) fn rollback(&mut self) {
        if self.open && self.shared && self.command("ROLLBACK TO tx; RELEASE tx").is_ok() {
            return;
        }
        self.leave();
    }

    /// Adds the current transaction to the group, to be answered after [`Writer::commit`]. `None`: it changed nothing
    /// and saw nothing that is not durable.
    pub(super) fn join(&mut self) -> Result<Option<oneshot::Receiver<Answer>>, StorageError> {
        if self.is_lost() {
            return Err(StorageError::Unavailable("the transaction was lost".to_owned()));
        }
        if self.shared {
            self.command("RELEASE tx")?;
        }
        if self.waiters.is_empty() && self.connection()?.total_changes() == self.changes {
            self.commit()?;
            return Ok(None);
        }
        let (sender, receiver) = oneshot::channel();
        self.waiters.push(sender);
        Ok(Some(receiver))
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiters.len()
    }

    pub(super) fn take_waiters(&mut self) -> Vec<oneshot::Sender<Answer>> {
        std::mem::take(&mut self.waiters)
    }

    /// Commits the physical transaction; the caller answers the waiters. Waits for the disk with [`Durability::Full`](crate::Durability).
    pub(super) fn commit(&mut self) -> Answer {
        if !self.open {
            return Ok(());
        }
        let result = self.command("COMMIT");
        if result.is_err() {
            self.leave();
            return result;
        }
        self.open = false;
        self.ended = Instant::now();
        let pages = LOG_PAGES.replace(0);
        if pages > 0 {
            if pages < self.copied {
                // It began again.
                self.copied = 0;
            }
            if pages - self.copied >= LONG_LOG {
                self.copied = pages;
                self.long_log.notify_one();
            }
        }
        Ok(())
    }

    /// The physical transaction ended under the current one: some failures (a full disk) roll it back.
    pub(super) fn is_lost(&self) -> bool {
        !self.open
    }

    /// The lock was held or taken again without a pause for so long that other processes may starve.
    pub(super) fn gap_due(&mut self) -> bool {
        let due = self.ended.duration_since(self.busy_since) > SPELL;
        if due {
            self.busy_since = self.ended;
        }
        due
    }

    /// After a failed statement: some failures (a full disk) end the physical transaction, and the group with it.
    pub(super) fn check(&mut self) {
        if self.open && self.connection.as_ref().is_some_and(Connection::is_autocommit) {
            self.leave();
        }
    }

    /// Changes when another process commits, not when this one does.
    pub(super) fn data_version(&self) -> Result<i64, StorageError> {
        Ok(self.connection()?.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?)
    }

    pub(super) fn close(&mut self) {
        self.leave();
        self.connection = None;
    }

    /// Gives the physical transaction up, and with it everybody who waits for it.
    fn leave(&mut self) {
        if let Some(connection) = &self.connection
            && !connection.is_autocommit()
            && let Err(error) = connection.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "failed to roll back");
        }
        self.open = false;
        self.ended = Instant::now();
        for waiter in self.take_waiters() {
            let _ = waiter.send(Err(StorageError::Unavailable("the group's transaction was lost".to_owned())));
        }
    }

    fn command(&self, sql: &'static str) -> Result<(), StorageError> {
        let connection = self.connection()?;
        for sql in sql.split("; ") {
            connection.prepare_cached(sql)?.raw_execute()?;
        }
        Ok(())
    }
}
