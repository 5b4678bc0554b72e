//! Frames: the events of a run stored together; snapshot and resumable stream in one.

use domain::{Offset, RunKey};

use crate::{LeaseError, RunLease, StorageError, Store};

/// Events to append: one JSON object a line, LF after each, `first..=last` their places in the attempt (from 1).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrameBatch {
    pub first: i64,
    pub last: i64,
    pub body: Vec<u8>,
}

impl FrameBatch {
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }
}

/// A stored frame. `committed`: the step it belongs to has ended, it stands even if its attempt is superseded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub attempt: i64,
    pub first: i64,
    pub last: i64,
    pub committed: bool,
    pub body: Vec<u8>,
}

impl Store {
    /// Appends under the fence, uncommitted until the step ends ([`Store::commit_step`], [`Store::finish`]).
    pub async fn append_frames(&self, _lease: &RunLease, _frames: &FrameBatch) -> Result<(), LeaseError> {
        todo!()
    }

    /// Frames holding events after `after`, in order, about `max_bytes` at a time (at least one frame). With
    /// `standing` only those that stand: of attempts before the run's current one, committed frames.
    pub async fn frames(
        &self,
        _run: &RunKey,
        _after: Offset,
        _standing: bool,
        _max_bytes: usize,
    ) -> Result<Vec<Frame>, StorageError> {
        todo!()
    }
}
