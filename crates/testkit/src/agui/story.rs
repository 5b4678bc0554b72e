//! Streams and transcripts in a form to compare.

use serde_json::Value;

use super::Item;

/// The text of all text messages, joined.
pub fn said(items: &[Item]) -> String {
    let deltas = items.iter().filter(|item| item.kind() == "TEXT_MESSAGE_CONTENT");
    deltas.filter_map(|item| item.json["delta"].as_str()).collect()
}

/// The texts of messages as `role: text` lines.
pub fn lines(messages: &Value) -> Vec<String> {
    let mut out = Vec::new();
    for message in messages.as_array().into_iter().flatten() {
        let role = message["role"].as_str().unwrap_or_default();
        let said = match &message["parts"] {
            Value::Null => crate::scripted::text(&message["content"]),
            parts => {
                let texts = parts.as_array().into_iter().flatten().filter(|part| part["type"] == "text");
                texts.filter_map(|part| part["content"].as_str()).collect()
            }
        };
        out.push(format!("{role}: {said}"));
    }
    out
}

/// The events without `frontdesk.queued`, of which a reader gets as many as it happens to wait for.
pub fn unqueued(items: &[Item]) -> Vec<Item> {
    items.iter().filter(|item| item.json["name"] != "frontdesk.queued").cloned().collect()
}

/// Like [`kinds`], without CUSTOM events, whose number depends on how long a run waited.
pub fn story(items: &[Item]) -> Vec<String> {
    kinds(&items.iter().filter(|item| item.kind() != "CUSTOM").cloned().collect::<Vec<_>>())
}

/// The kinds of the events, each run of text or argument deltas once, CUSTOM with its name.
pub fn kinds(items: &[Item]) -> Vec<String> {
    let mut out: Vec<String> = items
        .iter()
        .map(|item| match item.kind() {
            "CUSTOM" => format!("CUSTOM {}", item.json["name"].as_str().unwrap_or_default()),
            kind => kind.to_owned(),
        })
        .collect();
    out.dedup_by(|a, b| a == b && (a.ends_with("_CONTENT") || a.ends_with("_ARGS")));
    out
}
