//! A message becomes a stored turn, or a refusal before anything is stored.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use catalog::CallResult;
use domain::{
    Answer, ClientTool, Code, InterruptFault, Limits, MessageId, Part, Principal, RunId, RunInput, RunKey, Signal, ThreadId,
    ThreadKey,
};
use storage::{Accept, Accepted, NewMessage, Refusal, RunRef, StorageError};

use crate::{Settings, hub::lock, orchestrator::Inner, turn::Note};

/// Unicode scalar values of grounding over all sources.
const GROUNDING_CHARS: usize = 4_000;

/// When to ask again what only an operator or a starting worker can mend.
const SOON: Duration = Duration::from_secs(5);
const LATER: Duration = Duration::from_secs(60);

/// How long a message waits for a closed socket to be seen before its thread counts as busy.
const LEAVING: Duration = Duration::from_millis(250);

/// One turn as a channel hands it over.
#[derive(Debug, Clone)]
pub struct Submission {
    pub thread: ThreadId,
    pub run: RunId,
    /// The turn's message. `None`: the run goes on from what `answers` settle.
    pub message: Option<NewMessage>,
    /// The user row this message takes the place of.
    pub replaces: Option<MessageId>,
    /// The last user row the client has, if it sent one without asking to have it answered.
    pub last_user: Option<MessageId>,
    /// What comes back to runs that ended waiting, oldest first.
    pub answers: Vec<Answer>,
    /// The run this one continues, as the client says.
    pub parent_run: Option<RunId>,
    pub input: RunInput,
    /// Refuse with `no-worker` if nobody works the queue. The command line brings its own worker.
    pub need_worker: bool,
}

/// A turn that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// If the answers were taken before: the run that took them, whatever id was asked for.
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
    /// The answers it is about: clients hear of these in a run that begins and ends with RUN_ERROR.
    pub faults: Vec<InterruptFault>,
}

impl SubmitError {
    fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), retry_after: None, faults: Vec::new() }
    }

    fn after(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }
}

/// Checks that need no database, then one transaction, then hints.
pub(crate) async fn submit(inner: &Arc<Inner>, principal: &Principal, submission: Submission) -> Result<Ticket, SubmitError> {
    let parts = &inner.parts;
    let Settings { limits, when_busy, .. } = &parts.settings;
    let checked = if parts.model.is_none() { Err(model_unconfigured()) } else { check(&submission, limits) };
    if let Err(refused) = checked {
        return join(inner, principal, &submission).await.ok_or(refused);
    }
    let input = known(submission.input, principal);
    let answers = bounded(submission.answers, limits.tool_result_bytes);
    let cut_off = cut_off();
    let accept = Accept {
        principal,
        thread: &submission.thread,
        run: &submission.run,
        thread_key: key(&parts.ids.ulid(), ThreadKey::parse)?,
        run_key: key(&parts.ids.ulid(), RunKey::parse)?,
        message: submission.message.as_ref(),
        replaces: submission.replaces.as_ref(),
        last_user: submission.last_user.as_ref(),
        answers: &answers,
        cut_off: &cut_off,
        parent_run: submission.parent_run.as_ref(),
        input: &input,
        limits,
        when_busy: *when_busy,
        need_worker: submission.need_worker,
    };
    let mut accepted = Box::pin(parts.store.accept(accept.clone())).await;
    if matches!(accepted, Ok(Accepted::Refused(Refusal::ThreadBusy))) && is_left(inner, principal, accept.thread).await {
        accepted = Box::pin(parts.store.accept(accept)).await;
    }
    match accepted {
        Ok(Accepted::Fresh(run)) => {
            // Its coming may have told another run of the thread to stop.
            for local in inner.hub.locals_of(&run.thread) {
                inner.look_at(&local);
            }
            inner.tell(Signal::Ready);
            Ok(Ticket { run, joined: false })
        }
        Ok(Accepted::Joined(run) | Accepted::Settled(run)) => Ok(Ticket { run, joined: true }),
        Ok(Accepted::Faulty(faults)) => Err(faulty(faults)),
        Ok(Accepted::Refused(refusal)) => Err(refused(refusal)),
        Err(error) => Err(failed(&error)),
    }
}

