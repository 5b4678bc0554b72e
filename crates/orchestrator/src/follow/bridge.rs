//! The bridge: what leads a reader from an attempt that was superseded to the next.
//!
//! It hangs on the reader's place in the old attempt alone, never on where it leads, and is made anew from what is
//! stored. So each of its events is a place of its own (`<attempt>.<seq>.<n>`, the n-th after `<attempt>.<seq>`), and
//! whoever comes back after one of them, in any process, is sent the rest.

use std::sync::Arc;

use domain::{Event, Offset, RunKey};
use storage::{StorageError, Store};

use super::{frame::lines, open::Open, past::Past};
use crate::log::RunLog;

/// Bytes of frames read at a time.
const PAGE: usize = 64 * 1024;

/// A reader's place and what it has open there.
pub(super) struct Place<'a> {
    pub(super) offset: Offset,
    pub(super) open: &'a Open,
    /// The log of that attempt, if it ran here.
    pub(super) log: Option<&'a Arc<RunLog>>,
}

/// The whole bridge that leads away from `place`.
pub(super) async fn events(store: &Store, run: &RunKey, place: Place<'_>) -> Result<Vec<Event>, StorageError> {
    let sent = place.offset;
    let mut past = Past::new(sent.seq);
    let mut after = Offset { seq: 0, ..sent };
    while after.seq < sent.seq {
        let mut frames = Box::pin(store.frames(run, after, false, PAGE)).await?;
        frames.retain(|frame| frame.attempt == sent.attempt);
        let Some(last) = frames.last() else { break };
        after.seq = last.last;
        for frame in &frames {
            for (seq, line) in lines(frame) {
                past.event(seq, &line);
            }
            if frame.committed {
                past.committed(frame.last);
            }
        }
    }
    if let Some(log) = place.log.filter(|log| log.attempt == sent.attempt) {
        for (seq, line) in log.unstored(after.seq) {
            past.event(seq, &line);
        }
    }
    if !past.is_whole() {
        past.unseen(place.open);
    }
    Ok(past.bridge())
}
