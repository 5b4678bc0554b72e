//! Keeping a lease, and giving it back.

use std::time::Duration;

use domain::{CancelReason, Decision};

use super::end::{EndKind, Ending, end};
use super::step::fence;
use crate::retry::retry;
use crate::row::{millis, to_json, word};
use crate::{Beat, LeaseError, RunLease, StorageError, Store, messages};

impl Store {
    /// Renews leases and says what became of each, in their order.
    pub async fn renew(&self, leases: &[RunLease], lease: Duration) -> Result<Vec<Beat>, StorageError> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        // Rows are locked in key order, whatever order the caller keeps them in.
        let mut order: Vec<usize> = (0..leases.len()).collect();
        order.sort_by_key(|&index| &leases[index].run);
        retry!(async {
            let mut tx = self.begin().await?;
            let now = tx.now().await?;
            let sql = "UPDATE runs SET lease_until = $3 WHERE key = $1 AND attempt = $2 AND status = 'running'
                RETURNING cancel, unattended_since, remote_reader_until";
            let mut beats: Vec<Beat> = leases.iter().cloned().map(Beat::fenced).collect();
            for &index in &order {
                let held = &leases[index];
                let params = [held.run.as_str().into(), held.attempt.into(), (now + millis(lease)).into()];
                let Some(row) = tx.row(sql, &params).await? else { continue };
                let cancel: Option<String> = row.get(0)?;
                let remote: Option<i64> = row.get(2)?;
                beats[index] = Beat {
                    lease: held.clone(),
                    held: true,
                    cancel: cancel.map(|text| word(&text, CancelReason::parse)).transpose()?,
                    unattended: row.get::<Option<i64>>(1)?.is_some(),
                    remote_reader: remote.is_some_and(|until| until > now),
                };
            }
            tx.commit().await?;
            Ok::<_, StorageError>(beats)
        })
    }

    /// Stores the decision, before the model is asked.
    pub async fn decide_run(&self, lease: &RunLease, decision: &Decision) -> Result<(), LeaseError> {
        let decision = to_json(decision)?;
        retry!(async {
            let mut tx = self.begin().await?;
            let sql = "UPDATE runs SET decision = $3 WHERE key = $1 AND attempt = $2 AND status = 'running'";
            let params = [lease.run.as_str().into(), lease.attempt.into(), decision.as_str().into()];
            if tx.execute(sql, &params).await? == 0 {
                return Err(LeaseError::Fenced);
            }
            tx.commit().await?;
            Ok::<_, LeaseError>(())
        })
    }

    /// Gives the run back at shutdown: queued again in its old place, no failure counted.
    pub async fn hand_back(&self, lease: &RunLease) -> Result<(), LeaseError> {
        retry!(async {
            let mut tx = self.begin().await?;
            let sql = "UPDATE runs SET status = 'queued', lease_owner = NULL, lease_until = NULL
                WHERE key = $1 AND attempt = $2 AND status = 'running'";
            if tx.execute(sql, &[lease.run.as_str().into(), lease.attempt.into()]).await? == 0 {
                return Err(LeaseError::Fenced);
            }
            tx.commit().await?;
            Ok::<_, LeaseError>(())
        })
    }

    /// Dead-letters a run this build cannot read, with RUN_ERROR `abandoned` as its last frame. `note`: what the model
    /// reads of the turn later.
    pub async fn abandon(&self, lease: &RunLease, reason: &str, note: &str) -> Result<(), LeaseError> {
        retry!(async {
            let mut tx = self.begin().await?;
            let now = tx.now().await?;
            messages::lock_thread(&mut tx, &lease.thread).await?;
            fence(&mut tx, lease).await?;
            let kind = EndKind::Abandoned { thread: &lease.thread, reason, note, failures: 0 };
            end(&mut tx, Ending { run: &lease.run, kind, now }).await?;
            tx.commit().await?;
            Ok::<_, LeaseError>(())
        })
    }
}

impl Beat {
    fn fenced(lease: RunLease) -> Self {
        Self { lease, held: false, cancel: None, unattended: false, remote_reader: false }
    }
}
