//! Runs as people and readers see them.

use std::time::Duration;

use domain::{CancelReason, Principal, RunId, RunKey, RunStatus};

use super::cancel::{Active, stop};
use super::record::run_columns;
use crate::retry::retry;
use crate::row::{count, millis, parsed, word};
use crate::{ModelCall, RunRecord, StorageError, Store, Value};

impl Store {
    /// A person's own run.
    pub async fn run(&self, principal: &Principal, run: &RunId) -> Result<Option<RunRecord>, StorageError> {
        let mut tx = self.read().await?;
        let sql = concat!("SELECT ", run_columns!(), " FROM runs WHERE org_id = $1 AND user_id = $2 AND id = $3");
        let params = [principal.org.as_str().into(), principal.user.as_str().into(), run.as_str().into()];
        tx.row(sql, &params).await?.as_ref().map(RunRecord::read).transpose()
    }

    /// The row of a run whose key is known, for the worker and the readers that hold it.
    pub async fn run_by_key(&self, run: &RunKey) -> Result<Option<RunRecord>, StorageError> {
        let mut tx = self.read().await?;
        let sql = concat!("SELECT ", run_columns!(), " FROM runs WHERE key = $1");
        tx.row(sql, &[run.as_str().into()]).await?.as_ref().map(RunRecord::read).transpose()
    }

    /// The last reader's socket closed in this process: true if the run's row says so now. An ended run stays as it is, and
    /// one that goes on from another is exempt: whoever sent its answers may leave. If the same person's next message
    /// already waits in the thread (it was quicker than the closed socket), the run is asked to stop.
    pub async fn unattend(&self, run: &RunKey) -> Result<bool, StorageError> {
        retry!(async {
            let mut tx = self.begin().await?;
            let now = tx.now().await?;
            let sql =
                "SELECT id, thread_id, status FROM runs WHERE key = $1 AND ended_at IS NULL AND continues IS NULL FOR UPDATE";
            let Some(row) = tx.row(sql, &[run.as_str().into()]).await? else { return Ok(false) };
            // A statement of its own: what the first one saw may be older than the message it waited for.
            let sql = "SELECT q.key FROM runs r JOIN runs q ON q.thread_key = r.thread_key AND q.user_id = r.user_id
                    AND q.status = 'queued' AND q.position > r.position
                WHERE r.key = $1 LIMIT 1";
            let next = tx.row(sql, &[run.as_str().into()]).await?;
            let sql = "UPDATE runs SET unattended_since = COALESCE(unattended_since, $2) WHERE key = $1";
            tx.execute(sql, &[run.as_str().into(), now.into()]).await?;
            if next.is_some() {
                let (id, thread) = (parsed(&row, 0)?, parsed(&row, 1)?);
                let status = word(&row.get::<String>(2)?, RunStatus::parse)?;
                stop(&mut tx, Active { key: run, id: &id, thread: &thread, status }, CancelReason::Replaced).await?;
            }
            tx.commit().await?;
            Ok::<_, StorageError>(true)
        })
    }

    /// Somebody reads (again); `remote`: from a process that does not run it, valid for `Duration`.
    pub async fn attend(&self, run: &RunKey, remote: Option<Duration>) -> Result<(), StorageError> {
        retry!(async {
            let mut tx = self.begin().await?;
            let until: Value = match remote {
                Some(duration) => (tx.now().await? + millis(duration)).into(),
                None => Value::Int(None),
            };
            let sql = "UPDATE runs SET unattended_since = NULL, remote_reader_until = COALESCE($2, remote_reader_until)
                WHERE key = $1 AND ended_at IS NULL";
            tx.execute(sql, &[run.as_str().into(), until]).await?;
            tx.commit().await
        })
    }

    /// How many runs are ahead of a queued one; `None` once it is not queued.
    pub async fn queue_position(&self, run: &RunKey) -> Result<Option<u64>, StorageError> {
        let mut tx = self.read().await?;
        let sql = "SELECT COUNT(*) FROM runs r JOIN runs q
              ON q.status = 'queued' AND q.position <= r.position AND (q.position < r.position OR q.key <= r.key)
            WHERE r.key = $1 AND r.status = 'queued'";
        let row = tx.row(sql, &[run.as_str().into()]).await?;
        // A queued run counts itself; one that is not queued matches nothing.
        let ahead = row.map(|row| row.get::<i64>(0)).transpose()?.unwrap_or(0) - 1;
        if ahead < 0 { Ok(None) } else { count(ahead).map(Some) }
    }

    /// Ledger rows of a run.
    pub async fn model_calls(&self, run: &RunKey) -> Result<Vec<ModelCall>, StorageError> {
        let mut tx = self.read().await?;
        super::ledger(&mut tx, run).await
    }
}
