//! One answer out of its chunks. A stream ends with its body: what says that it was not cut is the reason in it.

use std::borrow::Cow;

use domain::{FinishReason, ModelError};
use serde::Deserialize;

use super::shape::{Chunk, Part};
use crate::{
    answer::Answer,
    calls, failure,
    shape::json_text,
    wire::{Decode, object},
};

#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// A candidate was seen.
    begun: bool,
}

impl Decode for Decoder {
    fn frame(&mut self, _event: &str, data: &[u8], answer: &mut Answer) -> Result<(), ModelError> {
        let data = data.trim_ascii();
        if answer.is_done() || data.is_empty() {
            return Ok(());
        }
        if data == b"[DONE]" {
            answer.done();
            return Ok(());
        }
        self.chunk(&object(data, "an event that is no part of an answer")?, answer)
    }

    /// A chunk, or the list of chunks that is sent where no event stream was asked for.
    fn whole(&mut self, body: &[u8], answer: &mut Answer) -> Result<(), ModelError> {
        let nothing = ModelError::Protocol("JSON that is no answer");
        if body.trim_ascii_start().starts_with(b"[") {
            let chunks: Vec<Lenient<'_>> = serde_json::from_slice(body).map_err(|_| nothing.clone())?;
            chunks.iter().try_for_each(|Lenient(chunk)| self.chunk(chunk, answer))?;
        } else {
            self.chunk(&object(body, "JSON that is no answer")?, answer)?;
        }
        if self.begun { Ok(()) } else { Err(nothing) }
    }
}

#[derive(Deserialize)]
struct Lenient<'a>(#[serde(borrow)] Chunk<'a>);

impl Decoder {
    fn chunk(&mut self, chunk: &Chunk<'_>, answer: &mut Answer) -> Result<(), ModelError> {
        if let Some(error) = chunk.error.as_ref().filter(|error| failure::is_error(error)) {
            // After its end nothing can make an answer undone.
            return if answer.is_ended() { Ok(()) } else { Err(failure::of_object(error)) };
        }
        answer.named(chunk.model_version.as_deref().unwrap_or_default());
        if let Some(usage) = &chunk.usage_metadata {
            *answer.usage() = usage.tokens();
        }
        let blocked = chunk.prompt_feedback.as_ref().and_then(|feedback| feedback.block_reason.as_deref());
        if blocked.is_some_and(|reason| !reason.is_empty()) && !self.begun {
            return Err(ModelError::Refused);
        }
        // Only one candidate was asked for.
        let candidates = chunk.candidates.iter().flatten().filter(|candidate| candidate.index.unwrap_or(0) == 0);
        for candidate in candidates {
            self.begun = true;
            for part in candidate.content.iter().flat_map(|content| &content.parts) {
                self::part(part, answer)?;
            }
            if let Some(reason) = candidate.finish_reason.as_deref().filter(|reason| !reason.is_empty()) {
                answer.finish(finish(reason)?);
            }
        }
        Ok(())
    }
}

fn part(part: &Part<'_>, answer: &mut Answer) -> Result<(), ModelError> {
    let text = part.text.as_deref().unwrap_or_default();
    let thought = part.thought == Some(true);
    if thought {
        answer.reasoning(text)?
    } else {
        answer.text(text)?
    }
    if let Some(call) = &part.function_call {
        answer.call(&calls::Delta {
            key: None,
            id: call.id.as_deref().unwrap_or_default(),
            name: call.name.as_deref().unwrap_or_default(),
            text: call.args.map_or(Cow::Borrowed(""), json_text),
        })?;
    }
    if let Some(signature) = part.thought_signature.as_deref().filter(|signature| !signature.is_empty()) {
        let layout = answer.sealing(signature.len())?;
        match &part.function_call {
            Some(_) => layout.sign_call(signature),
            None if thought => layout.sign_thinking(signature, ""),
            None => layout.sign_text(text.len(), signature),
        }
    }
    Ok(())
}

fn finish(reason: &str) -> Result<FinishReason, ModelError> {
    match reason {
        "MAX_TOKENS" => Ok(FinishReason::Length),
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
            Ok(FinishReason::ContentFilter)
        }
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" | "MALFORMED_RESPONSE" => {
            Err(ModelError::Protocol("a tool call that it could not write"))
        }
        _ => Ok(FinishReason::Stop),
    }
}

#[cfg(test)]
mod tests;
