//! `[worker]`: how much of the queue a process works.

use std::time::Duration;

use super::reader::Reader;

#[derive(Debug, Clone)]
pub struct Worker {
    /// Runs at once in this process (64); 0: none.
    pub concurrency: u32,
    /// How long runs may finish after SIGTERM before they are handed back (25 s).
    pub grace: Duration,
}

impl Worker {
    pub(super) fn read(from: &mut Reader<'_>) -> Self {
        Self {
            concurrency: from.integer("concurrency", 0..=100_000).unwrap_or(64),
            grace: Duration::from_secs(from.integer("grace_seconds", 0..=3_600).unwrap_or(25)),
        }
    }
}
