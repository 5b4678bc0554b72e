//! What a request asks, as far as the script cares.

use serde_json::Value;

use crate::script::{Phase, Script};

pub(super) struct Asked {
    /// Text of the last user message.
    pub(super) user: String,
    users: usize,
    /// Rounds of tool results after it.
    rounds: usize,
    /// Results of the last round.
    results: Vec<String>,
    may_call: bool,
}

impl Asked {
    pub(super) fn of(body: &Value) -> Self {
        let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let (last, user) = last_words(messages).unwrap_or_default();
        let after = messages.get(last + 1..).unwrap_or_default();
        let called = after.iter().rposition(|message| message["role"] == "assistant").map_or(0, |at| at + 1);
        Self {
            user,
            users: messages.iter().filter(|message| message["role"] == "user").count(),
            rounds: after.iter().filter(|message| message["tool_calls"].is_array()).count(),
            results: after[called..].iter().map(|message| text(&message["content"])).collect(),
            may_call: body["tools"].is_array() && body["tool_choice"] != "none",
        }
    }

    pub(super) fn phase(&self) -> Phase {
        match Script::parse(&self.user) {
            Some(script) => script.phase(self.rounds, &self.results, self.may_call),
            None => Phase::saying(&format!("You said: {} (user messages: {})", self.user, self.users)),
        }
    }
}

/// What the person said last, and in which message: the last line of a user message that is neither in a note of the
/// server's nor in the context block. Messages in a row, and notes between them, come as one.
pub fn last_words(messages: &[Value]) -> Option<(usize, String)> {
    let users = messages.iter().enumerate().rev().filter(|(_, message)| message["role"] == "user");
    let mut spoken = users.filter_map(|(at, message)| {
        let text = spoken(&text(&message["content"]));
        let line = text.lines().rfind(|line| !line.trim().is_empty())?.to_owned();
        Some((at, line))
    });
    spoken.next()
}

/// A user message without `<note>` and `<context>` blocks.
pub fn spoken(text: &str) -> String {
    let mut out = text.to_owned();
    for (open, close) in [("<note>", "</note>"), ("<context>", "</context>")] {
        while let Some(from) = out.find(open) {
            let to = out[from..].find(close).map_or(out.len(), |at| from + at + close.len());
            out.replace_range(from..to, "");
        }
    }
    out.trim().to_owned()
}

/// Text of a message's content, string or parts.
pub fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}
