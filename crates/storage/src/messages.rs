//! The transcript.

use domain::{Message, RunKey};

use crate::{LeaseError, RunLease, Store};

#[derive(Debug, Clone, PartialEq)]
pub struct StoredMessage {
    pub message: Message,
    /// Place in the thread, in order of storing.
    pub seq: i64,
    /// `seq` of the user row of the turn it belongs to; the transcript's order is (`turn`, `seq`).
    pub turn: i64,
    pub run: Option<RunKey>,
    pub created_at: i64,
}

/// What the model may see of a thread, oldest first, ending with the rows of the run itself.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    pub messages: Vec<StoredMessage>,
    /// Older whole turns were left out.
    pub truncated: bool,
}

impl Store {
    /// Rows of the run's turn and the turns before it that are not superseded: whole turns from the newest, at most
    /// `max_messages` rows and `max_bytes` bytes of stored bodies (the run's own turn is always whole).
    pub async fn history(&self, _lease: &RunLease, _max_messages: usize, _max_bytes: usize) -> Result<History, LeaseError> {
        todo!()
    }
}
