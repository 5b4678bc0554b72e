//! Asking a run to stop.

use domain::{CancelReason, Principal, RunId, RunKey, RunStatus, ThreadId};

use super::end::{EndKind, Ending, end};
use crate::retry::retry;
use crate::row::{parsed, word};
use crate::{CancelOutcome, StorageError, Store, Tx};

impl Store {
    /// Asks a run to stop; a waiting one is ended at once, with its terminal event.
    pub async fn cancel(&self, principal: &Principal, run: &RunId, reason: CancelReason) -> Result<CancelOutcome, StorageError> {
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
                    stop(&mut tx, Active { key: &key, id: run, thread: &thread, status }, reason).await?
                }
            };
            tx.commit().await?;
            Ok::<_, StorageError>(outcome)
        })
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
