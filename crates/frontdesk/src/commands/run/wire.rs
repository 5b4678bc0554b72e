//! What `run --server` says and understands of AG-UI. Lenient: unknown events and fields are left alone.

use serde::Deserialize;
use serde_json::{Value, json};

use super::ask::{Ask, How};

/// Most bytes of text kept while it streams; the stored answer is asked for at the end.
const MAX_TEXT: usize = 4 * 1024 * 1024;

pub(super) fn body(ask: &Ask) -> Vec<u8> {
    let body = json!({
        "protocolVersion": "1.0", "threadId": ask.thread, "runId": ask.run, "state": {}, "tools": [], "context": [],
        "messages": [{"id": ask.message, "role": "user", "content": ask.text}], "forwardedProps": {},
    });
    body.to_string().into_bytes()
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Event {
    r#type: String,
    message_id: String,
    delta: String,
    name: String,
    value: Value,
    code: Option<String>,
    message: String,
    outcome: Value,
    metadata: Value,
}

/// What the events said so far.
#[derive(Debug, Default)]
pub(super) struct Heard {
    texts: Vec<(String, String)>,
    bytes: usize,
    pub(super) end: Option<How>,
}

impl Heard {
    pub(super) fn take(&mut self, data: &[u8]) {
        let Ok(event) = serde_json::from_slice::<Event>(data) else { return };
        match event.r#type.as_str() {
            "TEXT_MESSAGE_START" => self.texts.push((event.message_id, String::new())),
            "TEXT_MESSAGE_CONTENT" => {
                let text = self.texts.iter_mut().rev().find(|(id, _)| *id == event.message_id);
                if let Some((_, text)) = text.filter(|_| self.bytes < MAX_TEXT) {
                    self.bytes += event.delta.len();
                    text.push_str(&event.delta);
                }
            }
            "CUSTOM" if event.name == "frontdesk.superseded" => {
                let ids = event.value["messageIds"].as_array().cloned().unwrap_or_default();
                self.texts.retain(|(id, _)| !ids.iter().any(|superseded| superseded == id.as_str()));
            }
            "RUN_ERROR" => {
                let code = event.code.unwrap_or_else(|| "internal".to_owned());
                self.end = Some(How::Failed { code, message: event.message });
            }
            "RUN_FINISHED" => {
                let cancelled = event.outcome["type"] == "cancelled" || event.metadata["frontdesk"]["status"] == "cancelled";
                self.end = Some(match event.outcome["type"].as_str() {
                    Some("interrupt") => How::Waits,
                    _ if cancelled => How::Cancelled,
                    _ => How::Completed,
                });
            }
            _ => {}
        }
    }

    /// The last text that streamed, in case the stored one cannot be had.
    pub(super) fn streamed(self) -> Option<String> {
        self.texts.into_iter().rev().map(|(_, text)| text).find(|text| !text.is_empty())
    }
}

/// Code and sentence of a problem document, or what can be said without one.
pub(super) fn problem(status: u16, body: &[u8]) -> (String, String) {
    let document: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |key: &str| document[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let detail = text("detail")
        .or_else(|| text("title"))
        .unwrap_or_else(|| "the answer is not one of this product's; check --server".to_owned());
    (text("code").unwrap_or_else(|| format!("status {status}")), detail)
}

/// The last assistant text after the user row `message` in a hydrated thread.
pub(super) fn stored_answer(body: &[u8], message: &str) -> Option<String> {
    let thread: Value = serde_json::from_slice(body).ok()?;
    let messages = thread["messages"].as_array()?;
    let from = messages.iter().rposition(|row| row["id"] == message)?;
    let turn = messages[from + 1..].iter().take_while(|row| row["role"] != "user");
    let texts: Vec<&str> = turn.filter(|row| row["role"] == "assistant").filter_map(|row| row["content"].as_str()).collect();
    texts.into_iter().rev().find(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(events: &[Value]) -> Heard {
        let mut heard = Heard::default();
        for event in events {
            heard.take(event.to_string().as_bytes());
        }
        heard
    }

    #[test]
    fn a_superseded_text_is_forgotten() {
        let heard = heard(&[
            json!({"type": "TEXT_MESSAGE_START", "messageId": "a"}),
            json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "a", "delta": "old"}),
            json!({"type": "CUSTOM", "name": "frontdesk.superseded", "value": {"messageIds": ["a"]}}),
            json!({"type": "TEXT_MESSAGE_START", "messageId": "b"}),
            json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "b", "delta": "n"}),
            json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "b", "delta": "ew"}),
            json!({"type": "RUN_FINISHED", "outcome": {"type": "success"}}),
        ]);
        assert_eq!(heard.end, Some(How::Completed));
        assert_eq!(heard.streamed().as_deref(), Some("new"));
    }

    #[test]
    fn every_end_is_told_apart() {
        let end = |event: Value| heard(&[event]).end;
        assert_eq!(end(json!({"type": "RUN_FINISHED"})), Some(How::Completed));
        assert_eq!(end(json!({"type": "RUN_FINISHED", "outcome": {"type": "interrupt"}})), Some(How::Waits));
        assert_eq!(end(json!({"type": "RUN_FINISHED", "outcome": {"type": "cancelled"}})), Some(How::Cancelled));
        assert_eq!(
            end(json!({"type": "RUN_ERROR", "code": "deadline", "message": "too slow"})),
            Some(How::Failed { code: "deadline".to_owned(), message: "too slow".to_owned() })
        );
        assert_eq!(end(json!({"type": "STEP_STARTED"})), None);
    }

    #[test]
    fn the_stored_answer_is_that_of_our_message() {
        let body = json!({"messages": [
            {"id": "u1", "role": "user", "content": "a"}, {"id": "m1", "role": "assistant", "content": "first"},
            {"id": "m2", "role": "assistant", "content": ""}, {"id": "u2", "role": "user", "content": "b"},
            {"id": "m3", "role": "assistant", "content": "second"},
        ]})
        .to_string();
        assert_eq!(stored_answer(body.as_bytes(), "u1").as_deref(), Some("first"));
        assert_eq!(stored_answer(body.as_bytes(), "u2").as_deref(), Some("second"));
        assert_eq!(stored_answer(body.as_bytes(), "u3"), None);
        assert_eq!(stored_answer(b"<html>", "u1"), None);
    }
}
