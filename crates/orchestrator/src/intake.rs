//! A message becomes a stored turn, or a refusal before anything is stored.

use std::{sync::Arc, time::Duration};

use domain::{Code, MessageId, Part, Principal, RunId, RunInput, RunKey, Signal, ThreadId, ThreadKey};
use storage::{Accept, Accepted, NewMessage, Refusal, RunRef, StorageError};

use crate::{hub::lock, orchestrator::Inner, worker};

/// Unicode scalar values of grounding over all sources.
const GROUNDING_CHARS: usize = 4_000;

/// When to ask again what only an operator or a starting worker can mend.
const SOON: Duration = Duration::from_secs(5);
const LATER: Duration = Duration::from_secs(60);

/// One turn as a channel hands it over.
#[derive(Debug, Clone)]
pub struct Submission {
    pub thread: ThreadId,
    pub run: RunId,
    pub message: NewMessage,
    /// The user row this message takes the place of.
    pub replaces: Option<MessageId>,
    /// The run this one continues, as the client says.
    pub parent_run: Option<RunId>,
    pub input: RunInput,
    /// Refuse with `no-worker` if nobody works the queue. The command line brings its own worker.
    pub need_worker: bool,
}

/// A turn that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    pub run: RunRef,
    /// The run was there already.
    pub joined: bool,
}

/// Nothing was stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct SubmitError {
    pub code: Code,
    /// For a person: what is wrong and what to do next.
    pub detail: String,
    pub retry_after: Option<Duration>,
}

impl SubmitError {
    fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), retry_after: None }
    }

    fn after(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }
}

pub(crate) async fn submit(_inner: &Arc<Inner>, _principal: &Principal, _submission: Submission) -> Result<Ticket, SubmitError> {
    Err(SubmitError::new(Code::Internal, "not there yet"))
}
