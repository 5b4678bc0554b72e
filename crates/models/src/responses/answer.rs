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
    said: BTreeSet<Key>,
    /// The item whose reasoning came last.
    thinking: Option<Key>,
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
        let key = || key_of(said.output_index, said.item_id.as_deref(), said.item.as_ref());
        let delta = || said.delta.map_or(Cow::Borrowed(""), json_text);
        match said.kind.as_deref().unwrap_or(event) {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.say(key());
                answer.text(&delta())
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => self.think(key(), &delta(), answer),
            "response.reasoning_summary_part.done" => {
                self.paragraph = true;
                Ok(())
            }
            "response.output_item.added" => match &said.item {
                Some(item) if item.kind == "function_call" => call(key(), item, json_of(item.arguments), answer),
                _ => Ok(()),
            },
            "response.function_call_arguments.delta" => {
                answer.call(&calls::Delta { key: Some(key()), id: "", name: "", text: delta() })
            }
            "response.function_call_arguments.done" => rest_of_call(key(), &json_of(said.arguments), answer),
            "response.output_item.done" => match &said.item {
                Some(item) => self.item(key(), item, answer),
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
    fn say(&mut self, key: Key) -> bool {
        self.said.len() < MAX_ITEMS && self.said.insert(key)
    }

    fn think(&mut self, key: Key, text: &str, answer: &mut Answer) -> Result<(), ModelError> {
        self.say(key.clone());
        if self.thinking.as_ref() != Some(&key) {
            self.thinking = Some(key);
            answer.sealing(0)?.set_apart();
            self.paragraph = false;
        }
        if std::mem::take(&mut self.paragraph) {
            answer.reasoning("\n\n")?;
        }
        answer.reasoning(text)
    }

    /// An item that is over, as a whole.
    fn item(&mut self, key: Key, item: &Item<'_>, answer: &mut Answer) -> Result<(), ModelError> {
        match item.kind.as_ref() {
            "message" => {
                if self.say(key) {
                    for part in item.content.iter().flatten() {
                        answer.text(part.text.as_deref().or(part.refusal.as_deref()).unwrap_or_default())?;
                    }
                }
                Ok(())
            }
            "reasoning" => self.reasoning(key, item, answer),
            "function_call" => {
                let arguments = json_of(item.arguments);
                if answer.calls().text(&key).is_some() {
                    rest_of_call(key, &arguments, answer)
                } else {
                    call(key, item, arguments, answer)
                }
            }
            _ => Ok(()),
        }
    }

    fn reasoning(&mut self, key: Key, item: &Item<'_>, answer: &mut Answer) -> Result<(), ModelError> {
        if self.say(key.clone()) {
            let shown = item.summary.iter().flatten().chain(item.content.iter().flatten());
            for part in shown {
                self.think(key.clone(), part.text.as_deref().unwrap_or_default(), answer)?;
                self.paragraph = true;
            }
        }
        if let Some(seal) = item.encrypted_content.as_deref().filter(|seal| !seal.is_empty()) {
            let apart = self.thinking.as_ref() != Some(&key);
            self.thinking = Some(key);
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
                self.item(Key::Number(index), item, answer)?;
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

/// How an item is told apart: by its place; some servers send only its id, and of a call only the call's.
fn key_of(place: Option<u64>, id: Option<&str>, item: Option<&Item<'_>>) -> Key {
    let own = || item.and_then(|item| item.id.as_deref().or(item.call_id.as_deref()));
    place.map(Key::Number).or_else(|| id.or_else(own).map(|id| Key::Text(id.to_owned()))).unwrap_or(Key::Number(0))
}

fn json_of(json: Option<&RawValue>) -> Cow<'_, str> {
    json.map_or(Cow::Borrowed(""), json_text)
}

fn call(key: Key, item: &Item<'_>, text: Cow<'_, str>, answer: &mut Answer) -> Result<(), ModelError> {
    answer.call(&calls::Delta {
        key: Some(key),
        id: item.call_id.as_deref().or(item.id.as_deref()).unwrap_or_default(),
        name: item.name.as_deref().unwrap_or_default(),
        text,
    })
}

/// What of the whole arguments no piece brought.
fn rest_of_call(key: Key, whole: &str, answer: &mut Answer) -> Result<(), ModelError> {
    let rest = answer.calls().text(&key).and_then(|so_far| whole.strip_prefix(so_far)).unwrap_or_default();
    if rest.is_empty() {
        return Ok(());
    }
    let text = Cow::Owned(rest.to_owned());
    answer.call(&calls::Delta { key: Some(key), id: "", name: "", text })
}

#[cfg(test)]
mod tests;
