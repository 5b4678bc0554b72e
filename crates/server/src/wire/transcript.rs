//! A thread as a client shows it again: UI messages, always with `parts` (`ag-ui.md` 1.4 (j)).
//!
//! A tool's result is folded into its call: as the call's `output`, and as a `tool-result` part after it.

use std::collections::HashMap;

use domain::{Message, Part, Source, ToolCallId};
use serde::Serialize;
use serde_json::{Value, json};
use storage::StoredMessage;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct UiMessage {
    pub(crate) id: String,
    pub(crate) role: &'static str,
    pub(crate) parts: Vec<Value>,
}

struct ToolResult<'a> {
    content: &'a str,
    error: bool,
}

/// Notes are for the model only and left out; so are results whose call is not in `rows`.
pub(crate) fn ui_messages(rows: &[StoredMessage]) -> Vec<UiMessage> {
    let results: HashMap<&ToolCallId, ToolResult<'_>> = rows
        .iter()
        .filter_map(|row| match &row.message {
            Message::Tool { call, content, error, .. } => Some((call, ToolResult { content, error: *error })),
            _ => None,
        })
        .collect();
    rows.iter().filter_map(|row| ui_message(&row.message, &results)).collect()
}

fn ui_message(message: &Message, results: &HashMap<&ToolCallId, ToolResult<'_>>) -> Option<UiMessage> {
    let parts = match message {
        Message::User { parts, .. } => parts.iter().map(user_part).collect(),
        Message::Assistant { text, reasoning, tool_calls, .. } => {
            let mut parts = Vec::new();
            if let Some(reasoning) = reasoning
                && !reasoning.text.is_empty()
            {
                parts.push(json!({"type": "thinking", "content": reasoning.text}));
            }
            if !text.is_empty() {
                parts.push(json!({"type": "text", "content": text}));
            }
            for call in tool_calls {
                let mut part = json!({"type": "tool-call", "id": call.id, "name": call.name, "arguments": call.arguments,
                                      "state": "input-complete"});
                if let Ok(input) = serde_json::from_str::<Value>(&call.arguments) {
                    part["input"] = input;
                }
                let Some(result) = results.get(&call.id) else {
                    parts.push(part);
                    continue;
                };
                part["output"] = serde_json::from_str(result.content).unwrap_or_else(|_| json!(result.content));
                parts.push(part);
                let state = if result.error { "error" } else { "complete" };
                let mut part = json!({"type": "tool-result", "toolCallId": call.id, "content": result.content, "state": state});
                if result.error {
                    part["error"] = json!(result.content);
                }
                parts.push(part);
            }
            parts
        }
        Message::Tool { .. } | Message::Note { .. } => return None,
    };
    Some(UiMessage { id: message.id().to_string(), role: message.role(), parts })
}

fn user_part(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({"type": "text", "content": text}),
        media => media_part(media),
    }
}

/// Image, audio, video and document look the same here and on AG-UI's wire.
pub(crate) fn media_part(part: &Part) -> Value {
    let (kind, source) = match part {
        Part::Text { text } => return json!({"type": "text", "text": text}),
        Part::Image { source } => ("image", source),
        Part::Audio { source } => ("audio", source),
        Part::Video { source } => ("video", source),
        Part::Document { source } => ("document", source),
    };
    let (from, value, mime) = match source {
        Source::Data { value, mime } => ("data", value, Some(mime)),
        Source::Url { value, mime } => ("url", value, mime.as_ref()),
        Source::File { value, mime } => ("file", value, mime.as_ref()),
    };
    let mut source = json!({"type": from, "value": value});
    if let Some(mime) = mime {
        source["mimeType"] = json!(mime);
    }
    json!({"type": kind, "source": source})
}

#[cfg(test)]
#[path = "transcript/tests.rs"]
mod tests;
