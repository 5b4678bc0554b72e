//! One answer out of its events. Everything is said twice, in pieces and then as a whole: the pieces count, and of the
//! whole only what no piece brought.

use std::{borrow::Cow, collections::BTreeSet};

use domain::{FinishReason, ModelError};
use serde_json::{Value, value::RawValue};

use super::shape::{Event, Item, Whole};
use crate::{
    answer::Answer,
    calls::{self, Key},
    failure,
    shape::json_text,
    wire::{Decode, object},
};

/// Most items of an answer; those beyond are not read.
const MAX_ITEMS: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// Items that said something in pieces, or are over.
    said: BTreeSet<u64>,
    /// The item whose reasoning came last.
    thinking: Option<u64>,
    /// A part of the reasoning ended: the next one begins a paragraph.
    paragraph: bool,
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
        let said: Event<'_> = object(data, "an event that is none of a response")?;
        let index = said.output_index.unwrap_or(0);
        let delta = || said.delta.map_or(Cow::Borrowed(""), json_text);
        match said.kind.as_deref().unwrap_or(event) {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.say(index);
                answer.text(&delta())
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => self.think(index, &delta(), answer),
            "response.reasoning_summary_part.done" => {
                self.paragraph = true;
                Ok(())
            }
            "response.output_item.added" => match &said.item {
                Some(item) if item.kind == "function_call" => call(index, item, json_of(item.arguments), answer),
                _ => Ok(()),
            },
            "response.function_call_arguments.delta" => {
                answer.call(&calls::Delta { key: Some(Key::Number(index)), id: "", name: "", text: delta() })
            }
            "response.function_call_arguments.done" => rest_of_call(index, &json_of(said.arguments), answer),
            "response.output_item.done" => match &said.item {
                Some(item) => self.item(index, item, answer),
                None => Ok(()),
            },
            "response.created" | "response.in_progress" => {
                answer.named(said.response.as_ref().and_then(|whole| whole.model.as_deref()).unwrap_or_default());
                Ok(())
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let whole = said.response.as_ref().ok_or(ModelError::Protocol("an end that says nothing"))?;
                self.end(whole, answer)
            }
            // After its end nothing can make an answer undone.
            "error" if answer.is_ended() => Ok(()),
            "error" => {
                let whole = || serde_json::from_slice::<Value>(data).unwrap_or_default();
                Err(failure::of_object(&said.error.filter(failure::is_error).unwrap_or_else(whole)))
            }
            _ => match said.error.as_ref().filter(|error| failure::is_error(error) && !answer.is_ended()) {
                Some(error) => Err(failure::of_object(error)),
                None => Ok(()),
            },
        }
    }

    fn whole(&mut self, body: &[u8], answer: &mut Answer) -> Result<(), ModelError> {
        let whole: Whole<'_> = object(body, "JSON that is no answer")?;
        if whole.output.is_none() && !whole.error.as_ref().is_some_and(failure::is_error) {
            return Err(ModelError::Protocol("JSON that is no answer"));
        }
        self.end(&whole, answer)
    }
}

impl Decoder {
    /// Notes an item; whether it is a new one.
    fn say(&mut self, index: u64) -> bool {
        self.said.len() < MAX_ITEMS && self.said.insert(index)
    }

    fn think(&mut self, index: u64, text: &str, answer: &mut Answer) -> Result<(), ModelError> {
        self.say(index);
        if self.thinking.replace(index) != Some(index) {
            answer.sealing(0)?.set_apart();
            self.paragraph = false;
        }
        if std::mem::take(&mut self.paragraph) {
            answer.reasoning("\n\n")?;
        }
        answer.reasoning(text)
    }

    /// An item that is over, as a whole.
    fn item(&mut self, index: u64, item: &Item<'_>, answer: &mut Answer) -> Result<(), ModelError> {
        match item.kind.as_ref() {
            "message" => {
                if self.say(index) {
                    for part in item.content.iter().flatten() {
                        answer.text(part.text.as_deref().or(part.refusal.as_deref()).unwrap_or_default())?;
                    }
                }
                Ok(())
            }
            "reasoning" => self.reasoning(index, item, answer),
            "function_call" => {
                let arguments = json_of(item.arguments);
                if answer.calls().text(&Key::Number(index)).is_some() {
                    rest_of_call(index, &arguments, answer)
                } else {
                    call(index, item, arguments, answer)
                }
            }
            _ => Ok(()),
        }
    }

    fn reasoning(&mut self, index: u64, item: &Item<'_>, answer: &mut Answer) -> Result<(), ModelError> {
        if self.say(index) {
            let shown = item.summary.iter().flatten().chain(item.content.iter().flatten());
            for part in shown {
                self.think(index, part.text.as_deref().unwrap_or_default(), answer)?;
                self.paragraph = true;
            }
        }
        if let Some(seal) = item.encrypted_content.as_deref().filter(|seal| !seal.is_empty()) {
            let apart = self.thinking.replace(index) != Some(index);
            let layout = answer.sealing(seal.len())?;
            if apart {
                layout.set_apart();
            }
            layout.sign_thinking(seal, item.id.as_deref().unwrap_or_default());
        }
        self.paragraph = false;
        Ok(())
    }

    fn end(&mut self, whole: &Whole<'_>, answer: &mut Answer) -> Result<(), ModelError> {
        answer.named(whole.model.as_deref().unwrap_or_default());
        if let Some(usage) = &whole.usage {
            *answer.usage() = usage.tokens();
        }
        if let Some(error) = whole.error.as_ref().filter(|error| failure::is_error(error)) {
            return Err(failure::of_object(error));
        }
        if matches!(whole.status.as_deref(), Some("failed" | "cancelled")) {
            return Err(ModelError::Unavailable("it broke off with an error".to_owned()));
        }
        // Some send the whole answer and no pieces of it.
        if answer.progress() == 0 {
            for (index, item) in (0..).zip(whole.output.iter().flatten()) {
                self.item(index, item, answer)?;
            }
        }
        let reason = whole.incomplete_details.as_ref().and_then(|details| details.reason.as_deref());
        answer.finish(match reason {
            Some("content_filter") => FinishReason::ContentFilter,
            Some(_) => FinishReason::Length,
            None if whole.status.as_deref() == Some("incomplete") => FinishReason::Length,
            None => FinishReason::Stop,
        });
        answer.done();
        Ok(())
    }
}

fn json_of(json: Option<&RawValue>) -> Cow<'_, str> {
    json.map_or(Cow::Borrowed(""), json_text)
}

fn call(index: u64, item: &Item<'_>, text: Cow<'_, str>, answer: &mut Answer) -> Result<(), ModelError> {
    answer.call(&calls::Delta {
        key: Some(Key::Number(index)),
        id: item.call_id.as_deref().or(item.id.as_deref()).unwrap_or_default(),
        name: item.name.as_deref().unwrap_or_default(),
        text,
    })
}

/// What of the whole arguments no piece brought.
fn rest_of_call(index: u64, whole: &str, answer: &mut Answer) -> Result<(), ModelError> {
    let key = Key::Number(index);
    let rest = answer.calls().text(&key).and_then(|so_far| whole.strip_prefix(so_far)).unwrap_or_default();
    if rest.is_empty() {
        return Ok(());
    }
    let text = Cow::Owned(rest.to_owned());
    answer.call(&calls::Delta { key: Some(key), id: "", name: "", text })
}

#[cfg(test)]
mod tests;
