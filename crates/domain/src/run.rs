//! Runs: their states and what they cost.

use std::fmt;

use serde::{Deserialize, Serialize};

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
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
    /// The client's `state`, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<serde_json::Value>,
    /// `protocolVersion` of the request; absent for clients before AG-UI 1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Ids of the interrupts this run answers.
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

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Asked, Self::Unattended, Self::Replaced].into_iter().find(|reason| reason.as_str() == text)
    }
}

/// Place in a run's stream: attempt, then event within the attempt from 1. `0.n` is the waiting room before the
/// first claim (RUN_STARTED is `0.0`). On the wire it is `<run id>:<attempt>.<seq>` and opaque to clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offset {
    pub attempt: i64,
    pub seq: i64,
}

impl Offset {
    pub const START: Self = Self { attempt: 0, seq: 0 };

    /// The wire form.
    pub fn encode(self, run: &crate::RunId) -> String {
        format!("{run}:{}.{}", self.attempt, self.seq)
    }

    /// Reads the wire form: the run it belongs to and the place. `None`: not one of ours.
    pub fn decode(text: &str) -> Option<(crate::RunId, Self)> {
        let (run, place) = text.rsplit_once(':')?;
        let (attempt, seq) = place.split_once('.')?;
        let number = |digits: &str| -> Option<i64> {
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| digits.parse().ok()).flatten()
        };
        Some((crate::RunId::parse(run).ok()?, Self { attempt: number(attempt)?, seq: number(seq)? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunId;

    #[test]
    fn an_offset_survives_any_run_id() {
        let run = RunId::parse("a:1.2:ü").expect("valid");
        let offset = Offset { attempt: 3, seq: 41 };
        assert_eq!(Offset::decode(&offset.encode(&run)), Some((run, offset)));
        for bad in ["", "r", "r:1", "r:1.", "r:.1", "r:-1.2", "r:1.+2", ":1.2", "r:99999999999999999999.1"] {
            assert_eq!(Offset::decode(bad), None, "{bad}");
        }
    }
}
