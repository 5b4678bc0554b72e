//! One answer out of its frames: pure, bounded, the same whatever the chunking was.

use std::collections::VecDeque;

use domain::{ChatEvent, FinishReason, ModelError, ModelRef, TokenUsage};
use serde_json::Value;

use super::{
    calls::Calls,
    failure,
    wire::{Call, Chunk, Content, Delta, Piece},
};

/// Most bytes of text and reasoning of one answer.
pub(super) const MAX_TEXT: usize = 4 * 1024 * 1024;

/// What has come so far.
#[derive(Debug)]
pub(super) struct Answer {
    provider: String,
    retries: u32,
    calls: Calls,
    text_bytes: usize,
    model_known: bool,
    /// A message as a whole was seen.
    whole: bool,
    finish: Option<FinishReason>,
    done: bool,
    usage: TokenUsage,
}

impl Answer {
    /// `retries`: requests that had to be sent again before this answer began.
    pub(super) fn new(provider: String, retries: u32) -> Self {
        let usage = TokenUsage::default();
        Self {
            provider,
            retries,
            calls: Calls::default(),
            text_bytes: 0,
            model_known: false,
            whole: false,
            finish: None,
            done: false,
            usage,
        }
    }

    /// `[DONE]` was seen: nothing that counts comes any more.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// The model has stopped; only the usage may still come.
    pub(super) fn is_ended(&self) -> bool {
        self.done || self.finish.is_some()
    }

    /// Takes a frame and appends what it says. What was appended before an error counts.
    pub(super) fn frame(&mut self, event: &str, data: &[u8], out: &mut VecDeque<ChatEvent>) -> Result<(), ModelError> {
        let data = data.trim_ascii();
        if self.done || data.is_empty() {
            return Ok(());
        }
        if data == b"[DONE]" {
            self.done = true;
            return Ok(());
        }
        // A list would be read as a chunk's fields in their order.
        let chunk: Chunk<'_> = Some(data)
            .filter(|data| data.starts_with(b"{"))
            .and_then(|data| serde_json::from_slice(data).ok())
            .ok_or(ModelError::Protocol("an event that is no chunk of a chat"))?;
        if let Some(error) = chunk.error.as_ref().filter(|error| failure::is_error(error)) {
            // After its end nothing can make an answer undone.
            return if self.is_ended() { Ok(()) } else { Err(failure::of_object(error)) };
        }
        if event == "error" && !self.is_ended() {
            let whole = serde_json::from_slice::<Value>(data).unwrap_or_default();
            return Err(failure::of_object(&whole));
        }
        if let Some(name) = chunk.model.as_deref().filter(|name| !self.model_known && !name.is_empty()) {
            self.model_known = true;
            let name = name.chars().take(200).collect();
            out.push_back(ChatEvent::Model(ModelRef { provider: self.provider.clone(), name }));
        }
        if let Some(usage) = &chunk.usage {
            self.usage = usage.tokens();
        }
        // Only one choice was asked for.
        for choice in chunk.choices.iter().filter(|choice| choice.index.unwrap_or(0) == 0) {
            if let Some(delta) = choice.delta.as_ref().or(choice.message.as_ref()) {
                self.whole |= choice.message.is_some();
                self.delta(delta, out)?;
            }
            if let Some(reason) = choice.finish_reason.as_deref().filter(|reason| !reason.is_empty()) {
                self.finish.get_or_insert(finish(reason)?);
            }
        }
        Ok(())
    }

    /// Takes a whole answer of a server that does not stream.
    pub(super) fn whole(&mut self, body: &[u8], out: &mut VecDeque<ChatEvent>) -> Result<(), ModelError> {
        self.frame("", body, out)?;
        if !self.whole {
            return Err(ModelError::Protocol("JSON that is no answer"));
        }
        self.done = true;
        Ok(())
    }

    /// The last event: what ended it, or that it was cut.
    pub(super) fn end(&self) -> Result<ChatEvent, ModelError> {
        if !self.is_ended() {
            return Err(ModelError::Cut);
        }
        if !self.calls.are_named() {
            return Err(ModelError::Protocol("a tool call without a name"));
        }
        let finish = match (self.finish.unwrap_or(FinishReason::Stop), self.calls.is_empty()) {
            (FinishReason::Stop, false) => FinishReason::ToolCalls,
            (FinishReason::ToolCalls, true) => FinishReason::Stop,
            (finish, _) => finish,
        };
        Ok(ChatEvent::Done { finish, usage: self.usage.clone(), retries: self.retries })
    }

    fn delta(&mut self, delta: &Delta<'_>, out: &mut VecDeque<ChatEvent>) -> Result<(), ModelError> {
        if let Some(content) = delta.reasoning_content.as_ref().or(delta.reasoning.as_ref()) {
            self.content(content, ChatEvent::Reasoning, out)?;
        }
        for content in [&delta.content, &delta.refusal].into_iter().flatten() {
            self.content(content, ChatEvent::Text, out)?;
        }
        for call in &delta.tool_calls {
            self.calls.push(call, out)?;
        }
        if let Some(function) = &delta.function_call {
            let function = crate::chat::wire::Function { name: function.name.clone(), arguments: function.arguments };
            self.calls.push(&Call { index: Some(Value::from("function_call")), id: None, function: Some(function) }, out)?;
        }
        Ok(())
    }

    fn content(
        &mut self,
        content: &Content<'_>,
        kind: fn(String) -> ChatEvent,
        out: &mut VecDeque<ChatEvent>,
    ) -> Result<(), ModelError> {
        match content {
            Content::Text(text) => self.text(text, kind, out),
            Content::Pieces(pieces) => pieces.iter().try_for_each(|piece| match piece {
                Piece { thinking: Some(thinking), .. } => self.content(thinking, ChatEvent::Reasoning, out),
                Piece { text: Some(text), .. } => self.text(text, kind, out),
                Piece { .. } => Ok(()),
            }),
            Content::Other(_) => Ok(()),
        }
    }

    fn text(&mut self, text: &str, kind: fn(String) -> ChatEvent, out: &mut VecDeque<ChatEvent>) -> Result<(), ModelError> {
        if text.is_empty() {
            return Ok(());
        }
        self.text_bytes += text.len();
        if self.text_bytes > MAX_TEXT {
            return Err(ModelError::Protocol("an answer of more than 4 MiB"));
        }
        out.push_back(kind(text.to_owned()));
        Ok(())
    }
}

fn finish(reason: &str) -> Result<FinishReason, ModelError> {
    match reason {
        "tool_calls" | "function_call" | "tool_use" => Ok(FinishReason::ToolCalls),
        "length" | "max_tokens" | "model_length" => Ok(FinishReason::Length),
        "content_filter" | "safety" => Ok(FinishReason::ContentFilter),
        "error" => Err(ModelError::Unavailable("it broke off with an error".to_owned())),
        _ => Ok(FinishReason::Stop),
    }
}

#[cfg(test)]
mod tests;
