//! A message becomes a stored turn, or a refusal before anything is stored.

use std::{sync::Arc, time::Duration};

use domain::{Code, Limits, MessageId, Part, Principal, RunId, RunInput, RunKey, Signal, ThreadId, ThreadKey};
use storage::{Accept, Accepted, NewMessage, Refusal, RunRef, StorageError};

use crate::{Settings, orchestrator::Inner};

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

/// Checks that need no database, then one transaction, then hints.
pub(crate) async fn submit(inner: &Arc<Inner>, principal: &Principal, submission: Submission) -> Result<Ticket, SubmitError> {
    let parts = &inner.parts;
    let Settings { limits, when_busy, .. } = &parts.settings;
    if parts.model.is_none() {
        return Err(model_unconfigured());
    }
    check(&submission, limits)?;
    let input = known(submission.input, principal);
    let accept = Accept {
        principal,
        thread: &submission.thread,
        run: &submission.run,
        thread_key: key(&parts.ids.ulid(), ThreadKey::parse)?,
        run_key: key(&parts.ids.ulid(), RunKey::parse)?,
        message: &submission.message,
        replaces: submission.replaces.as_ref(),
        parent_run: submission.parent_run.as_ref(),
        input: &input,
        limits,
        when_busy: *when_busy,
        need_worker: submission.need_worker,
    };
    match Box::pin(parts.store.accept(accept)).await {
        Ok(Accepted::Fresh(run)) => {
            // Its coming may have told another run of the thread to stop.
            for local in inner.hub.locals_of(&run.thread) {
                inner.look_at(&local);
            }
            inner.tell(Signal::Ready);
            Ok(Ticket { run, joined: false })
        }
        Ok(Accepted::Joined(run)) => Ok(Ticket { run, joined: true }),
        Ok(Accepted::Refused(refusal)) => Err(refused(refusal)),
        Err(error) => Err(failed(&error)),
    }
}

/// Most texts and attachments of one message.
const MAX_PARTS: usize = 100;

fn check(submission: &Submission, limits: &Limits) -> Result<(), SubmitError> {
    let parts = &submission.message.parts;
    let bytes: usize = parts.iter().map(|part| if let Part::Text { text } = part { text.len() } else { 0 }).sum();
    if bytes > limits.input_bytes {
        let most = limits.input_bytes;
        return Err(SubmitError::new(
            Code::InputTooLarge,
            format!("the message has {bytes} bytes of text, at most {most} are taken; shorten it or send it in parts"),
        ));
    }
    if parts.len() > MAX_PARTS {
        let count = parts.len();
        return Err(SubmitError::new(
            Code::InputTooLarge,
            format!("the message has {count} parts, at most {MAX_PARTS} are taken; send it in several messages"),
        ));
    }
    let said = |part: &Part| if let Part::Text { text } = part { !text.trim().is_empty() } else { true };
    if !parts.iter().any(said) {
        return Err(SubmitError::new(Code::InvalidInput, "the message is empty; write something or attach a file"));
    }
    let tools = &submission.input.client_tools;
    if tools.len() > limits.tools {
        let (count, most) = (tools.len(), limits.tools);
        return Err(SubmitError::new(
            Code::InvalidInput,
            format!("the request declares {count} client tools, at most {most} are taken; declare fewer"),
        ));
    }
    let schemas: usize = tools.iter().map(|tool| tool.name.len() + tool.description.len() + json_bytes(&tool.parameters)).sum();
    if schemas > limits.tool_schema_bytes {
        let most = limits.tool_schema_bytes;
        return Err(SubmitError::new(
            Code::InputTooLarge,
            format!(
                "the names, descriptions and schemas of the client tools have {schemas} bytes, at most {most} are taken; declare fewer or smaller tools"
            ),
        ));
    }
    Ok(())
}

/// Length of a value as JSON, without building the text.
fn json_bytes(value: &serde_json::Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // A `Value` has string keys and counting never fails.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// The input as it is stored: grounding within its bound, the person's particulars from the token.
fn known(mut input: RunInput, principal: &Principal) -> RunInput {
    let mut left = GROUNDING_CHARS;
    input.grounding.retain_mut(|text| {
        let cut = text.char_indices().nth(left).map(|(at, _)| at);
        match cut {
            Some(at) => {
                text.truncate(at);
                left = 0;
            }
            None => left -= text.chars().count(),
        }
        !text.is_empty()
    });
    input.name = input.name.or_else(|| principal.name.clone());
    input.locale = input.locale.or_else(|| principal.locale.clone());
    input.zone = input.zone.or_else(|| principal.zone.clone());
    input
}

fn key<T>(ulid: &str, parse: impl Fn(String) -> Result<T, domain::IdError>) -> Result<T, SubmitError> {
    parse(ulid.to_owned()).map_err(|error| {
        tracing::error!(%error, "the source of ids gave no id");
        SubmitError::new(Code::Internal, "the message could not be stored; try again, and tell the operator if it happens again")
    })
}

fn model_unconfigured() -> SubmitError {
    SubmitError::new(
        Code::ModelUnconfigured,
        "no model is configured; set AI_PROVIDER and AI_MODEL (and the provider's key), or model.base_url and model.name in \
         frontdesk.toml, and start again",
    )
    .after(LATER)
}

fn refused(refusal: Refusal) -> SubmitError {
    match refusal {
        Refusal::NotAMember => {
            SubmitError::new(Code::NotAMember, "you are no member of this organization; ask its administrator to add you")
        }
        Refusal::RunIdInUse => SubmitError::new(
            Code::RunIdInUse,
            "this run id belongs to another message or thread; send the message with a new run id",
        ),
        Refusal::ThreadBusy => SubmitError::new(
            Code::ThreadBusy,
            "the thread is still answering an earlier message; wait for its end or stop it, then send again",
        ),
        Refusal::RateLimited { retry_after } => SubmitError::new(
            Code::RateLimited,
            format!("too many messages in a short time; send again in {} s", seconds(retry_after)),
        )
        .after(retry_after),
        Refusal::Overloaded { retry_after } => {
            SubmitError::new(Code::Overloaded, format!("too many messages are waiting; send again in {} s", seconds(retry_after)))
                .after(retry_after)
        }
        Refusal::NoWorker => SubmitError::new(
            Code::NoWorker,
            "nobody works the queue; start `frontdesk worker`, or `frontdesk serve` with workers",
        )
        .after(SOON),
        Refusal::UnknownMessage => SubmitError::new(
            Code::InvalidInput,
            "the message to replace is no user message of this thread; reload the thread and edit again",
        ),
    }
}

/// Whole seconds, rounded up.
fn seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

fn failed(error: &StorageError) -> SubmitError {
    tracing::error!(%error, "failed to accept a message");
    match error {
        StorageError::Unavailable(_) | StorageError::Conflict(_) => {
            SubmitError::new(Code::Unavailable, "the message could not be stored right now; send it again in a few seconds")
                .after(SOON)
        }
        _ => SubmitError::new(
            Code::Internal,
            "the message could not be stored; send it again, and tell the operator if it happens again",
        ),
    }
}

#[cfg(test)]
#[path = "intake/tests.rs"]
mod tests;
