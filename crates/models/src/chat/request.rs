//! The request's body: pure, and the same bytes for the same conversation.
//!
//! Keys stand in one order, and whatever may differ between two turns of a thread stands after the messages: the
//! bodies of two turns are equal up to the new message, and so is what a provider caches.

use std::borrow::Cow;

use domain::{ChatMessage, ChatRequest, Part, Source, ToolCallId, ToolChoice, ToolSpec, message::text_of};
use serde::Serialize;
use serde_json::Value;

use crate::{
    endpoint::Endpoint,
    history::{Ids, arguments, cache_key, data_url, left_out},
    thinking::{Thinking, openai_effort},
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Row<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Definition<'a>,
}

#[derive(Serialize)]
struct Definition<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Row<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        /// `null` beside calls: an empty text is refused by some, a missing one by others.
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: &'a str,
    },
}

#[derive(Serialize)]
struct Call<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: Called<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(String),
    Pieces(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Piece<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: Address<'a> },
    InputAudio { input_audio: Audio<'a> },
    File { file: File<'a> },
}

#[derive(Serialize)]
struct Address<'a> {
    url: Cow<'a, str>,
}

#[derive(Serialize)]
struct Audio<'a> {
    data: &'a str,
    format: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum File<'a> {
    Data { filename: &'static str, file_data: String },
    Id { file_id: &'a str },
}

/// The body's JSON text.
pub(super) fn body(endpoint: &Endpoint, request: &ChatRequest) -> Vec<u8> {
    let dialect = endpoint.dialect;
    let most = request.max_output_tokens.saturating_add(endpoint.thinking.room(request.effort));
    let limit = |field: &str| (dialect.max_tokens == field).then_some(most);
    let body = Body {
        model: &endpoint.model.name,
        stream: true,
        stream_options: dialect.stream_options.then_some(StreamOptions { include_usage: true }),
        tools: request.tools.iter().map(tool).collect(),
        messages: rows(endpoint, request),
        tool_choice: (request.tool_choice == ToolChoice::None && !request.tools.is_empty()).then_some("none"),
        reasoning_effort: (endpoint.thinking != Thinking::Unsaid).then(|| openai_effort(&endpoint.model.name, request.effort)),
        max_tokens: limit("max_tokens"),
        max_completion_tokens: limit("max_completion_tokens"),
        prompt_cache_key: dialect.cache_key.then(|| cache_key(&request.identity)),
    };
    serde_json::to_vec(&body).expect("strings and JSON values always serialise")
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    let function = Definition { name: spec.name.as_str(), description: &spec.description, parameters: &spec.parameters };
    Tool { r#type: "function", function }
}

fn rows<'a>(endpoint: &Endpoint, request: &'a ChatRequest) -> Vec<Row<'a>> {
    let mut rows = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        rows.push(Row::System { content: &request.system });
    }
    let ids = if endpoint.dialect.short_ids { Ids::Nine } else { Ids::Usual };
    let id = |id: &'a ToolCallId| ids.of(id);
    rows.extend(request.messages.iter().filter_map(|message| {
        match message {
            ChatMessage::User { parts } => Some(Row::User { content: content(endpoint.dialect.files, parts) }),
            // A row without text and calls says nothing, and is refused by some.
            ChatMessage::Assistant { text, tool_calls, .. } if text.is_empty() && tool_calls.is_empty() => None,
            ChatMessage::Assistant { text, tool_calls, .. } => Some(Row::Assistant {
                content: (!text.is_empty()).then_some(text),
                tool_calls: tool_calls
                    .iter()
                    .map(|call| Call {
                        id: id(&call.id),
                        r#type: "function",
                        function: Called { name: call.name.as_str(), arguments: arguments(call) },
                    })
                    .collect(),
            }),
            ChatMessage::Tool { call, content, .. } => Some(Row::Tool { tool_call_id: id(call), content }),
        }
    }));
    rows
}

/// A plain string where text is all there is: every server takes that.
fn content(files: bool, parts: &[Part]) -> Content<'_> {
    if parts.iter().all(|part| matches!(part, Part::Text { .. })) {
        return Content::Text(text_of(parts));
    }
    Content::Pieces(parts.iter().map(|part| piece(files, part)).collect())
}

fn piece(files: bool, part: &Part) -> Piece<'_> {
    let left_out = |what: &str| Piece::Text { text: Cow::Owned(left_out(what)) };
    match part {
        Part::Text { text } => Piece::Text { text: Cow::Borrowed(text) },
        Part::Image { source: Source::Data { value, mime } } => {
            Piece::ImageUrl { image_url: Address { url: Cow::Owned(data_url(mime, value)) } }
        }
        Part::Image { source: Source::Url { value, .. } } => Piece::ImageUrl { image_url: Address { url: Cow::Borrowed(value) } },
        Part::Image { .. } => left_out("image"),
        Part::Audio { source: Source::Data { value, mime } } => match audio_format(mime) {
            Some(format) => Piece::InputAudio { input_audio: Audio { data: value, format } },
            None => left_out("audio"),
        },
        Part::Audio { .. } => left_out("audio"),
        Part::Video { .. } => left_out("video"),
        Part::Document { source: Source::Data { value, mime } } if files => {
            Piece::File { file: File::Data { filename: "document", file_data: data_url(mime, value) } }
        }
        Part::Document { source: Source::File { value, .. } } if files => Piece::File { file: File::Id { file_id: value } },
        Part::Document { .. } => left_out("document"),
    }
}

fn audio_format(mime: &str) -> Option<&'static str> {
    match mime {
        "audio/wav" | "audio/x-wav" | "audio/wave" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
