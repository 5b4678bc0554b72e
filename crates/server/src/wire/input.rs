//! RunAgentInput: what a client posts.
//!
//! Clients post their whole history every time, up to `limits.body_bytes`. What the server has is authoritative, so
//! of `messages` only the last row is read; the others are skipped as they are parsed, and nothing is copied of them.

use std::{borrow::Cow, fmt};

use domain::{ClientTool, Code, IdError, MessageId, RunId, RunInput, ThreadId};
use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use storage::NewMessage;

use super::{grounding, message, read, read_body};
use crate::{
    dialect,
    problem::{ApiError, excerpt},
};

/// Most bytes of a client's `state` that are kept with a run.
pub(crate) const MAX_STATE: usize = 64 * 1024;

/// A fresh turn as posted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Posted {
    pub(crate) thread: ThreadId,
    /// `None`: to be minted.
    pub(crate) run: Option<RunId>,
    pub(crate) parent_run: Option<RunId>,
    pub(crate) message: NewMessage,
    /// `forwardedProps.frontdesk.replaces`
    pub(crate) replaces: Option<MessageId>,
    /// Without the person's own fields, which come from the token.
    pub(crate) input: RunInput,
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
    messages: Option<LastRow<'a>>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    context: Option<&'a RawValue>,
    #[serde(borrow)]
    forwarded_props: Option<&'a RawValue>,
    #[serde(borrow)]
    resume: Option<&'a RawValue>,
}

/// The last element of a list and its index; the ones before are only walked over.
struct LastRow<'a> {
    row: Option<&'a RawValue>,
    index: usize,
}

impl<'de: 'a, 'a> Deserialize<'de> for LastRow<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rows;
        impl<'de> Visitor<'de> for Rows {
            type Value = LastRow<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("messages to be a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Self::Value, A::Error> {
                let mut last = LastRow { row: None, index: 0 };
                while let Some(row) = rows.next_element::<&'de RawValue>()? {
                    last.index += usize::from(last.row.is_some());
                    last.row = Some(row);
                }
                Ok(last)
            }
        }
        deserializer.deserialize_seq(Rows)
    }
}

#[derive(Deserialize)]
struct Tool<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    description: Option<Cow<'a, str>>,
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
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
pub(crate) fn parse(body: &[u8]) -> Result<Posted, ApiError> {
    let envelope: Envelope<'_> = read_body("RunAgentInput", body)?;
    let protocol = protocol(envelope.protocol_version)?;
    let thread = envelope.thread_id.ok_or_else(|| ApiError::input("threadId", "is missing; send the conversation's id"))?;
    let thread = id("threadId", thread, ThreadId::parse)?;
    let run = envelope.run_id.map(|raw| id("runId", raw, RunId::parse)).transpose()?;
    let parent_run = envelope.parent_run_id.map(|raw| id("parentRunId", raw, RunId::parse)).transpose()?;
    if let Some(resume) = envelope.resume
        && !read::<Vec<serde::de::IgnoredAny>>("resume", resume)?.is_empty()
    {
        return Err(ApiError::input("resume", "no interrupt waits for an answer; send the message without it"));
    }
    let message = match envelope.messages {
        Some(LastRow { row: Some(row), index }) => message::parse(&format!("messages[{index}]"), row)?,
        _ => return Err(ApiError::input("messages", "is empty; send the person's message as its last row")),
    };
    let client_tools = envelope.tools.map(tools).transpose()?.unwrap_or_default();
    let state = envelope.state.map(state).transpose()?;
    let props = object::<Props<'_>>("forwardedProps", envelope.forwarded_props)?;
    let ours = object::<Ours<'_>>("forwardedProps.frontdesk", props.frontdesk)?;
    let replaces = ours.replaces.map(|raw| id("forwardedProps.frontdesk.replaces", raw, MessageId::parse)).transpose()?;
    let grounding = grounding::sentences(props.grounding, envelope.context)?;
    let input = RunInput { grounding, client_tools, state, protocol, ..RunInput::default() };
    Ok(Posted { thread, run, parent_run, message, replaces, input })
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
        });
    }
    Ok(tools)
}

#[cfg(test)]
#[path = "input/tests.rs"]
mod tests;
