//! RunAgentInput: what a client posts.
//!
//! Clients post their whole history every time, up to `limits.body_bytes`. What the server has is authoritative, so
//! of `messages` only what may be news is looked at: a person's row at the end, and results of client tools.

use std::borrow::Cow;

use domain::{Answer, ClientTool, Code, Effect, IdError, MessageId, RunId, RunInput, ThreadId};
use serde::Deserialize;
use serde_json::value::RawValue;
use storage::NewMessage;

use super::{
    answers, grounding, message, read, read_body,
    rows::{Placed, Rows},
};
use crate::{
    dialect::{self, Dialect},
    problem::{ApiError, excerpt},
};

/// Most bytes of a client's `state` that are kept with a run.
pub(crate) const MAX_STATE: usize = 64 * 1024;

/// A fresh turn, or what a run that ended waiting goes on with, as posted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Posted {
    pub(crate) thread: ThreadId,
    /// `None`: to be minted.
    pub(crate) run: Option<RunId>,
    pub(crate) parent_run: Option<RunId>,
    /// The turn's message: the last row that counts, if it is a person's.
    pub(crate) message: Option<NewMessage>,
    /// The last row of a person's, if others come after it.
    pub(crate) last_user: Option<MessageId>,
    /// Results of client tools and answers to interrupts, oldest first.
    pub(crate) answers: Vec<Answer>,
    /// `forwardedProps.frontdesk.replaces`
    pub(crate) replaces: Option<MessageId>,
    /// Without the person's own fields, which come from the token.
    pub(crate) input: RunInput,
}

/// Why a body is refused, and the run it may join all the same.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) error: ApiError,
    pub(crate) join: Option<Join>,
}

/// All that a run which is there already is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Join {
    pub(crate) thread: ThreadId,
    pub(crate) run: RunId,
    pub(crate) last_user: Option<MessageId>,
    pub(crate) dialect: Dialect,
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Self { error, join: None }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    #[serde(borrow)]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow)]
    thread_id: Option<&'a RawValue>,
    #[serde(borrow)]
    run_id: Option<&'a RawValue>,
    #[serde(borrow)]
    parent_run_id: Option<&'a RawValue>,
    #[serde(borrow)]
    state: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Option<Rows<'a>>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    context: Option<&'a RawValue>,
    #[serde(borrow)]
    forwarded_props: Option<&'a RawValue>,
    #[serde(borrow)]
    resume: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Tool<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    description: Option<Cow<'a, str>>,
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Props<'a> {
    #[serde(borrow)]
    grounding: Option<&'a RawValue>,
    #[serde(borrow)]
    frontdesk: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Ours<'a> {
    #[serde(borrow)]
    replaces: Option<&'a RawValue>,
}

/// Reads a body. How much of each is too much, intake says.
pub(crate) fn parse(body: &[u8]) -> Result<Posted, Refused> {
    let mut envelope: Envelope<'_> = read_body("RunAgentInput", body)?;
    let protocol = protocol(envelope.protocol_version)?;
    let thread = envelope.thread_id.ok_or_else(|| ApiError::input("threadId", "is missing; send the conversation's id"))?;
    let thread = id("threadId", thread, ThreadId::parse)?;
    let run = envelope.run_id.map(|raw| id("runId", raw, RunId::parse)).transpose()?;
    let rows = envelope.messages.take().unwrap_or_else(Rows::none);
    let last_user = match rows.user.as_ref().map(message::id).transpose() {
        Ok(id) => id,
        Err(error) if rows.ends_with_user => return Err(error.into()),
        // An old row of the client's own.
        Err(_) => None,
    };
    let join = run.clone().map(|run| Join {
        thread: thread.clone(),
        run,
        last_user: last_user.clone(),
        dialect: Dialect::of(protocol.as_deref()),
    });
    match said(&envelope, &rows) {
        Ok(Said { message, answers, parent_run, replaces, input }) => {
            let last_user = last_user.filter(|_| message.is_none());
            let input = RunInput { protocol, ..input };
            Ok(Posted { thread, run, parent_run, message, last_user, answers, replaces, input })
        }
        Err(error) => Err(Refused { error, join }),
    }
}

/// What only a new run is made of.
struct Said {
    message: Option<NewMessage>,
    answers: Vec<Answer>,
    parent_run: Option<RunId>,
    replaces: Option<MessageId>,
    input: RunInput,
}

