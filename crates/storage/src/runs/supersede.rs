//! What a new run does to the runs and rows before it.

use domain::{CancelReason, RunId, RunKey, RunStatus, ThreadId, ThreadKey};

use super::cancel::{Active, stop};
use crate::row::{parsed, word};
use crate::{StorageError, Tx};

/// An active run of a thread, its row locked.
pub(super) struct Other {
    pub(super) key: RunKey,
    id: RunId,
    thread: ThreadId,
    status: RunStatus,
    pub(super) turn: i64,
    position: i64,
    user: String,
    unattended: bool,
    stopping: bool,
}

impl Other {
    pub(super) async fn stop(&self, tx: &mut Tx) -> Result<(), StorageError> {
        let active = Active { key: &self.key, id: &self.id, thread: &self.thread, status: self.status };
        stop(tx, active, CancelReason::Replaced).await.map(drop)
    }

    /// Somebody waits for it: a new message would have to.
    pub(super) fn is_busy(&self) -> bool {
        !self.unattended && !self.stopping
    }

    /// Nobody reads it any more, and the same person goes on.
    pub(super) fn is_left_by(&self, user: &str) -> bool {
        self.unattended && self.user == user
    }
}

/// The active runs of a thread, which the caller has locked, in the queue's order.
pub(super) async fn active(tx: &mut Tx, thread: &ThreadKey) -> Result<Vec<Other>, StorageError> {
    let sql = "SELECT key, id, thread_id, status, turn, position, user_id, unattended_since, cancel FROM runs
        WHERE thread_key = $1 AND status IN ('queued', 'running') ORDER BY position FOR UPDATE";
    let rows = tx.rows(sql, &[thread.as_str().into()]).await?;
    rows.iter()
        .map(|row| {
            Ok(Other {
                key: parsed(row, 0)?,
                id: parsed(row, 1)?,
                thread: parsed(row, 2)?,
                status: word(&row.get::<String>(3)?, RunStatus::parse)?,
                turn: row.get(4)?,
                position: row.get(5)?,
                user: row.get(6)?,
                unattended: row.get::<Option<i64>>(7)?.is_some(),
                stopping: row.get::<Option<String>>(8)?.is_some(),
            })
        })
        .collect()
}

/// After every other active run of the thread.
pub(super) fn next_position(others: &[Other], now: i64) -> i64 {
    others.iter().map(|other| other.position + 1).fold(now, i64::max)
}

/// From which turn on the transcript is written anew, and the user row that stays to be answered again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anew {
    pub(super) from: i64,
    pub(super) keep: Option<i64>,
}

/// What a run of such a turn still writes is superseded as well.
pub(super) async fn supersede_run(tx: &mut Tx, other: &Other, by: &RunKey) -> Result<(), StorageError> {
    let sql = "UPDATE runs SET superseded_by = $2 WHERE key = $1";
    tx.execute(sql, &[other.key.as_str().into(), by.as_str().into()]).await?;
    Ok(())
}

/// Rows are superseded, never deleted.
pub(super) async fn supersede_rows(tx: &mut Tx, thread: &ThreadKey, by: &RunKey, anew: Anew) -> Result<(), StorageError> {
    let sql = "UPDATE messages SET superseded_by = $2
        WHERE thread_key = $1 AND superseded_by IS NULL AND turn >= $3 AND seq <> $4";
    let keep = anew.keep.unwrap_or(0);
    tx.execute(sql, &[thread.as_str().into(), by.as_str().into(), anew.from.into(), keep.into()]).await?;
    // A row that an edit had superseded stands again once it is answered again.
    let sql = "UPDATE messages SET superseded_by = NULL WHERE thread_key = $1 AND seq = $2 AND superseded_by IS NOT NULL";
    tx.execute(sql, &[thread.as_str().into(), keep.into()]).await?;
    Ok(())
}
