//! One answer out of its events.

use std::borrow::Cow;

use domain::{FinishReason, ModelError};
use serde_json::Value;

use super::shape::{Block, Delta, Event, Usage};
use crate::{
    answer::Answer,
    calls::{self, Key},
    failure,
    shape::json_text,
    wire::{Decode, object},
};

#[derive(Debug, Default)]
pub(super) struct Decoder {
    usage: Usage,
    /// A call whose arguments stood in its beginning, which counts only if none follow.
    whole_call: Option<(u64, String)>,
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
        let said: Event<'_> = object(data, "an event that is none of a message")?;
        match said.kind.as_deref().unwrap_or(event) {
            "message_start" => {
                if let Some(begun) = &said.message {
                    answer.named(begun.model.as_deref().unwrap_or_default());
                    self.count(begun.usage.as_ref(), answer);
                }
                Ok(())
            }
            "content_block_start" => match &said.content_block {
                Some(block) => self.begin(said.index.unwrap_or(0), block, answer),
                None => Ok(()),
            },
            "content_block_delta" => match &said.delta {
                Some(delta) => self.delta(said.index.unwrap_or(0), delta, answer),
                None => Ok(()),
            },
            "content_block_stop" => self.end_call(answer),
            "message_delta" => {
                self.end_call(answer)?;
                self.count(said.usage.as_ref(), answer);
                stop(said.delta.as_ref().and_then(|delta| delta.stop_reason.as_deref()), answer);
                Ok(())
            }
            "message_stop" => {
                self.end_call(answer)?;
                answer.done();
                Ok(())
            }
            // After its end nothing can make an answer undone.
            "error" if answer.is_ended() => Ok(()),
            "error" => {
                let whole = || serde_json::from_slice::<Value>(data).unwrap_or_default();
                Err(failure::of_object(&said.error.unwrap_or_else(whole)))
            }
            _ => match said.error.as_ref().filter(|error| failure::is_error(error) && !answer.is_ended()) {
                Some(error) => Err(failure::of_object(error)),
                None => Ok(()),
            },
        }
    }

    fn whole(&mut self, body: &[u8], answer: &mut Answer) -> Result<(), ModelError> {
        let said: Event<'_> = object(body, "JSON that is no answer")?;
        if let Some(error) = said.error.as_ref().filter(|error| failure::is_error(error)) {
            return Err(failure::of_object(error));
        }
        let blocks = said.content.as_ref().ok_or(ModelError::Protocol("JSON that is no answer"))?;
        answer.named(said.model.as_deref().unwrap_or_default());
        for (index, block) in (0..).zip(blocks) {
            self.begin(index, block, answer)?;
            self.end_call(answer)?;
        }
        self.count(said.usage.as_ref(), answer);
        stop(said.stop_reason.as_deref(), answer);
        Ok(())
    }
}

impl Decoder {
    fn begin(&mut self, index: u64, block: &Block<'_>, answer: &mut Answer) -> Result<(), ModelError> {
        self.end_call(answer)?;
        match block.kind.as_ref() {
            "thinking" => {
                answer.sealing(0)?.set_apart();
                answer.reasoning(block.thinking.as_deref().unwrap_or_default())?;
                sign(block.signature.as_deref(), answer)
            }
            "redacted_thinking" => {
                let data = block.data.as_deref().unwrap_or_default();
                answer.sealing(data.len())?.opaque(data);
                Ok(())
            }
            "tool_use" => {
                let input = block.input.map(json_text).filter(|text| !matches!(text.trim_ascii(), "" | "{}"));
                self.whole_call = input.map(|input| (index, input.into_owned()));
                answer.call(&calls::Delta {
                    key: Some(Key::Number(index)),
                    id: block.id.as_deref().unwrap_or_default(),
                    name: block.name.as_deref().unwrap_or_default(),
                    text: Cow::Borrowed(""),
                })
            }
            // Text; and whatever has one.
            _ => answer.text(block.text.as_deref().unwrap_or_default()),
        }
    }

    fn delta(&mut self, index: u64, delta: &Delta<'_>, answer: &mut Answer) -> Result<(), ModelError> {
        if let Some(text) = delta.text.as_deref() {
            answer.text(text)?;
        }
        if let Some(thinking) = delta.thinking.as_deref() {
            answer.reasoning(thinking)?;
        }
        sign(delta.signature.as_deref(), answer)?;
        match delta.partial_json.map(json_text) {
            Some(text) if !text.is_empty() => {
                self.whole_call = None;
                answer.call(&calls::Delta { key: Some(Key::Number(index)), id: "", name: "", text })
            }
            _ => Ok(()),
        }
    }

    fn end_call(&mut self, answer: &mut Answer) -> Result<(), ModelError> {
        match self.whole_call.take() {
            Some((index, text)) => {
                answer.call(&calls::Delta { key: Some(Key::Number(index)), id: "", name: "", text: Cow::Owned(text) })
            }
            None => Ok(()),
        }
    }

    fn count(&mut self, usage: Option<&Usage>, answer: &mut Answer) {
        if let Some(usage) = usage {
            self.usage.update(usage);
            *answer.usage() = self.usage.tokens();
        }
    }
}

fn sign(signature: Option<&str>, answer: &mut Answer) -> Result<(), ModelError> {
    if let Some(signature) = signature.filter(|signature| !signature.is_empty()) {
        answer.sealing(signature.len())?.sign_thinking(signature, "");
    }
    Ok(())
}

fn stop(reason: Option<&str>, answer: &mut Answer) {
    if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
        answer.finish(match reason {
            "tool_use" => FinishReason::ToolCalls,
            "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
            "refusal" => FinishReason::ContentFilter,
            _ => FinishReason::Stop,
        });
    }
}

#[cfg(test)]
mod tests;
