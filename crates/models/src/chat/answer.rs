//! One answer out of its chunks.

use std::borrow::Cow;

use domain::{FinishReason, ModelError};
use serde_json::Value;

use super::shape::{Call, Chunk, Content, Delta, Function, Piece};
use crate::{
    answer::Answer,
    calls::{self, Key},
    failure,
    wire::{Decode, object},
};

#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// A message as a whole was seen.
    whole: bool,
}

impl Decode for Decoder {
    fn frame(&mut self, event: &str, data: &[u8], answer: &mut Answer) -> Result<(), ModelError> {
        let data = data.trim_ascii();
        if answer.is_done() || data.is_empty() {
            return Ok(());
        }
        if data == b"[DONE]" {
            answer.done();
            return Ok(());
        }
        let chunk: Chunk<'_> = object(data, "an event that is no chunk of a chat")?;
        if let Some(error) = chunk.error.as_ref().filter(|error| failure::is_error(error)) {
            // After its end nothing can make an answer undone.
            return if answer.is_ended() { Ok(()) } else { Err(failure::of_object(error)) };
        }
        if event == "error" && !answer.is_ended() {
            let whole = serde_json::from_slice::<Value>(data).unwrap_or_default();
            return Err(failure::of_object(&whole));
        }
        if let Some(name) = chunk.model.as_deref() {
            answer.named(name);
        }
        if let Some(usage) = &chunk.usage {
            *answer.usage() = usage.tokens();
        }
        // Only one choice was asked for.
        for choice in chunk.choices.iter().filter(|choice| choice.index.unwrap_or(0) == 0) {
            if let Some(said) = choice.delta.as_ref().or(choice.message.as_ref()) {
                self.whole |= choice.message.is_some();
                delta(said, answer)?;
            }
            if let Some(reason) = choice.finish_reason.as_deref().filter(|reason| !reason.is_empty()) {
                answer.finish(finish(reason)?);
            }
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], answer: &mut Answer) -> Result<(), ModelError> {
        self.frame("", body, answer)?;
        if self.whole { Ok(()) } else { Err(ModelError::Protocol("JSON that is no answer")) }
    }
}

fn delta(delta: &Delta<'_>, answer: &mut Answer) -> Result<(), ModelError> {
    if let Some(thought) = delta.reasoning_content.as_ref().or(delta.reasoning.as_ref()) {
        content(thought, Answer::reasoning, answer)?;
    }
    for said in [&delta.content, &delta.refusal].into_iter().flatten() {
        content(said, Answer::text, answer)?;
    }
    for call in &delta.tool_calls {
        let Call { index, id, function } = call;
        let key = index.as_ref().filter(|index| !index.is_null());
        let key = key.map(|index| index.as_u64().map_or_else(|| Key::Text(index.to_string()), Key::Number));
        push(key, id.as_deref(), function.as_ref(), answer)?;
    }
    if let Some(function) = &delta.function_call {
        push(Some(Key::Text("function_call".to_owned())), None, Some(function), answer)?;
    }
    Ok(())
}

fn push(key: Option<Key>, id: Option<&str>, function: Option<&Function<'_>>, answer: &mut Answer) -> Result<(), ModelError> {
    let name = function.and_then(|function| function.name.as_deref()).unwrap_or_default();
    let text = function.map_or(Cow::Borrowed(""), Function::text);
    answer.call(&calls::Delta { key, id: id.unwrap_or_default(), name, text })
}

type Say = fn(&mut Answer, &str) -> Result<(), ModelError>;

fn content(content: &Content<'_>, say: Say, answer: &mut Answer) -> Result<(), ModelError> {
    match content {
        Content::Text(text) => say(answer, text),
        Content::Pieces(pieces) => pieces.iter().try_for_each(|piece| match piece {
            Piece { thinking: Some(thinking), .. } => self::content(thinking, Answer::reasoning, answer),
            Piece { text: Some(text), .. } => say(answer, text),
            Piece { .. } => Ok(()),
        }),
        Content::Other(_) => Ok(()),
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
