//! What the sweeper (every second) finds: leases that ran out, runs nobody reads, frames past their time.

use std::time::Duration;

use domain::{CancelReason, RunId, RunKey, RunStatus, ThreadId, ThreadKey};

use crate::retry::retry;
use crate::row::{millis, parsed, word};
use crate::runs::{Active, EndKind, Ending, end, run_columns, stop};
use crate::{RunRecord, StorageError, Store, Tx, messages};

/// Runs one sweep settles of each kind; the next sweep goes on.
const RUNS_A_SWEEP: i64 = 100;
/// Runs whose frames one transaction deletes, and transactions a sweep.
const EXPIRE_BATCH: i64 = 100;
const EXPIRE_BATCHES: u32 = 10;
/// How long the row of a process that stopped stays, milliseconds.
const WORKER_ROW: i64 = 3_600_000;

#[derive(Debug, Clone)]
pub struct SweepPolicy {
    /// Unattended runs are cancelled after this; `None`: never (`detach`).
    pub linger: Option<Duration>,
    /// Failures that make a dead letter (3).
    pub failures: i64,
    /// How long frames stay after a run's end.
    pub retention: Duration,
    /// What the model reads later of a turn whose reply never came.
    pub lost_note: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Lease ran out; queued again.
    pub requeued: Vec<RunKey>,
    /// Lease ran out for the last time; ended with RUN_ERROR `abandoned`.
    pub abandoned: Vec<RunKey>,
    /// Asked to stop or ended: unattended too long, or the lease ran out after a cancel.
    pub cancelled: Vec<RunKey>,
    /// Runs whose frames were deleted.
    pub expired: u64,
}

/// A dead letter with its reason (`error`).
pub type DeadRun = RunRecord;

impl Store {
    /// Settles what it finds, each run in a transaction of its own. Any number of processes may sweep at once.
    pub async fn sweep(&self, policy: &SweepPolicy) -> Result<Swept, StorageError> {
        let mut swept = Swept::default();
        let found = self.look(policy).await?;
        for (run, thread) in found.overdue {
            match retry!(self.settle_overdue(policy, &run, &thread))? {
                Settled::Nothing => {}
                Settled::Requeued => swept.requeued.push(run),
                Settled::Abandoned => swept.abandoned.push(run),
                Settled::Cancelled => swept.cancelled.push(run),
            }
        }
        for run in found.unattended {
            if retry!(self.settle_unattended(policy, &run))? {
                swept.cancelled.push(run);
            }
        }
        if found.expired {
            for _ in 0..EXPIRE_BATCHES {
                let expired = retry!(self.expire_frames(policy))?;
                swept.expired += expired;
                if expired < EXPIRE_BATCH.unsigned_abs() {
                    break;
                }
            }
        }
        if found.gone_workers {
            retry!(self.remove_gone_workers())?;
        }
        Ok(swept)
    }

    /// Dead letters, newest first. For the operator's command line: not bound to a principal.
    pub async fn dead_runs(&self, limit: u32) -> Result<Vec<DeadRun>, StorageError> {
        let mut tx = self.read().await?;
        let sql =
            concat!("SELECT ", run_columns!(), " FROM runs WHERE status = 'abandoned' ORDER BY ended_at DESC, key DESC LIMIT $1");
        tx.rows(sql, &[limit.into()]).await?.iter().map(RunRecord::read).collect()
    }

