//! A run whose events are no longer kept, as one synthetic run: RUN_STARTED, MESSAGES_SNAPSHOT, the stored end.

use domain::{Code, Event, Message, Outcome, Part, RunId, RunStatus, ThreadId, TokenUsage};
use serde_json::{Value, json};
use storage::{OpenInterrupt, RunRecord, StoredMessage};

use super::transcript::media_part;
use crate::dialect::Dialect;

/// The three events of an ended run. `waits`: what it still waits for; `usage`: one entry a model.
pub(crate) fn events(
    record: &RunRecord,
    rows: &[StoredMessage],
    waits: &[OpenInterrupt],
    usage: Vec<TokenUsage>,
    dialect: Dialect,
) -> [Event; 3] {
    let (thread_id, run_id) = (record.reference.thread_id.clone(), record.reference.id.clone());
    let started = Event::RunStarted {
        thread_id: thread_id.clone(),
        run_id: run_id.clone(),
        parent_run_id: record.parent_run.clone(),
        protocol_version: None,
    };
    [started, Event::MessagesSnapshot { messages: messages(rows, dialect) }, end(record, waits, thread_id, run_id, usage)]
}

/// A transcript as AG-UI messages.
pub(crate) fn messages(rows: &[StoredMessage], dialect: Dialect) -> Vec<Value> {
    rows.iter().filter_map(|row| message(&row.message, dialect)).collect()
}

fn end(record: &RunRecord, waits: &[OpenInterrupt], thread_id: ThreadId, run_id: RunId, usage: Vec<TokenUsage>) -> Event {
    let outcome = match record.status {
        RunStatus::Failed | RunStatus::Abandoned => {
            let (code, message) = record.error.clone().unwrap_or_else(|| {
                let code = if record.status == RunStatus::Abandoned { Code::Abandoned } else { Code::Internal };
                (code.to_string(), "the run failed; send the message again".to_owned())
            });
            return Event::RunError { message, code: Some(code), usage, metadata: None };
        }
        RunStatus::Cancelled => Some(Outcome::Cancelled),
        // One that waits no more finished like others.
        RunStatus::Interrupted => waits.first().map(|first| first.style.outcome(waits.iter().map(|open| &open.call), &run_id)),
        RunStatus::Completed | RunStatus::Queued | RunStatus::Running => None,
    };
    let metadata = record.cancel.filter(|_| outcome == Some(Outcome::Cancelled)).map(|reason| reason.metadata());
    Event::RunFinished { thread_id, run_id, outcome, usage, metadata }
}

/// A row as an AG-UI message; notes are for the model only.
fn message(message: &Message, dialect: Dialect) -> Option<Value> {
    Some(match message {
        Message::User { id, parts } => {
            let content = match parts.as_slice() {
                [Part::Text { text }] => json!(text),
                parts => parts.iter().filter(|part| dialect.reads(part)).map(media_part).collect(),
            };
            json!({"id": id, "role": "user", "content": content})
        }
        Message::Assistant { id, text, tool_calls, .. } => {
            // Also if nothing was said: a call is shown within a text, if only an empty one.
            let mut row = json!({"id": id, "role": "assistant", "content": text});
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

#[cfg(test)]
#[path = "snapshot/tests.rs"]
mod tests;
