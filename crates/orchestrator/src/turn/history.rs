//! From stored rows to a conversation that the strictest provider takes, whatever was stored.
//!
//! It begins with a user message, never has two messages of one side in a row, and every tool call is followed by
//! exactly its results, in the order of the calls. Rendering is a function of the rows alone, and rows only come
//! after others: what one turn sent is the beginning of what the next one sends.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use domain::{ChatMessage, Message, Part, ToolCall, ToolCallId, ToolName};
use serde_json::{Map, Value};

use super::prompt::Note;

/// Characters of bad arguments that are shown again.
const MAX_RAW_CHARS: usize = 400;

/// The conversation so far, repaired as it grows.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    messages: Vec<ChatMessage>,
    calls: HashSet<ToolCallId>,
}

impl Transcript {
    pub(crate) fn messages(&self) -> &[ChatMessage] {
        &self.messages
    }

    /// Adds rows, oldest first. Results are looked for in the same `rows` as their calls, after them.
    pub(crate) fn push<'a>(&mut self, rows: impl IntoIterator<Item = &'a Message>) {
        let rows: Vec<&Message> = rows.into_iter().collect();
        let mut results: HashMap<&ToolCallId, Vec<(usize, &str)>> = HashMap::new();
        for (place, row) in rows.iter().enumerate() {
            if let Message::Tool { call, content, .. } = row {
                results.entry(call).or_default().push((place, content));
            }
        }
        for (place, row) in rows.iter().enumerate() {
            match row {
                Message::User { parts, .. } => self.user(parts.clone()),
                Message::Note { text, .. } => self.user(vec![Part::Text { text: Note::Frame.fill(&[("text", text)]) }]),
                Message::Assistant { text, reasoning, tool_calls, .. } => {
                    let result_of = |call: &ToolCall| {
                        let found = results.get(&call.id)?.iter().find(|(at, _)| *at > place)?;
                        Some(found.1)
                    };
                    self.assistant(text, reasoning.as_ref(), tool_calls, result_of);
                }
                // Taken with its call; without one it is dropped.
                Message::Tool { .. } => {}
            }
        }
    }

    /// What goes with the last user message and is not stored. Everything up to that message's own parts is the
    /// same bytes in the next turn's request.
    pub(crate) fn add_context(&mut self, text: String) {
        let last = self.messages.iter_mut().rev().find_map(|message| match message {
            ChatMessage::User { parts } => Some(parts),
            _ => None,
        });
        match last {
            Some(parts) => parts.push(Part::Text { text }),
            None => self.user(vec![Part::Text { text }]),
        }
    }

    fn user(&mut self, parts: Vec<Part>) {
        match self.messages.last_mut() {
            Some(ChatMessage::User { parts: before }) => before.extend(parts),
            _ if parts.is_empty() => {}
            _ => self.messages.push(ChatMessage::User { parts }),
        }
    }

    fn assistant<'a>(
        &mut self,
        text: &str,
        reasoning: Option<&domain::Reasoning>,
        tool_calls: &[ToolCall],
        result_of: impl Fn(&ToolCall) -> Option<&'a str>,
    ) {
        let mut calls = Vec::new();
        let mut answers = Vec::new();
        // A conversation cannot begin with an answer; nor can an id be used twice.
        if self.messages.is_empty() {
            return;
        }
        for call in tool_calls.iter().filter(|call| self.calls.insert(call.id.clone())) {
            let arguments = object(&call.arguments);
            let mut content = result_of(call).map_or_else(|| Note::NoResult.text(), str::to_owned);
            if arguments.is_none() {
                let raw: String = call.arguments.chars().take(MAX_RAW_CHARS).collect();
                content = format!("{content}\n{}", Note::BadArguments.fill(&[("raw", &raw)]));
            }
            let arguments = arguments.unwrap_or(Cow::Borrowed("{}")).into_owned();
            let name = for_model(&call.name);
            calls.push(ToolCall { id: call.id.clone(), name: name.clone(), arguments });
            answers.push(ChatMessage::Tool { call: call.id.clone(), name, content });
        }
        if text.trim().is_empty() && calls.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            // Two answers in a row, such as one that was cut and its second try, are one.
            Some(ChatMessage::Assistant { text: before, tool_calls, .. }) => {
                if !text.trim().is_empty() {
                    before.push_str("\n\n");
                    before.push_str(text);
                }
                tool_calls.append(&mut calls);
            }
            _ => self.messages.push(ChatMessage::Assistant {
                text: text.to_owned(),
                reasoning: reasoning.cloned(),
                tool_calls: calls,
            }),
        }
        self.messages.append(&mut answers);
    }
}

/// The name a provider takes, which is what the model called.
pub(super) fn for_model(name: &ToolName) -> ToolName {
    match name.for_model() {
        Cow::Borrowed(_) => name.clone(),
        Cow::Owned(fitting) => ToolName::parse(fitting).expect("letters, digits, _ and -"),
    }
}

/// `text` as the text of a JSON object; `None` if it is none. No arguments are an empty object.
pub(super) fn object(text: &str) -> Option<Cow<'_, str>> {
    if text.trim().is_empty() {
        return Some(Cow::Borrowed("{}"));
    }
    if serde_json::from_str::<Map<String, Value>>(text).is_ok() {
        return Some(Cow::Borrowed(text));
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Null) => Some(Cow::Borrowed("{}")),
        Ok(Value::String(inner)) if serde_json::from_str::<Map<String, Value>>(&inner).is_ok() => Some(Cow::Owned(inner)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
