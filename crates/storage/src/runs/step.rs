//! Steps are checkpoints: what a step wrote commits together with the events that show it.

use domain::crash;

use super::{ledger, settle};
use crate::retry::retry;
use crate::{Finish, LeaseError, NewInterrupt, RunLease, StepCommit, StorageError, Store, Tx, frames, interrupts, messages};

impl Store {
    /// Ends a step. Crash point `step.commit` (before the commit). A step that is committed already is answered
    /// without writing again.
    pub async fn commit_step(&self, lease: &RunLease, step: &StepCommit) -> Result<(), LeaseError> {
        retry!(self.commit_step_once(lease, step))
    }

    async fn commit_step_once(&self, lease: &RunLease, step: &StepCommit) -> Result<(), LeaseError> {
        let mut tx = self.begin().await?;
        let now = tx.now().await?;
        let seq = reserve(&mut tx, lease, step, now).await?;
        let sql = "UPDATE runs SET steps = $3 WHERE key = $1 AND attempt = $2 AND status = 'running' AND steps < $3
            RETURNING turn, superseded_by";
        let row = tx.row(sql, &[lease.run.as_str().into(), lease.attempt.into(), step.step.into()]).await?;
        let Some(row) = row else {
            drop(tx);
            let mut tx = self.begin().await?;
            fence(&mut tx, lease).await?;
            tx.commit().await?;
            return Ok(());
        };
        let run = Fenced { turn: row.get(0)?, superseded_by: row.get(1)? };
        write(&mut tx, lease, step, Written { run, seq, now }).await?;
        crash::point("step.commit");
        tx.commit().await?;
        Ok(())
    }

    /// Ends the run. Crash points `finish.before_commit`, `finish.after_commit`.
    pub async fn finish(&self, lease: &RunLease, finish: &Finish) -> Result<(), LeaseError> {
        retry!(self.finish_once(lease, finish))
    }

    async fn finish_once(&self, lease: &RunLease, finish: &Finish) -> Result<(), LeaseError> {
        let mut tx = self.begin().await?;
        let now = tx.now().await?;
        if finish.step.messages.is_empty() && !finish.interrupts.is_empty() {
            messages::lock_thread(&mut tx, &lease.thread).await?;
        }
        let seq = reserve(&mut tx, lease, &finish.step, now).await?;
        // Who was told to stop waits for nothing.
        let sql = "UPDATE runs SET status = CASE WHEN $9 = TRUE AND cancel IS NOT NULL THEN 'cancelled' ELSE $3 END,
                error_code = $4, error_message = $5, model = COALESCE($6, model),
                steps = CASE WHEN steps < $7 THEN $7 ELSE steps END, ended_at = $8, lease_owner = NULL, lease_until = NULL
            WHERE key = $1 AND attempt = $2 AND status = 'running' RETURNING turn, superseded_by, cancel";
        let (code, message) = match &finish.error {
            Some((code, message)) => (Some(code.as_str()), Some(message.as_str())),
            None => (None, None),
        };
        let params = [
            lease.run.as_str().into(),
            lease.attempt.into(),
            finish.status.as_str().into(),
            code.into(),
            message.into(),
            finish.model.as_deref().into(),
            finish.step.step.into(),
            now.into(),
            (!finish.interrupts.is_empty()).into(),
        ];
        let row = tx.row(sql, &params).await?.ok_or(LeaseError::Fenced)?;
        let stopped = row.get::<Option<String>>(2)?.is_some();
        let run = Fenced { turn: row.get(0)?, superseded_by: row.get(1)? };
        let superseded = run.superseded_by.is_some();
        write(&mut tx, lease, &finish.step, Written { run, seq, now }).await?;
        interrupts::insert(&mut tx, &lease.run, &finish.interrupts, superseded, now).await?;
        if stopped && !superseded {
            cut_off(&mut tx, lease, &finish.interrupts, now).await?;
        }
        crash::point("finish.before_commit");
        tx.commit().await?;
        crash::point("finish.after_commit");
        Ok(())
    }
}

/// What a run-scoped write needs of the run's row.
struct Fenced {
    turn: i64,
    superseded_by: Option<String>,
}

struct Written {
    run: Fenced,
    /// First place in the thread, if there are messages.
    seq: i64,
    now: i64,
}

/// Locks the run's row; it is the lease's until the transaction ends, or [`LeaseError::Fenced`].
pub(crate) async fn fence(tx: &mut Tx, lease: &RunLease) -> Result<(), LeaseError> {
    let sql = "SELECT key FROM runs WHERE key = $1 AND attempt = $2 AND status = 'running' FOR UPDATE";
    let row = tx.row(sql, &[lease.run.as_str().into(), lease.attempt.into()]).await?;
    row.map(drop).ok_or(LeaseError::Fenced)
}

async fn reserve(tx: &mut Tx, lease: &RunLease, step: &StepCommit, now: i64) -> Result<i64, LeaseError> {
    if step.messages.is_empty() {
        return Ok(0);
    }
    messages::reserve(tx, &lease.thread, step.messages.len(), now).await?.ok_or(LeaseError::Fenced)
}

/// The run was told to stop while it came to its end: nobody is to answer.
async fn cut_off(tx: &mut Tx, lease: &RunLease, interrupts: &[NewInterrupt], now: i64) -> Result<(), StorageError> {
    for interrupt in interrupts {
        if let Some(waiting) = interrupts::find(tx, &lease.thread, &interrupt.call.id).await? {
            interrupts::settle(tx, &lease.thread, settle::cut_off(&waiting, &interrupt.cut_off), now).await?;
        }
    }
    Ok(())
}

async fn write(tx: &mut Tx, lease: &RunLease, step: &StepCommit, written: Written) -> Result<(), LeaseError> {
    let place = messages::Place {
        thread: &lease.thread,
        seq: written.seq,
        turn: written.run.turn,
        run: &lease.run,
        step: step.step,
        superseded_by: written.run.superseded_by,
        now: written.now,
    };
    messages::insert(tx, &place, &step.messages).await?;
    ledger::insert(tx, lease, &step.calls, written.now).await?;
    frames::commit(tx, &lease.run, lease.attempt).await?;
    frames::insert(tx, &lease.run, lease.attempt, &step.frames, true).await?;
    Ok(())
}
