//! `[streams]`: how long a run's events can be read again.

use std::time::Duration;

use super::reader::Reader;

#[derive(Debug, Clone)]
pub struct Streams {
    /// Frames stay so long after a run's end (600 s).
    pub retention: Duration,
}

impl Streams {
    pub(super) fn read(from: &mut Reader<'_>) -> Self {
        Self { retention: Duration::from_secs(from.integer("retention_seconds", 0..=2_592_000).unwrap_or(600)) }
    }
}
