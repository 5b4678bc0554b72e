//! Messages as they are stored, whatever the channel's wire calls them.

use serde::{Deserialize, Serialize};

use crate::{MessageId, ToolCallId, ToolName};

/// A row of a thread's transcript. The JSON form is what storage keeps (version 1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    User {
        id: MessageId,
        parts: Vec<Part>,
    },
    Assistant {
        id: MessageId,
        /// The provider's final text, not the joined deltas.
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<Reasoning>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        /// The reply was cut: stop, deadline or a model's error.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        partial: bool,
    },
    Tool {
        id: MessageId,
        call: ToolCallId,
        /// What the model reads: JSON or text, at most `limits.tool_result_bytes`.
        content: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        error: bool,
    },
    /// What happened, in words for the model: a failed run, a stop, a cut-off call. Clients never see it.
    Note {
        id: MessageId,
        text: String,
    },
}

impl Message {
    pub fn id(&self) -> &MessageId {
        match self {
            Self::User { id, .. } | Self::Assistant { id, .. } | Self::Tool { id, .. } | Self::Note { id, .. } => id,
        }
    }

    /// `user`, `assistant`, `tool` or `note`.
    pub fn role(&self) -> &'static str {
        match self {
            Self::User { .. } => "user",
            Self::Assistant { .. } => "assistant",
            Self::Tool { .. } => "tool",
            Self::Note { .. } => "note",
        }
    }
}

/// One piece of a user's message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    Text { text: String },
    Image { source: Source },
    Audio { source: Source },
    Video { source: Source },
    Document { source: Source },
}

/// Where a part's bytes are. A URL is fetched by the provider, never by us.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Source {
    /// `value` is base64.
    Data { value: String, mime: String },
    Url {
        value: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime: Option<String>,
    },
    File {
        value: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime: Option<String>,
    },
}

/// What a model showed of its thinking, and the provider's seal on it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reasoning {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// A call the model asked for. `arguments` is the raw JSON text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: ToolCallId,
    pub name: ToolName,
    pub arguments: String,
}

/// The text of a user's parts, joined by newlines.
pub fn text_of(parts: &[Part]) -> String {
    let mut out = String::new();
    for part in parts {
        if let Part::Text { text } = part {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(text);
        }
    }
    out
}
