//! The shapes that come back: a chunk of a stream, a whole answer, an error. Lenient where servers differ, because one
//! unexpected `null` must not cost a turn; unknown fields are ignored.

use std::borrow::Cow;

use domain::TokenUsage;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, value::RawValue};

use crate::shape::{count, json_text, or_default};

/// A chunk or, with `message` in its choices, a whole answer.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    pub(super) choices: Vec<Choice<'a>>,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<Cow<'a, str>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<Content<'a>>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Option<Content<'a>>,
    #[serde(borrow, default)]
    pub(super) reasoning: Option<Content<'a>>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<Content<'a>>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    pub(super) tool_calls: Vec<Call<'a>>,
    /// What tool calls were called before there could be several.
    #[serde(borrow, default)]
    pub(super) function_call: Option<Function<'a>>,
}

/// Text, or Mistral's list of pieces; anything else counts as nothing.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    Pieces(#[serde(borrow)] Vec<Piece<'a>>),
    Other(IgnoredAny),
}

#[derive(Debug, Deserialize)]
pub(super) struct Piece<'a> {
    #[serde(borrow, default)]
    pub(super) text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) thinking: Option<Box<Content<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Call<'a> {
    /// A number as a rule; whatever it is, it only tells calls apart.
    #[serde(default)]
    pub(super) index: Option<Value>,
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) function: Option<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Function<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

impl Function<'_> {
    pub(super) fn text(&self) -> Cow<'_, str> {
        self.arguments.map_or(Cow::Borrowed(""), json_text)
    }
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Usage {
    #[serde(default, deserialize_with = "count")]
    prompt_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    completion_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    total_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
    #[serde(default)]
    completion_tokens_details: Option<Details>,
    /// DeepSeek's name of the cached part.
    #[serde(default, deserialize_with = "count")]
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
struct Details {
    #[serde(default, deserialize_with = "count")]
    cached_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    reasoning_tokens: Option<u64>,
}

impl Usage {
    pub(super) fn tokens(&self) -> TokenUsage {
        TokenUsage {
            input_tokens: self.prompt_tokens,
            output_tokens: self.completion_tokens,
            total_tokens: self.total_tokens,
            reasoning_tokens: self.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens),
            cached_input_tokens: self
                .prompt_tokens_details
                .as_ref()
                .and_then(|details| details.cached_tokens)
                .or(self.prompt_cache_hit_tokens),
            ..TokenUsage::default()
        }
    }
}
