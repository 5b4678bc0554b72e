//! What one attempt of a run says: events as bytes ready for the wire, shared by all readers in this process.
//!
//! A reader is a place in the log, never memory. What is stored as frames may be dropped from the front once it is
//! more than [`KEPT_BYTES`]; what is not stored yet never is.

mod writer;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use domain::RunId;
use storage::FrameBatch;

pub(crate) use writer::{RunWriter, json};

use crate::{control::RunControl, hub::Post};

/// Bytes of stored events a log keeps for its readers.
const KEPT_BYTES: usize = 256 * 1024;

/// Bytes of events that are not stored yet from which on a flush is due at once.
pub(super) const PRESSING_BYTES: usize = 1024 * 1024;

/// Most events and bytes a reader takes at a time.
const READ_EVENTS: usize = 64;
const READ_BYTES: usize = 64 * 1024;

/// One attempt's events.
pub(crate) struct RunLog {
    pub(crate) attempt: i64,
    pub(crate) parent_run: Option<RunId>,
    control: Arc<RunControl>,
    post: Arc<Post>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Events `first + 1 ..= first + events.len()` of the attempt.
    first: i64,
    events: VecDeque<Bytes>,
    /// The last event that is stored.
    stored: i64,
    stored_bytes: usize,
    pending_bytes: usize,
    /// Readers may see events up to here: all but a sealed end.
    visible: i64,
    end: End,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum End {
    #[default]
    Open,
    /// The last event is the run's terminal one.
    Published,
    /// The attempt is over without an end of the run: its row says what becomes of it.
    Gone,
}

/// What a reader finds after its place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Events from `first` on; `end` if the last of them is the run's terminal event.
    Events { first: i64, json: Vec<Bytes>, end: bool },
    /// Nothing yet: wait for the post.
    Nothing,
    /// What follows was dropped here; the store has it.
    Behind,
    /// Everything was read, the terminal event too.
    Over,
    /// This attempt says nothing more.
    Gone,
}

impl State {
    fn last(&self) -> i64 {
        self.first + len(self.events.len())
    }

    /// The `seq`-th event, if it is still here.
    fn index(&self, seq: i64) -> usize {
        usize::try_from(seq - self.first - 1).unwrap_or(0)
    }
}

fn len(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl RunLog {
    pub(crate) fn new(attempt: i64, parent_run: Option<RunId>, control: Arc<RunControl>, post: Arc<Post>) -> Arc<Self> {
        Arc::new(Self { attempt, parent_run, control, post, state: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What follows the `after`-th event. While the lease may have run out nobody is shown anything.
    pub(crate) fn read(&self, after: i64) -> Found {
        let state = self.lock();
        match state.end {
            End::Gone => return Found::Gone,
            End::Published => {}
            End::Open if !self.control.lease().is_good() => return Found::Nothing,
            End::Open => {}
        }
        // No reader was ever sent more than there is, whatever it says.
        let after = after.min(state.visible);
        if after < state.first {
            return Found::Behind;
        }
        let mut bytes = 0;
        let mut json = Vec::new();
        let visible = usize::try_from(state.visible.saturating_sub(after)).unwrap_or(0);
        for event in state.events.iter().skip(state.index(after + 1)).take(visible.min(READ_EVENTS)) {
            bytes += event.len();
            json.push(event.clone());
            if bytes >= READ_BYTES {
                break;
            }
        }
        let published = state.end == End::Published;
        if json.is_empty() {
            return if published { Found::Over } else { Found::Nothing };
        }
        let end = published && after + len(json.len()) == state.last();
        Found::Events { first: after + 1, json, end }
    }

    /// Events after the `after`-th that are not stored, whoever may see them: what a reader of a lost attempt was
    /// sent and no frame tells.
    pub(crate) fn unstored(&self, after: i64) -> Vec<(i64, Bytes)> {
        let state = self.lock();
        let from = after.max(state.stored).max(state.first);
        (from + 1..=state.visible).zip(state.events.iter().skip(state.index(from + 1)).cloned()).collect()
    }

    /// Adds an event; `shown` to readers at once.
    fn push(&self, json: Bytes, shown: bool) {
        let mut state = self.lock();
        state.pending_bytes += json.len();
        state.events.push_back(json);
        if shown {
            state.visible = state.last();
            drop(state);
            self.post.changed();
        }
    }

    /// What is not stored, as one frame.
    pub(crate) fn pending(&self) -> FrameBatch {
        let state = self.lock();
        let mut body = Vec::with_capacity(state.pending_bytes + state.events.len());
        for event in state.events.iter().skip(state.index(state.stored + 1)) {
            body.extend_from_slice(event);
            body.push(b'\n');
        }
        FrameBatch { first: state.stored + 1, last: state.last(), body }
    }

    /// What is not stored and `terminal` after it, for a turn that can say nothing itself any more.
    pub(crate) fn last_words(&self, terminal: &[u8]) -> FrameBatch {
        let mut batch = self.pending();
        batch.last += 1;
        batch.body.extend_from_slice(terminal);
        batch.body.push(b'\n');
        batch
    }

    fn pending_bytes(&self) -> usize {
        self.lock().pending_bytes
    }

    /// Events up to `last` are stored.
    fn kept(&self, last: i64) {
        let mut state = self.lock();
        let last = last.min(state.last());
        while state.stored < last {
            let bytes = state.events.get(state.index(state.stored + 1)).map_or(0, Bytes::len);
            state.stored += 1;
            state.stored_bytes += bytes;
            state.pending_bytes = state.pending_bytes.saturating_sub(bytes);
        }
        while state.stored_bytes > KEPT_BYTES && state.first < state.stored.min(state.visible) {
            let Some(event) = state.events.pop_front() else { break };
            state.first += 1;
            state.stored_bytes -= event.len();
        }
    }

    fn publish(&self) {
        let mut state = self.lock();
        state.visible = state.last();
        state.end = End::Published;
        drop(state);
        self.post.changed();
    }

    /// Nothing more comes of this attempt.
    pub(crate) fn gone(&self) {
        let mut state = self.lock();
        if state.end == End::Open {
            state.end = End::Gone;
        }
        drop(state);
        self.post.changed();
    }

    /// Wakes the readers, because the lease was renewed.
    pub(crate) fn renewed(&self) {
        self.post.changed();
    }

    /// The attempt has neither ended nor gone.
    pub(crate) fn is_open(&self) -> bool {
        self.lock().end == End::Open
    }

    /// There is, or may be, something to read here.
    pub(crate) fn is_live(&self) -> bool {
        self.lock().end != End::Gone
    }
}

#[cfg(test)]
#[path = "log/tests.rs"]
mod tests;
