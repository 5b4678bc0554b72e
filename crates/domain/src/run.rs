//! Runs: their states and what they cost.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{ClientToolStyle, Effect};

/// Where a run is. `Queued` and `Running` are active; the rest are ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Queued,
    Running,
    /// Waits for a person.
    Interrupted,
    Completed,
    /// Ended by RUN_ERROR.
    Failed,
    Cancelled,
    /// The dead letter: its lease ran out three times, or nobody here can read it.
    Abandoned,
}

impl RunStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Abandoned => "abandoned",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Queued, Self::Running, Self::Interrupted, Self::Completed, Self::Failed, Self::Cancelled, Self::Abandoned]
            .into_iter()
            .find(|status| status.as_str() == text)
    }

    pub fn is_active(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Tokens of one model in one run (AG-UI 1.0 `TokenUsage`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens of the whole prompt, those read from and written to the provider's cache included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens of the whole answer, reasoning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Tokens of the prompt that the provider put into its cache and charges for as such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_input_tokens: Option<u64>,
}

impl TokenUsage {
    /// Adds another call of the same model.
    pub fn add(&mut self, other: &Self) {
        fn sum(left: &mut Option<u64>, right: Option<u64>) {
            if let Some(right) = right {
                *left = Some(left.unwrap_or(0).saturating_add(right));
            }
        }
        sum(&mut self.input_tokens, other.input_tokens);
        sum(&mut self.output_tokens, other.output_tokens);
        sum(&mut self.total_tokens, other.total_tokens);
        sum(&mut self.reasoning_tokens, other.reasoning_tokens);
        sum(&mut self.cached_input_tokens, other.cached_input_tokens);
        sum(&mut self.cache_write_input_tokens, other.cache_write_input_tokens);
    }
}

/// The newest form of [`RunInput`] this build reads. A run with a newer one is dead-lettered, never guessed.
pub const RUN_VERSION: i64 = 1;

/// What a request brought besides its message; stored with the run as JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunInput {
    /// What the screen or the channel reports, sentences, untrusted, at most 4,000 characters over all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grounding: Vec<String>,
    /// The client's tools of this request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_tools: Vec<ClientTool>,
    /// How it wants to hear of their calls.
    #[serde(default, skip_serializing_if = "ClientToolStyle::is_universal")]
    pub client_tool_style: ClientToolStyle,
    /// The client's `state`, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<serde_json::Value>,
    /// `protocolVersion` of the request; absent for clients before AG-UI 1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Ids of the interrupts whose answers this run goes on with; intake sets them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resume: Vec<String>,
    /// Person's name, locale and zone from the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

/// A tool the client runs, as it declared it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientTool {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub parameters: serde_json::Value,
    /// What the client says a call does (`metadata.frontdesk.effect`): it can only make it stricter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
}

/// Why a run should stop before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// A person asked for it.
    Asked,
    /// Nobody read it for `threads.linger_seconds`.
    Unattended,
    /// The same person's next message in the thread took its place.
    Replaced,
}

impl CancelReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Unattended => "unattended",
            Self::Replaced => "replaced",
        }
    }

    /// `metadata` of the RUN_FINISHED of a run that was stopped.
    pub fn metadata(self) -> serde_json::Value {
        serde_json::json!({ "frontdesk": { "status": RunStatus::Cancelled.as_str(), "reason": self.as_str() } })
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Asked, Self::Unattended, Self::Replaced].into_iter().find(|reason| reason.as_str() == text)
    }
}

/// Place in a run's stream: attempt, then event within the attempt from 1. `0.n` is the waiting room before the
/// first claim (RUN_STARTED is `0.0`). What a client is given is a [`crate::Bookmark`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offset {
    pub attempt: i64,
    pub seq: i64,
}

impl Offset {
    pub const START: Self = Self { attempt: 0, seq: 0 };
}
