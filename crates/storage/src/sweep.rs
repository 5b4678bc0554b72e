//! What the sweeper (every second) finds: leases that ran out, runs nobody reads, frames past their time.

use std::time::Duration;

use domain::RunKey;

use crate::{RunRecord, StorageError, Store};

#[derive(Debug, Clone)]
pub struct SweepPolicy {
    /// Unattended runs are cancelled after this; `None`: never (`detach`).
    pub linger: Option<Duration>,
    /// Failures that make a dead letter (3).
    pub failures: i64,
    /// How long frames stay after a run's end.
    pub retention: Duration,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Lease ran out; queued again.
    pub requeued: Vec<RunKey>,
    /// Lease ran out for the last time; ended with RUN_ERROR `abandoned`.
    pub abandoned: Vec<RunKey>,
    /// Unattended too long: asked to stop, or ended if waiting.
    pub cancelled: Vec<RunKey>,
    /// Runs whose frames were deleted.
    pub expired: u64,
}

/// A dead letter with its reason (`error`).
pub type DeadRun = RunRecord;

impl Store {
    pub async fn sweep(&self, _policy: &SweepPolicy) -> Result<Swept, StorageError> {
        todo!()
    }
    /// Dead letters, newest first. For the operator's command line: not bound to a principal.
    pub async fn dead_runs(&self, _limit: u32) -> Result<Vec<DeadRun>, StorageError> {
        todo!()
    }
}
