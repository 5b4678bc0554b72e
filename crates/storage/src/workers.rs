//! Processes that work the queue.

use std::time::Duration;

use domain::WorkerId;

use crate::retry::retry;
use crate::row::{millis, parsed};
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
    pub async fn worker_beat(&self, worker: &WorkerId, capacity: u32, lease: Duration) -> Result<(), StorageError> {
        retry!(async {
            let mut tx = self.begin().await?;
            let now = tx.now().await?;
            let sql = "INSERT INTO workers (id, capacity, started_at, lease_until) VALUES ($1, $2, $3, $4)
                ON CONFLICT (id) DO UPDATE SET capacity = excluded.capacity, lease_until = excluded.lease_until";
            let until = now + millis(lease);
            tx.execute(sql, &[worker.as_str().into(), capacity.into(), now.into(), until.into()]).await?;
            tx.commit().await
        })
    }

    /// Removes it at shutdown.
    pub async fn worker_gone(&self, worker: &WorkerId) -> Result<(), StorageError> {
        retry!(async {
            let mut tx = self.begin().await?;
            tx.execute("DELETE FROM workers WHERE id = $1", &[worker.as_str().into()]).await?;
            tx.commit().await
        })
    }

    /// Workers whose lease has not run out.
    pub async fn live_workers(&self) -> Result<Vec<WorkerRecord>, StorageError> {
        let mut tx = self.read().await?;
        let now = tx.now().await?;
        let sql = "SELECT id, capacity, started_at, lease_until FROM workers WHERE lease_until > $1 ORDER BY started_at, id";
        let rows = tx.rows(sql, &[now.into()]).await?;
        rows.iter()
            .map(|row| {
                Ok(WorkerRecord { id: parsed(row, 0)?, capacity: row.get(1)?, started_at: row.get(2)?, lease_until: row.get(3)? })
            })
            .collect()
    }
}
