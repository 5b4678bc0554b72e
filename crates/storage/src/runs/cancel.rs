//! Asking a run to stop.

use domain::{CancelReason, Principal, RunId, RunKey, RunStatus, ThreadId, ThreadKey};

use super::end::{EndKind, Ending, end};
use super::settle;
use crate::retry::retry;
use crate::row::{optional, parsed, word};
use crate::{CancelOutcome, StorageError, Store, Tx, interrupts, messages};

impl Store {
    /// Asks a run to stop; a queued one is ended at once, with its terminal event. One that ended waiting for a client or
    /// a person waits no more: `cut_off` is what the model reads of each call.
    pub async fn cancel(
        &self,
        principal: &Principal,
        run: &RunId,
        reason: CancelReason,
        cut_off: &str,
    ) -> Result<CancelOutcome, StorageError> {
        retry!(async {
            let mut tx = self.begin().await?;
            let sql = "SELECT key, thread_id, status FROM runs WHERE org_id = $1 AND user_id = $2 AND id = $3 FOR UPDATE";
            let params = [principal.org.as_str().into(), principal.user.as_str().into(), run.as_str().into()];
            let outcome = match tx.row(sql, &params).await? {
                None => CancelOutcome::Unknown,
                Some(row) => {
                    let key: RunKey = parsed(&row, 0)?;
                    let thread: ThreadId = parsed(&row, 1)?;
                    let status = word(&row.get::<String>(2)?, RunStatus::parse)?;
                    if status == RunStatus::Interrupted {
                        drop(tx);
                        return self.stop_waiting(&key, reason, cut_off).await;
                    }
                    stop(&mut tx, Active { key: &key, id: run, thread: &thread, status }, reason).await?
                }
            };
            tx.commit().await?;
            Ok::<_, StorageError>(outcome)
        })
    }

    /// A run that ended waiting, or took a part of what another waits for: its thread is locked first, since results go
    /// into the transcript.
    async fn stop_waiting(&self, run: &RunKey, reason: CancelReason, cut_off: &str) -> Result<CancelOutcome, StorageError> {
        let mut tx = self.begin().await?;
        let now = tx.now().await?;
        let row = tx.row("SELECT thread_key, continues FROM runs WHERE key = $1", &[run.as_str().into()]).await?;
        let Some(row) = row else { return Ok(CancelOutcome::Unknown) };
        let (thread, before): (ThreadKey, Option<RunKey>) = (parsed(&row, 0)?, optional(&row, 1)?);
        messages::lock_thread(&mut tx, &thread).await?;
        // Somebody else may have stopped it, or deleted the thread, until now.
        let row = tx.row("SELECT status FROM runs WHERE key = $1 FOR UPDATE", &[run.as_str().into()]).await?;
        let Some(row) = row else { return Ok(CancelOutcome::Unknown) };
        let status = word(&row.get::<String>(0)?, RunStatus::parse)?;
        let mut waiting = interrupts::open(&mut tx, &thread).await?;
        waiting.retain(|one| one.run == *run || before.as_ref() == Some(&one.run));
        if status != RunStatus::Interrupted || waiting.is_empty() {
            tx.commit().await?;
            return Ok(CancelOutcome::Ended(status));
        }
        for one in &waiting {
            interrupts::settle(&mut tx, &thread, settle::cut_off(one, cut_off), now).await?;
        }
        let waits = before.filter(|before| waiting.iter().any(|one| one.run == *before));
        for run in [Some(run), waits.as_ref()].into_iter().flatten() {
            let sql = "UPDATE runs SET status = $2, cancel = $3 WHERE key = $1 AND status = 'interrupted'";
            tx.execute(sql, &[run.as_str().into(), RunStatus::Cancelled.as_str().into(), reason.as_str().into()]).await?;
        }
        tx.commit().await?;
        Ok(CancelOutcome::Ended(RunStatus::Cancelled))
    }
}

/// A run whose row is locked.
pub(crate) struct Active<'a> {
    pub(crate) key: &'a RunKey,
    pub(crate) id: &'a RunId,
    pub(crate) thread: &'a ThreadId,
    pub(crate) status: RunStatus,
}

/// The first reason stays.
pub(crate) async fn stop(tx: &mut Tx, run: Active<'_>, reason: CancelReason) -> Result<CancelOutcome, StorageError> {
    match run.status {
        RunStatus::Queued => {
            let now = tx.now().await?;
            let kind = EndKind::Cancelled { reason, run: run.id, thread: run.thread };
            end(tx, Ending { run: run.key, kind, now }).await?;
            Ok(CancelOutcome::Ended(RunStatus::Cancelled))
        }
        RunStatus::Running => {
            let sql = "UPDATE runs SET cancel = $2 WHERE key = $1 AND cancel IS NULL";
            tx.execute(sql, &[run.key.as_str().into(), reason.as_str().into()]).await?;
            Ok(CancelOutcome::Requested)
        }
        ended => Ok(CancelOutcome::Ended(ended)),
    }
}
