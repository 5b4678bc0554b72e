//! Group commit: those who queue for the writer join the open physical transaction; one COMMIT makes all of them
//! durable, then all are answered. The last of the queue commits for all; a group that goes on longer is ended by the
//! committer, which queues behind those who waited when the group began.

use std::sync::Arc;

use tokio::sync::{Mutex, Notify, OwnedMutexGuard, oneshot};
use tokio_util::sync::CancellationToken;

use super::writer::{Answer, GAP, Writer};
use crate::Durability;

/// A group of so many is committed by the one who completes it.
pub(super) const FULL: usize = 256;

/// Ends every group that did not end by itself, until `stop`, and once more then.
pub(super) async fn run(writer: Arc<Mutex<Writer>>, durability: Durability, waiting: Arc<Notify>, stop: CancellationToken) {
    loop {
        let stopped = tokio::select! {
            () = waiting.notified() => false,
            () = stop.cancelled() => true,
        };
        // The lock is fair: who waits for it already goes first and shares the group.
        let writer = Arc::clone(&writer).lock_owned().await;
        match durability {
            Durability::Normal => commit_here(writer).await,
            Durability::Full => {
                if let Err(error) = tokio::task::spawn_blocking(move || commit(writer)).await {
                    tracing::error!(%error, "a group commit stopped");
                }
            }
        }
        if stopped {
            return;
        }
    }
}

/// Commits and answers. Blocks for the disk.
pub(super) fn commit(mut writer: OwnedMutexGuard<Writer>) {
    let waiters = writer.take_waiters();
    if waiters.is_empty() {
        return;
    }
    let answer = writer.commit();
    if writer.gap_due() {
        std::thread::sleep(GAP);
    }
    // The next group begins while this one is answered.
    drop(writer);
    tell(waiters, &answer);
}

/// The same where there is no fsync to wait for.
pub(super) async fn commit_here(mut writer: OwnedMutexGuard<Writer>) {
    commit_held(&mut writer);
    if writer.gap_due() {
        tokio::time::sleep(GAP).await;
    }
}

/// Commits and answers, keeping the writer.
pub(super) fn commit_held(writer: &mut Writer) {
    let waiters = writer.take_waiters();
    if !waiters.is_empty() {
        tell(waiters, &writer.commit());
    }
}

fn tell(waiters: Vec<oneshot::Sender<Answer>>, answer: &Answer) {
    for waiter in waiters {
        // Who stopped waiting knows that it may have been committed.
        let _ = waiter.send(answer.clone());
    }
}
