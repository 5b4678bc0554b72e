use domain::{MessageId, Reasoning, ToolCall, ToolName};

use super::*;

fn rows(messages: Vec<Message>) -> Vec<StoredMessage> {
    let stored = |(seq, message)| StoredMessage { message, seq, turn: 1, run: None, created_at: 0 };
    (1..).zip(messages).map(stored).collect()
}

fn id(text: &str) -> MessageId {
    MessageId::parse(text).unwrap()
}

fn call(text: &str, arguments: &str) -> ToolCall {
    ToolCall { id: ToolCallId::parse(text).unwrap(), name: ToolName::parse("transfer").unwrap(), arguments: arguments.to_owned() }
}

#[test]
fn a_thread_comes_back_as_ui_messages() {
    let image = Source::Url { value: "https://example.com/p.png".to_owned(), mime: None };
    let rows = rows(vec![
        Message::User { id: id("u"), parts: vec![Part::Text { text: "hi".to_owned() }, Part::Image { source: image }] },
        Message::Assistant {
            id: id("a1"),
            text: "Let me.".to_owned(),
            reasoning: Some(Reasoning { text: "hm".to_owned(), signature: None }),
            tool_calls: vec![call("c1", r#"{"to":"ada"}"#), call("c2", "{bad"), call("c3", "{}")],
            partial: false,
        },
        Message::Tool {
            id: id("t1"),
            call: ToolCallId::parse("c1").unwrap(),
            content: r#"{"ok":true}"#.to_owned(),
            error: false,
        },
        Message::Tool { id: id("t2"), call: ToolCallId::parse("c2").unwrap(), content: "bad arguments".to_owned(), error: true },
        Message::Tool { id: id("t9"), call: ToolCallId::parse("c9").unwrap(), content: "orphan".to_owned(), error: false },
        Message::Note { id: id("n"), text: "the model only".to_owned() },
        Message::Assistant { id: id("a2"), text: String::new(), reasoning: None, tool_calls: vec![], partial: true },
    ]);
    assert_eq!(
        serde_json::to_value(ui_messages(&rows)).unwrap(),
        json!([
            {"id": "u", "role": "user", "parts": [
                {"type": "text", "content": "hi"},
                {"type": "image", "source": {"type": "url", "value": "https://example.com/p.png"}}]},
            {"id": "a1", "role": "assistant", "parts": [
                {"type": "thinking", "content": "hm"},
                {"type": "text", "content": "Let me."},
                {"type": "tool-call", "id": "c1", "name": "transfer", "arguments": "{\"to\":\"ada\"}", "input": {"to": "ada"},
                 "state": "input-complete", "output": {"ok": true}},
                {"type": "tool-result", "toolCallId": "c1", "content": "{\"ok\":true}", "state": "complete"},
                {"type": "tool-call", "id": "c2", "name": "transfer", "arguments": "{bad", "state": "input-complete",
                 "output": "bad arguments"},
                {"type": "tool-result", "toolCallId": "c2", "content": "bad arguments", "state": "error", "error": "bad arguments"},
                {"type": "tool-call", "id": "c3", "name": "transfer", "arguments": "{}", "input": {}, "state": "input-complete"}]},
            {"id": "a2", "role": "assistant", "parts": []},
        ])
    );
}
