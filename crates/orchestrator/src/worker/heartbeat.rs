//! Keeping leases: every five seconds, and soon after a hint that another process changed something.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::pool::Pool;

const PERIOD: Duration = Duration::from_secs(5);

/// However many hints come, leases are renewed no more often than this.
const SOONEST: Duration = Duration::from_secs(1);

/// A database that hangs is asked again after this.
const PATIENCE: Duration = Duration::from_secs(10);

/// Beats until `stop`.
pub(super) async fn keep(pool: Arc<Pool>, stop: CancellationToken) {
    let mut last = Instant::now();
    let mut last_row = last;
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = tokio::time::sleep_until(last + PERIOD) => {}
            () = hinted(&pool, last) => {}
        }
        last = Instant::now();
        let row = last.duration_since(last_row) >= PERIOD;
        if row {
            last_row = last;
        }
        if tokio::time::timeout(PATIENCE, pool.beat(row)).await.is_err() {
            tracing::warn!("the database did not answer in time; leases were not renewed");
        }
    }
}

async fn hinted(pool: &Pool, last: Instant) {
    pool.inner.beat.notified().await;
    tokio::time::sleep_until(last + SOONEST).await;
}
