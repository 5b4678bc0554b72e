//! What a chat model is asked and what it answers, whoever the provider is.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{OrgId, Part, Reasoning, RunId, RunKey, ThreadId, TokenUsage, ToolCall, ToolCallId, ToolName, UserId};

/// Which run asks: required on every request and on its ledger row. It goes on the wire only where the provider
/// documents a field for it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunIdentity {
    pub org: OrgId,
    pub user: UserId,
    pub thread: ThreadId,
    pub run: RunId,
    pub key: RunKey,
    pub attempt: i64,
    /// Step of the run, counted from 1.
    pub step: u32,
    /// The run this one continues.
    pub parent_run: Option<RunId>,
    /// Ids of the interrupts this run answers; empty on a fresh turn.
    pub resume: Vec<String>,
    /// The client's `state`, as sent.
    pub state: Option<Value>,
}

/// Provider and model, as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRef {
    pub provider: String,
    pub name: String,
}

/// How hard the model should think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    Minimal,
    Low,
    #[default]
    Medium,
    High,
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: ToolName,
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Value,
}

/// Whether the model may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolChoice {
    Auto,
    /// The tool list stays in the request, so that the prefix and the history stay valid.
    None,
}

/// A row of the conversation as the model sees it. Every tool call is followed by its result.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatMessage {
    User { parts: Vec<Part> },
    Assistant { text: String, reasoning: Option<Reasoning>, tool_calls: Vec<ToolCall> },
    Tool { call: ToolCallId, name: ToolName, content: String },
}

/// One model call.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    pub identity: RunIdentity,
    /// The stable prefix: role instructions, notes, channel fragment.
    pub system: String,
    pub messages: Vec<ChatMessage>,
    /// In name order, sticky within a thread.
    pub tools: Vec<ToolSpec>,
    pub tool_choice: ToolChoice,
    pub max_output_tokens: u32,
    pub effort: Effort,
    /// What is left of the run's deadline.
    pub timeout: Duration,
}

/// A piece of an answer, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatEvent {
    Text(String),
    Reasoning(String),
    /// What the provider needs to see again of this answer's reasoning, for the wire that made it and opaque to
    /// everybody else. It comes before the end and belongs to [`Reasoning::signature`] as it is; several are one text.
    ReasoningSignature(String),
    /// A call begins; `index` counts the calls of this answer from 0 without gaps.
    ToolCall {
        index: usize,
        name: String,
    },
    /// More of that call's raw JSON text.
    ToolArguments {
        index: usize,
        delta: String,
    },
    /// Which model answers, once it is known.
    Model(ModelRef),
    /// A request for this answer that came to nothing, before any of its text, reasoning or calls; for the ledger.
    Failed {
        model: ModelRef,
        error: ModelError,
        latency: Duration,
    },
    /// The end, exactly once, last.
    Done {
        finish: FinishReason,
        usage: TokenUsage,
        /// How many [`ChatEvent::Failed`] there were before this answer began; for the ledger.
        retries: u32,
    },
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    Stop,
    ToolCalls,
    Length,
    ContentFilter,
}

/// What a caller can do about a failed call. Messages never hold a provider's body, a key or a person's text.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    #[error("the provider limits the rate of requests")]
    RateLimited { retry_after: Option<Duration> },
    #[error("the provider is overloaded")]
    Overloaded { retry_after: Option<Duration> },
    /// Sending the same again helps nowhere: no model retries it and no other is asked. The caller may leave out the
    /// oldest turns, once, and ask again; it must then say so to the model.
    #[error("the conversation is longer than the model's context")]
    ContextTooLong,
    #[error("the model refused to answer")]
    Refused,
    #[error("the provider did not accept the key")]
    Auth,
    #[error("the provider did not accept the request (status {status})")]
    Invalid { status: u16 },
    /// The stream ended without its end.
    #[error("the answer was cut off")]
    Cut,
    /// Nothing but keep-alives for `model.idle_timeout_seconds`.
    #[error("the provider stopped sending")]
    Idle,
    #[error("the provider sent something that is not the protocol: {0}")]
    Protocol(&'static str),
    #[error("the provider is not available: {0}")]
    Unavailable(String),
}