/// Whether the last reader of what the thread answers is about to leave, within [`LEAVING`]: clients stop by closing
/// their socket, and their next message may be here before that is seen.
async fn is_left(inner: &Inner, principal: &Principal, thread: &ThreadId) -> bool {
    let store = &inner.parts.store;
    let Ok(Some(status)) = store.thread(principal, thread).await else { return false };
    let Some(run) = status.active_run else { return true };
    let Ok(Some(record)) = store.run(principal, &run).await else { return false };
    let Some(post) = inner.hub.post(&record.reference.key) else { return true };
    let nobody = || {
        let attendance = lock(&post.attendance);
        attendance.persons == 0 && !attendance.telling
    };
    let until = Instant::now() + LEAVING;
    while !nobody() {
        if Instant::now() >= until {
            return false;
        }
        tokio::time::sleep(LEAVING / 25).await;
    }
    true
}

/// A run that is there already is joined whatever else the request holds.
async fn join(inner: &Inner, principal: &Principal, submission: &Submission) -> Option<Ticket> {
    let Submission { thread, run, message, last_user, .. } = submission;
    let last_user = message.as_ref().map(|message| &message.id).or(last_user.as_ref());
    match Box::pin(inner.parts.store.joined(principal, thread, run, last_user)).await {
        Ok(run) => run.map(|run| Ticket { run, joined: true }),
        Err(error) => {
            tracing::warn!(%error, "failed to look for a run to join");
            None
        }
    }
}

/// What the model reads of a client tool whose result never came.
pub(crate) fn cut_off() -> String {
    CallResult::failed(&Note::ClientCutOff.text()).content
}

/// Results of client tools are as long as others may be.
fn bounded(mut answers: Vec<Answer>, most: usize) -> Vec<Answer> {
    for answer in &mut answers {
        answer.content = catalog::cut(std::mem::take(&mut answer.content), most);
    }
    answers
}

/// How ids of results begin: a person's message in the place of one would keep the call from ever being answered.
const RESULT: &str = "tool_call_";

/// Most texts and attachments of one message.
const MAX_PARTS: usize = 100;

fn check(submission: &Submission, limits: &Limits) -> Result<(), SubmitError> {
    if let Some(message) = &submission.message {
        if message.id.as_str().starts_with(RESULT) {
            let detail = format!("a message's id may not begin with {RESULT}, which is a tool's result; give it another");
            return Err(SubmitError::new(Code::InvalidInput, detail));
        }
        check_message(&message.parts, limits)?;
    }
    check_tools(&submission.input.client_tools, limits)
}

fn check_message(parts: &[Part], limits: &Limits) -> Result<(), SubmitError> {
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
    Ok(())
}

fn check_tools(tools: &[ClientTool], limits: &Limits) -> Result<(), SubmitError> {
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
        Refusal::NothingWaits => SubmitError::new(
            Code::InvalidInput,
            "there is no new message, and nothing in this thread waits for a result; send the person's message as the last row",
        ),
    }
}

/// The worst of what is wrong names the whole.
fn faulty(faults: Vec<InterruptFault>) -> SubmitError {
    let said = [
        (Code::UnknownInterrupt, "nothing in this thread waits for one of the answers; reload the conversation"),
        (Code::Conflict, "one of these was answered before, and differently; reload the conversation"),
        (Code::Stale, "the conversation went on without this answer; reload it"),
        (Code::IncompleteBatch, "the run waits for more answers than these; send all of them together"),
    ];
    let of = |code: Code| faults.iter().any(|fault| fault.code == code);
    let (code, detail) = said.into_iter().find(|(code, _)| of(*code)).unwrap_or((Code::Conflict, "an answer was not taken"));
    SubmitError { faults, ..SubmitError::new(code, detail) }
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
