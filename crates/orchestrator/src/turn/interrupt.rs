//! Step 6: what a run ends waiting for, and the results it goes on with.

use domain::{ClientToolStyle, Event, InterruptKind, Message, RunInput, ToolCall};
use serde_json::{Value, json};
use storage::{NewInterrupt, StoredMessage};

use super::out::Out;
use crate::intake::cut_off;

/// What clients that run their tools as they hear of a call are told (`ag-ui.md` 3.3). Nobody hears of it before the
/// run's end is stored: a call that does not stand after all, or is told twice, would be run for nothing, or twice.
pub(super) fn announce(style: ClientToolStyle, calls: &[ToolCall]) -> Vec<Event> {
    if style != ClientToolStyle::Universal {
        return Vec::new();
    }
    let available = |call: &ToolCall| {
        let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let value = json!({ "toolCallId": call.id, "toolName": call.name, "input": input });
        Event::custom("tool-input-available", value)
    };
    calls.iter().map(available).collect()
}

pub(super) fn rows(style: ClientToolStyle, calls: Vec<ToolCall>) -> Vec<NewInterrupt> {
    let cut_off = cut_off();
    let row = |call| NewInterrupt { kind: InterruptKind::ClientTool, style, call, cut_off: cut_off.clone() };
    calls.into_iter().map(row).collect()
}

/// A client that was interrupted hears the results it sent as the run's own (`ag-ui.md` 2.2); the others have them.
pub(super) fn show_results(input: &RunInput, history: &[StoredMessage], out: &mut Out) {
    if input.client_tool_style != ClientToolStyle::Interrupt || input.resume.is_empty() {
        return;
    }
    for row in history {
        let Message::Tool { id, call, content, .. } = &row.message else { continue };
        if input.resume.contains(&InterruptKind::ClientTool.id(call)) {
            out.say(Event::ToolCallResult {
                message_id: id.clone(),
                tool_call_id: call.clone(),
                content: content.clone(),
                role: "tool".to_owned(),
            });
        }
    }
}