fn said(envelope: &Envelope<'_>, rows: &Rows<'_>) -> Result<Said, ApiError> {
    let parent_run = envelope.parent_run_id.map(|raw| id("parentRunId", raw, RunId::parse)).transpose()?;
    let mut answers = envelope.resume.map(answers::resume).transpose()?.unwrap_or_default();
    answers.extend(rows.results().filter_map(answers::of_row));
    let message = rows.user.as_ref().filter(|_| rows.ends_with_user).map(message::of_row).transpose()?;
    if message.is_none() && answers.is_empty() {
        return Err(nothing_new(rows));
    }
    let client_tools = envelope.tools.map(tools).transpose()?.unwrap_or_default();
    let state = envelope.state.map(state).transpose()?;
    let props = object::<Props<'_>>("forwardedProps", envelope.forwarded_props)?;
    let ours = object::<Ours<'_>>("forwardedProps.frontdesk", props.frontdesk)?;
    let replaces = ours.replaces.map(|raw| id("forwardedProps.frontdesk.replaces", raw, MessageId::parse)).transpose()?;
    let grounding = grounding::sentences(props.grounding, envelope.context)?;
    let input = RunInput { grounding, client_tools, state, ..RunInput::default() };
    Ok(Said { message, answers, parent_run, replaces, input })
}

/// Neither a person's row at the end nor a result: says what is there instead.
fn nothing_new(rows: &Rows<'_>) -> ApiError {
    const LAST: &str =
        "the last message must be the person's, of role \"user\", or the result of a tool that this server waits for";
    let Some(Placed { index, row }) = rows.last else {
        let what = if rows.is_list { "is empty; send the person's message as its last row" } else { "is not a list" };
        return ApiError::input("messages", what);
    };
    let path = format!("messages[{index}]");
    if !row.is_object {
        return ApiError::input(&path, "is not an object");
    }
    match row.role.map(|raw| serde_json::from_str::<Cow<'_, str>>(raw.get())) {
        Some(Ok(role)) => ApiError::input(&path, format!("is a message of role \"{}\"; {LAST}", excerpt(&role, 40))),
        Some(Err(_)) | None => ApiError::input(&path, format!("has no role; {LAST}")),
    }
}

fn protocol(raw: Option<&RawValue>) -> Result<Option<String>, ApiError> {
    let Some(raw) = raw else { return Ok(None) };
    match serde_json::from_str::<String>(raw.get()) {
        Ok(version) if dialect::is_supported(&version) => Ok(Some(version)),
        _ => {
            let detail = format!("protocolVersion is {}; this server speaks 1.x", excerpt(raw.get(), 40));
            Err(ApiError::new(Code::UnsupportedProtocolVersion, detail))
        }
    }
}

fn id<T>(path: &str, raw: &RawValue, parse: impl Fn(String) -> Result<T, IdError>) -> Result<T, ApiError> {
    let text: String = read(path, raw)?;
    parse(text).map_err(|error| ApiError::input(path, error))
}

/// An object, or nothing of it: what is not an object there is the application's own and ignored.
fn object<'a, T: Default + Deserialize<'a>>(path: &str, raw: Option<&'a RawValue>) -> Result<T, ApiError> {
    match raw {
        Some(raw) if raw.get().starts_with('{') => read(path, raw),
        _ => Ok(T::default()),
    }
}

fn state(raw: &RawValue) -> Result<serde_json::Value, ApiError> {
    if raw.get().len() > MAX_STATE {
        return Err(ApiError::input("state", format!("has {} bytes; at most {MAX_STATE} are kept", raw.get().len())));
    }
    read("state", raw)
}

fn tools(raw: &RawValue) -> Result<Vec<ClientTool>, ApiError> {
    let rows: Vec<&RawValue> = read("tools", raw)?;
    let mut tools = Vec::with_capacity(rows.len());
    for (index, row) in rows.into_iter().enumerate() {
        let path = format!("tools[{index}]");
        let tool: Tool<'_> = super::read_object(&path, row)?;
        let name = tool.name.filter(|name| !name.is_empty()).ok_or_else(|| ApiError::input(&path, "has no name"))?;
        domain::ToolName::parse(&name).map_err(|error| ApiError::input(&format!("{path}.name"), error))?;
        tools.push(ClientTool {
            name: name.into_owned(),
            description: tool.description.unwrap_or_default().into_owned(),
            parameters: tool.parameters.map(|raw| read(&format!("{path}.parameters"), raw)).transpose()?.unwrap_or_default(),
            effect: tool.metadata.and_then(said_effect),
        });
    }
    Ok(tools)
}

/// `metadata.frontdesk.effect`. Whatever else stands there is the application's own, also a word that is no effect.
fn said_effect(metadata: &RawValue) -> Option<Effect> {
    let metadata: serde_json::Value = serde_json::from_str(metadata.get()).ok()?;
    Effect::parse(metadata["frontdesk"]["effect"].as_str()?)
}

#[cfg(test)]
#[path = "input/tests.rs"]
mod tests;
