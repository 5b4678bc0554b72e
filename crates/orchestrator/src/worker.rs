//! Working the queue.

use std::sync::Arc;

use domain::ThreadKey;
use tokio_util::sync::CancellationToken;

use crate::orchestrator::Inner;

/// Which runs a pool of workers takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkScope {
    /// Any, at most so many at once. The pool has a row in `workers`.
    All { concurrency: u32 },
    /// One at a time, of one thread only; nobody else counts on this pool.
    Thread(ThreadKey),
}

pub(crate) async fn work(_inner: Arc<Inner>, _scope: WorkScope, stop: CancellationToken) {
    stop.cancelled().await;
}
