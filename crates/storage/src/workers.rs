//! Processes that work the queue.

use std::time::Duration;

use domain::WorkerId;

use crate::{StorageError, Store};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerRecord {
    pub id: WorkerId,
    pub capacity: i64,
    pub started_at: i64,
    pub lease_until: i64,
}

impl Store {
    /// Writes or renews the worker's row.
    pub async fn worker_beat(&self, _worker: &WorkerId, _capacity: u32, _lease: Duration) -> Result<(), StorageError> {
        todo!()
    }
    /// Removes it at shutdown.
    pub async fn worker_gone(&self, _worker: &WorkerId) -> Result<(), StorageError> {
        todo!()
    }
    /// Workers whose lease has not run out.
    pub async fn live_workers(&self) -> Result<Vec<WorkerRecord>, StorageError> {
        todo!()
    }
}