    /// One snapshot, so that a sweep that finds nothing writes nothing.
    async fn look(&self, policy: &SweepPolicy) -> Result<Found, StorageError> {
        let mut tx = self.read().await?;
        let now = tx.now().await?;
        let sql = "SELECT key, thread_key FROM runs WHERE status = 'running' AND lease_until < $1 LIMIT $2";
        let rows = tx.rows(sql, &[now.into(), RUNS_A_SWEEP.into()]).await?;
        let overdue = rows.iter().map(|row| Ok((parsed(row, 0)?, parsed(row, 1)?))).collect::<Result<_, StorageError>>()?;
        let unattended = match policy.linger {
            None => Vec::new(),
            Some(linger) => {
                let sql = "SELECT key FROM runs WHERE unattended_since IS NOT NULL AND cancel IS NULL AND ended_at IS NULL
                    AND unattended_since <= $1 ORDER BY unattended_since LIMIT $2";
                let rows = tx.rows(sql, &[(now - millis(linger)).into(), RUNS_A_SWEEP.into()]).await?;
                rows.iter().map(|row| parsed(row, 0)).collect::<Result<_, _>>()?
            }
        };
        let sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE ended_at IS NOT NULL AND frames_expired = FALSE AND ended_at < $1),
            EXISTS (SELECT 1 FROM workers WHERE lease_until < $2)";
        let row = tx.row(sql, &[(now - millis(policy.retention)).into(), (now - WORKER_ROW).into()]).await?;
        let (expired, gone_workers) = match row {
            Some(row) => (row.get(0)?, row.get(1)?),
            None => (false, false),
        };
        Ok(Found { overdue, unattended, expired, gone_workers })
    }

    async fn settle_overdue(&self, policy: &SweepPolicy, run: &RunKey, thread: &ThreadKey) -> Result<Settled, StorageError> {
        let mut tx = self.begin().await?;
        let now = tx.now().await?;
        messages::lock_thread(&mut tx, thread).await?;
        let sql = "SELECT id, thread_id, failures, cancel FROM runs
            WHERE key = $1 AND status = 'running' AND lease_until < $2 FOR UPDATE";
        let Some(row) = tx.row(sql, &[run.as_str().into(), now.into()]).await? else {
            tx.commit().await?;
            return Ok(Settled::Nothing);
        };
        let (id, thread_id): (RunId, ThreadId) = (parsed(&row, 0)?, parsed(&row, 1)?);
        let failures = row.get::<i64>(2)? + 1;
        let cancel: Option<String> = row.get(3)?;
        let settled = if let Some(reason) = cancel {
            let reason = word(&reason, CancelReason::parse)?;
            let kind = EndKind::Cancelled { reason, run: &id, thread: &thread_id };
            end(&mut tx, Ending { run, kind, now }).await?;
            Settled::Cancelled
        } else if failures >= policy.failures {
            let reason = format!("its worker stopped {failures} times before the reply was complete");
            let kind = EndKind::Abandoned { thread, reason: &reason, note: &policy.lost_note, failures: 1 };
            end(&mut tx, Ending { run, kind, now }).await?;
            Settled::Abandoned
        } else {
            requeue(&mut tx, run).await?;
            Settled::Requeued
        };
        tx.commit().await?;
        Ok(settled)
    }

    async fn settle_unattended(&self, policy: &SweepPolicy, run: &RunKey) -> Result<bool, StorageError> {
        let Some(linger) = policy.linger else { return Ok(false) };
        let mut tx = self.begin().await?;
        let now = tx.now().await?;
        let sql = "SELECT id, thread_id, status FROM runs
            WHERE key = $1 AND ended_at IS NULL AND cancel IS NULL AND unattended_since <= $2 FOR UPDATE";
        let row = tx.row(sql, &[run.as_str().into(), (now - millis(linger)).into()]).await?;
        let settled = row.is_some();
        if let Some(row) = row {
            let (id, thread): (RunId, ThreadId) = (parsed(&row, 0)?, parsed(&row, 1)?);
            let status = word(&row.get::<String>(2)?, RunStatus::parse)?;
            stop(&mut tx, Active { key: run, id: &id, thread: &thread, status }, CancelReason::Unattended).await?;
        }
        tx.commit().await?;
        Ok(settled)
    }

    async fn expire_frames(&self, policy: &SweepPolicy) -> Result<u64, StorageError> {
        let mut tx = self.begin().await?;
        let before = tx.now().await? - millis(policy.retention);
        let sql = "SELECT key FROM runs WHERE ended_at IS NOT NULL AND frames_expired = FALSE AND ended_at < $1
            ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED";
        let rows = tx.rows(sql, &[before.into(), EXPIRE_BATCH.into()]).await?;
        for row in &rows {
            let key: String = row.get(0)?;
            tx.execute("DELETE FROM frames WHERE run_key = $1", &[key.as_str().into()]).await?;
            tx.execute("UPDATE runs SET frames_expired = TRUE WHERE key = $1", &[key.into()]).await?;
        }
        tx.commit().await?;
        Ok(rows.len() as u64)
    }

    async fn remove_gone_workers(&self) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        let before = tx.now().await? - WORKER_ROW;
        tx.execute("DELETE FROM workers WHERE lease_until < $1", &[before.into()]).await?;
        tx.commit().await
    }
}

struct Found {
    overdue: Vec<(RunKey, ThreadKey)>,
    unattended: Vec<RunKey>,
    expired: bool,
    gone_workers: bool,
}

enum Settled {
    /// Somebody else was quicker, or the lease was renewed.
    Nothing,
    Requeued,
    Abandoned,
    Cancelled,
}

/// In its old place, so that the thread's order holds.
async fn requeue(tx: &mut Tx, run: &RunKey) -> Result<(), StorageError> {
    let sql = "UPDATE runs SET status = 'queued', failures = failures + 1, lease_owner = NULL, lease_until = NULL WHERE key = $1";
    tx.execute(sql, &[run.as_str().into()]).await?;
    Ok(())
}
