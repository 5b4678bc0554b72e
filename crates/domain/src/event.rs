//! What a run says while it runs: the AG-UI events, and the order they may come in.
//!
//! Frames keep these as JSON, one event each, without the ones the edge makes for each response (RUN_STARTED, the
//! waiting room's CUSTOM `frontdesk.queued`, and what bridges a superseded attempt).
//! Source: AG-UI 1.0, "Events" and the client's `verify` step.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Code, MessageId, RunId, ThreadId, TokenUsage, ToolCallId};

/// One event, in AG-UI 1.0's JSON form: optional fields are left out, never null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub enum Event {
    RunStarted {
        thread_id: ThreadId,
        run_id: RunId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_run_id: Option<RunId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        protocol_version: Option<String>,
    },
    RunFinished {
        thread_id: ThreadId,
        run_id: RunId,
        /// Absent means success.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<Outcome>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        usage: Vec<TokenUsage>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
    },
    RunError {
        message: String,
        /// A [`Code`] as text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        usage: Vec<TokenUsage>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
    },
    TextMessageStart {
        message_id: MessageId,
        role: String,
    },
    TextMessageContent {
        message_id: MessageId,
        delta: String,
    },
    TextMessageEnd {
        message_id: MessageId,
    },
    ToolCallStart {
        tool_call_id: ToolCallId,
        tool_call_name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_message_id: Option<MessageId>,
    },
    ToolCallArgs {
        tool_call_id: ToolCallId,
        delta: String,
    },
    ToolCallEnd {
        tool_call_id: ToolCallId,
    },
    ToolCallResult {
        message_id: MessageId,
        tool_call_id: ToolCallId,
        content: String,
        role: String,
    },
    ReasoningStart {
        message_id: MessageId,
    },
    ReasoningMessageStart {
        message_id: MessageId,
        role: String,
    },
    ReasoningMessageContent {
        message_id: MessageId,
        delta: String,
    },
    ReasoningMessageEnd {
        message_id: MessageId,
    },
    ReasoningEnd {
        message_id: MessageId,
    },
    MessagesSnapshot {
        messages: Vec<Value>,
    },
    Custom {
        name: String,
        value: Value,
    },
}

/// How a run finished, when it was no plain success.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Outcome {
    Success {
        #[serde(default, rename = "pendingToolCallIds", skip_serializing_if = "Vec::is_empty")]
        pending_tool_call_ids: Vec<ToolCallId>,
    },
    Interrupt {
        interrupts: Vec<Value>,
    },
    Cancelled,
}

impl Event {
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::RunError { message: message.into(), code: Some(code.as_str().to_owned()), usage: Vec::new(), metadata: None }
    }

    pub fn custom(name: &str, value: Value) -> Self {
        Self::Custom { name: name.to_owned(), value }
    }

    /// RUN_FINISHED or RUN_ERROR.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::RunFinished { .. } | Self::RunError { .. })
    }
}

