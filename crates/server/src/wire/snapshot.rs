//! A run whose events are no longer kept, as one synthetic run: RUN_STARTED, MESSAGES_SNAPSHOT, the stored end.

use domain::{Code, Event, Message, Outcome, Part, RunId, RunStatus, ThreadId, TokenUsage};
use serde_json::{Value, json};
use storage::{RunRecord, StoredMessage};

use super::transcript::media_part;

/// The three events of an ended run. `usage`: one entry a model.
pub(crate) fn events(record: &RunRecord, rows: &[StoredMessage], usage: Vec<TokenUsage>) -> [Event; 3] {
    let (thread_id, run_id) = (record.reference.thread_id.clone(), record.reference.id.clone());
    let started = Event::RunStarted {
        thread_id: thread_id.clone(),
        run_id: run_id.clone(),
        parent_run_id: record.parent_run.clone(),
        protocol_version: None,
    };
    let messages = rows.iter().filter_map(|row| message(&row.message)).collect();
    [started, Event::MessagesSnapshot { messages }, end(record, thread_id, run_id, usage)]
}

fn end(record: &RunRecord, thread_id: ThreadId, run_id: RunId, usage: Vec<TokenUsage>) -> Event {
    let outcome = match record.status {
        RunStatus::Failed | RunStatus::Abandoned => {
            let (code, message) = record.error.clone().unwrap_or_else(|| {
                let code = if record.status == RunStatus::Abandoned { Code::Abandoned } else { Code::Internal };
                (code.to_string(), "the run failed; send the message again".to_owned())
            });
            return Event::RunError { message, code: Some(code), usage, metadata: None };
        }
        RunStatus::Cancelled => Some(Outcome::Cancelled),
        RunStatus::Completed | RunStatus::Interrupted | RunStatus::Queued | RunStatus::Running => None,
    };
    Event::RunFinished { thread_id, run_id, outcome, usage, metadata: None }
}

/// A row as an AG-UI message; notes are for the model only.
fn message(message: &Message) -> Option<Value> {
    Some(match message {
        Message::User { id, parts } => {
            let content = match parts.as_slice() {
                [Part::Text { text }] => json!(text),
                parts => parts.iter().map(media_part).collect(),
            };
            json!({"id": id, "role": "user", "content": content})
        }
        Message::Assistant { id, text, tool_calls, .. } => {
            let mut row = json!({"id": id, "role": "assistant"});
            if !text.is_empty() || tool_calls.is_empty() {
                row["content"] = json!(text);
            }
            if !tool_calls.is_empty() {
                let call = |call: &domain::ToolCall| {
                    json!({"id": call.id, "type": "function",
                           "function": {"name": call.name, "arguments": call.arguments}})
                };
                row["toolCalls"] = tool_calls.iter().map(call).collect();
            }
            row
        }
        Message::Tool { id, call, content, error } => {
            let mut row = json!({"id": id, "role": "tool", "toolCallId": call, "content": content});
            if *error {
                row["error"] = json!(content);
            }
            row
        }
        Message::Note { .. } => return None,
    })
}
