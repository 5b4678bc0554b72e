//! That another process changed something: counted, so that one reader misses nothing between two waits.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

pub(crate) struct Changes {
    count: watch::Sender<u64>,
    seen: AtomicU64,
}

impl Changes {
    pub(crate) fn new() -> Self {
        Self { count: watch::Sender::new(0), seen: AtomicU64::new(0) }
    }

    pub(crate) fn mark(&self) {
        self.count.send_modify(|count| *count += 1);
    }

    /// Returns at once if something was marked since the last return, else at the next mark.
    pub(crate) async fn next(&self) {
        let mut receiver = self.count.subscribe();
        let count = *receiver.borrow_and_update();
        if self.seen.swap(count, Ordering::Relaxed) == count && receiver.changed().await.is_ok() {
            self.seen.store(*receiver.borrow(), Ordering::Relaxed);
        }
    }
}