/// Why an event may not come now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    #[error("{0} before RUN_STARTED")]
    BeforeStart(&'static str),
    #[error("a second RUN_STARTED")]
    SecondStart,
    #[error("{0} after the end of the run")]
    AfterEnd(&'static str),
    #[error("{kind} for {id}, which is not open")]
    NotOpen { kind: &'static str, id: String },
    #[error("{kind} for {id}, which is already open")]
    AlreadyOpen { kind: &'static str, id: String },
    #[error("RUN_FINISHED while {0} is open")]
    FinishedOpen(String),
}

/// What is open in a run, and whether an event may follow. Every stream a client sees passes one of these.
#[derive(Debug, Clone, Default)]
pub struct Verifier {
    started: bool,
    ended: bool,
    texts: HashSet<MessageId>,
    calls: HashSet<ToolCallId>,
    reasonings: HashSet<MessageId>,
    thoughts: HashSet<MessageId>,
}

impl Verifier {
    /// Before RUN_STARTED.
    pub fn new() -> Self {
        Self::default()
    }

    /// As if RUN_STARTED had been seen: for a writer whose start the edge makes, or a reader that resumes.
    pub fn started() -> Self {
        Self { started: true, ..Self::default() }
    }

    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Checks `event` and remembers it; on an error nothing is remembered.
    pub fn accept(&mut self, event: &Event) -> Result<(), EventError> {
        let kind = kind(event);
        if self.ended {
            return Err(EventError::AfterEnd(kind));
        }
        match event {
            Event::RunStarted { .. } if self.started => return Err(EventError::SecondStart),
            Event::RunStarted { .. } => {
                self.started = true;
                return Ok(());
            }
            Event::RunError { .. } => {
                self.ended = true;
                return Ok(());
            }
            _ if !self.started => return Err(EventError::BeforeStart(kind)),
            _ => {}
        }
        match event {
            Event::TextMessageStart { message_id, .. } => open(&mut self.texts, message_id, kind),
            Event::TextMessageContent { message_id, .. } => held(&self.texts, message_id, kind),
            Event::TextMessageEnd { message_id } => close(&mut self.texts, message_id, kind),
            Event::ToolCallStart { tool_call_id, .. } => open(&mut self.calls, tool_call_id, kind),
            Event::ToolCallArgs { tool_call_id, .. } => held(&self.calls, tool_call_id, kind),
            Event::ToolCallEnd { tool_call_id } => close(&mut self.calls, tool_call_id, kind),
            Event::ReasoningStart { message_id } => open(&mut self.thoughts, message_id, kind),
            Event::ReasoningEnd { message_id } => close(&mut self.thoughts, message_id, kind),
            Event::ReasoningMessageStart { message_id, .. } => open(&mut self.reasonings, message_id, kind),
            Event::ReasoningMessageContent { message_id, .. } => held(&self.reasonings, message_id, kind),
            Event::ReasoningMessageEnd { message_id } => close(&mut self.reasonings, message_id, kind),
            Event::RunFinished { .. } => match self.any_open() {
                Some(id) => Err(EventError::FinishedOpen(id)),
                None => {
                    self.ended = true;
                    Ok(())
                }
            },
            _ => Ok(()),
        }
    }

    /// The events that end everything open, inner spans first, in a stable order.
    pub fn closing(&self) -> Vec<Event> {
        let mut out = Vec::new();
        out.extend(sorted(&self.calls).map(|tool_call_id| Event::ToolCallEnd { tool_call_id }));
        out.extend(sorted(&self.texts).map(|message_id| Event::TextMessageEnd { message_id }));
        out.extend(sorted(&self.reasonings).map(|message_id| Event::ReasoningMessageEnd { message_id }));
        out.extend(sorted(&self.thoughts).map(|message_id| Event::ReasoningEnd { message_id }));
        out
    }

    fn any_open(&self) -> Option<String> {
        let texts = self.texts.iter().map(ToString::to_string);
        let calls = self.calls.iter().map(ToString::to_string);
        let spans = self.reasonings.iter().chain(&self.thoughts).map(ToString::to_string);
        texts.chain(calls).chain(spans).min()
    }
}

type Checked = Result<(), EventError>;

fn open<T: Clone + Eq + std::hash::Hash + ToString>(set: &mut HashSet<T>, id: &T, kind: &'static str) -> Checked {
    if set.insert(id.clone()) { Ok(()) } else { Err(EventError::AlreadyOpen { kind, id: id.to_string() }) }
}

fn held<T: Eq + std::hash::Hash + ToString>(set: &HashSet<T>, id: &T, kind: &'static str) -> Checked {
    if set.contains(id) { Ok(()) } else { Err(EventError::NotOpen { kind, id: id.to_string() }) }
}

fn close<T: Eq + std::hash::Hash + ToString>(set: &mut HashSet<T>, id: &T, kind: &'static str) -> Checked {
    if set.remove(id) { Ok(()) } else { Err(EventError::NotOpen { kind, id: id.to_string() }) }
}

fn sorted<T: Clone + Ord>(set: &HashSet<T>) -> impl Iterator<Item = T> + use<T> {
    let mut ids: Vec<T> = set.iter().cloned().collect();
    ids.sort();
    ids.into_iter()
}

fn kind(event: &Event) -> &'static str {
    match event {
        Event::RunStarted { .. } => "RUN_STARTED",
        Event::RunFinished { .. } => "RUN_FINISHED",
        Event::RunError { .. } => "RUN_ERROR",
        Event::TextMessageStart { .. } => "TEXT_MESSAGE_START",
        Event::TextMessageContent { .. } => "TEXT_MESSAGE_CONTENT",
        Event::TextMessageEnd { .. } => "TEXT_MESSAGE_END",
        Event::ToolCallStart { .. } => "TOOL_CALL_START",
        Event::ToolCallArgs { .. } => "TOOL_CALL_ARGS",
        Event::ToolCallEnd { .. } => "TOOL_CALL_END",
        Event::ToolCallResult { .. } => "TOOL_CALL_RESULT",
        Event::ReasoningStart { .. } => "REASONING_START",
        Event::ReasoningMessageStart { .. } => "REASONING_MESSAGE_START",
        Event::ReasoningMessageContent { .. } => "REASONING_MESSAGE_CONTENT",
        Event::ReasoningMessageEnd { .. } => "REASONING_MESSAGE_END",
        Event::ReasoningEnd { .. } => "REASONING_END",
        Event::MessagesSnapshot { .. } => "MESSAGES_SNAPSHOT",
        Event::Custom { .. } => "CUSTOM",
    }
}

#[cfg(test)]
#[path = "event/tests.rs"]
mod tests;
