//! SQLite: one writer behind a fair lock, a few readers, everything else done by tasks that end with the store.
//!
//! * Statements run on the calling task: they take microseconds, a hop to another thread takes more.
//! * The transactions of all who wait for the writer share one physical transaction ([`group`]): its pages are written
//!   once, and with [`Durability::Full`](crate::Durability) there is one fsync. Who is alone commits at once.
//! * The log is copied back by us ([`checkpoint`]), never by whoever happens to commit.

mod checkpoint;
mod connection;
mod error;
mod group;
mod reader;
mod statement;
mod transaction;
mod watch;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::{Mutex, Notify, OwnedMutexGuard};
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::changes::Changes;
use crate::{Durability, OpenError, StorageError, StoreOptions};

pub(crate) use transaction::Transaction;

use reader::Readers;
use writer::Writer;

/// How long a transaction waits for the writer, here or in another process.
const PATIENCE: Duration = Duration::from_secs(15);
const READERS: u32 = 4;

/// The clock of this machine, which is the database's.
pub(crate) fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) struct Database {
    durability: Durability,
    writer: Arc<Mutex<Writer>>,
    /// Transactions that wait for the writer.
    queued: AtomicUsize,
    readers: Arc<Readers>,
    /// A group has its first waiter.
    waiting: Arc<Notify>,
    changes: Arc<Changes>,
    watched: AtomicBool,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Database {
    pub(crate) async fn open(path: PathBuf, options: &StoreOptions) -> Result<Arc<Self>, OpenError> {
        let durability = options.durability;
        let readers = if options.connections == 0 { READERS } else { options.connections };
        let opened = {
            let (path, application) = (path.clone(), options.application);
            tokio::task::spawn_blocking(move || connection::prepare(&path, durability, application)).await
        };
        let (writer, checkpointer) = opened.map_err(|error| OpenError::Open(error.to_string()))??;

        let long_log = Arc::new(Notify::new());
        let database = Self {
            durability,
            writer: Arc::new(Mutex::new(Writer::new(writer, Arc::clone(&long_log)))),
            queued: AtomicUsize::new(0),
            readers: Arc::new(Readers::new(path, readers)),
            waiting: Arc::new(Notify::new()),
            changes: Arc::new(Changes::new()),
            watched: AtomicBool::new(false),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        let writer = || Arc::clone(&database.writer);
        let waiting = Arc::clone(&database.waiting);
        database.tasks.spawn(group::run(writer(), durability, waiting, database.stop.clone()));
        database.tasks.spawn(checkpoint::run(checkpointer, writer(), long_log, database.stop.clone()));
        Ok(Arc::new(database))
    }

    pub(crate) async fn begin(self: &Arc<Self>) -> Result<Transaction, StorageError> {
        let deadline = Instant::now() + PATIENCE;
        let mut writer = self.lock(deadline).await?;
        loop {
            match writer.begin() {
                Ok(()) => return Ok(Transaction::write(writer, Arc::clone(self))),
                Err(error) if error::is_busy(&error) && Instant::now() < deadline => sleep(backoff()).await,
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) async fn read(&self) -> Result<Transaction, StorageError> {
        self.readers.begin(Instant::now() + PATIENCE).await.map(Transaction::read)
    }

    pub(crate) async fn changed(&self) {
        if !self.watched.swap(true, Ordering::Relaxed) {
            let (writer, changes) = (Arc::clone(&self.writer), Arc::clone(&self.changes));
            self.tasks.spawn(watch::run(writer, changes, self.stop.clone()));
        }
        self.changes.next().await;
    }

    pub(crate) async fn close(&self) {
        self.stop.cancel();
        self.readers.close();
        self.tasks.close();
        let deadline = Instant::now() + PATIENCE;
        // The tasks need the writer once more: a transaction that is never ended must not keep the process.
        let ended = timeout_at(deadline, self.tasks.wait()).await;
        let (Ok(()), Ok(mut writer)) = (ended, self.lock(deadline).await) else {
            return tracing::warn!("the database is left open: a transaction did not end");
        };
        let close = move || {
            group::commit_held(&mut writer);
            // Copies the log back and removes it, unless another process has the database open.
            writer.close();
        };
        if let Err(error) = tokio::task::spawn_blocking(close).await {
            tracing::warn!(%error, "failed to close the database");
        }
    }

    async fn lock(&self, deadline: Instant) -> Result<OwnedMutexGuard<Writer>, StorageError> {
        match Arc::clone(&self.writer).try_lock_owned() {
            Ok(writer) => Ok(writer),
            Err(_) => {
                let _queued = Queued::new(&self.queued);
                timeout_at(deadline, Arc::clone(&self.writer).lock_owned())
                    .await
                    .map_err(|_| StorageError::Unavailable("the writer stayed busy for 15 s".to_owned()))
            }
        }
    }

    /// Somebody waits for the writer. If that one gives up, the committer ends the group.
    fn is_wanted(&self) -> bool {
        self.queued.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// One who waits, until dropped.
struct Queued<'a>(&'a AtomicUsize);

impl<'a> Queued<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// 1 to 5 ms, different for two processes that wait for each other.
fn backoff() -> Duration {
    let noise = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_micros() % 4000;
    Duration::from_micros(1000 + u64::from(noise))
}

#[cfg(test)]
mod tests;
