//! The shapes that come back: an event of a stream, or a whole response.

use std::borrow::Cow;

use domain::TokenUsage;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::shape::{count, or_default};

#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) output_index: Option<u64>,
    #[serde(borrow, default)]
    pub(super) item_id: Option<Cow<'a, str>>,
    /// A string, whatever it is a piece of.
    #[serde(borrow, default)]
    pub(super) delta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) item: Option<Item<'a>>,
    #[serde(borrow, default)]
    pub(super) response: Option<Whole<'a>>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Whole<'a> {
    #[serde(borrow, default)]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) status: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) output: Option<Vec<Item<'a>>>,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(default)]
    pub(super) error: Option<Value>,
    #[serde(borrow, default)]
    pub(super) incomplete_details: Option<Details<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Details<'a> {
    #[serde(borrow, default)]
    pub(super) reason: Option<Cow<'a, str>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Item<'a> {
    #[serde(borrow, default, rename = "type", deserialize_with = "or_default")]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) call_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) content: Option<Vec<Part<'a>>>,
    #[serde(borrow, default)]
    pub(super) summary: Option<Vec<Part<'a>>>,
    #[serde(borrow, default)]
    pub(super) encrypted_content: Option<Cow<'a, str>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Part<'a> {
    #[serde(borrow, default)]
    pub(super) text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<Cow<'a, str>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Usage {
    #[serde(default, deserialize_with = "count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    total_tokens: Option<u64>,
    #[serde(default)]
    input_tokens_details: Option<Counts>,
    #[serde(default)]
    output_tokens_details: Option<Counts>,
}

#[derive(Debug, Default, Deserialize)]
struct Counts {
    #[serde(default, deserialize_with = "count")]
    cached_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    reasoning_tokens: Option<u64>,
}

impl Usage {
    pub(super) fn tokens(&self) -> TokenUsage {
        TokenUsage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            total_tokens: self.total_tokens,
            reasoning_tokens: self.output_tokens_details.as_ref().and_then(|details| details.reasoning_tokens),
            cached_input_tokens: self.input_tokens_details.as_ref().and_then(|details| details.cached_tokens),
            ..TokenUsage::default()
        }
    }
}
