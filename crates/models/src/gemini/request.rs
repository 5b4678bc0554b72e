//! The request's body: tools, instruction, contents; then what may differ between two turns.

use std::borrow::Cow;

use domain::{ChatMessage, ChatRequest, Effort, Part, Source, ToolCall, ToolChoice, ToolSpec};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use crate::{
    endpoint::Endpoint,
    history::{Ids, arguments_json, left_out},
    seal::{Piece, Stored},
    thinking::{self, Thinking},
};

/// What Google documents for calls that another model made: without any signature Gemini 3 refuses them.
const NOT_SIGNED: &str = "skip_thought_signature_validator";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig>,
    generation_config: Generation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig {
    function_calling_config: Calling,
}

#[derive(Serialize)]
struct Calling {
    mode: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Generation {
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    role: &'static str,
    parts: Vec<Piecewise<'a>>,
}

/// One part: exactly one of the fields, and a signature.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Piecewise<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<Inline<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_data: Option<FileData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<Returned<'a>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    thought_signature: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inline<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    file_uri: &'a str,
}

#[derive(Serialize)]
struct Call<'a> {
    id: Cow<'a, str>,
    name: &'a str,
    args: &'a RawValue,
}

#[derive(Serialize)]
struct Returned<'a> {
    id: Cow<'a, str>,
    name: &'a str,
    response: Response<'a>,
}

/// A result is an object here.
#[derive(Serialize)]
#[serde(untagged)]
enum Response<'a> {
    Object(&'a RawValue),
    Text { result: &'a str },
}

fn text(text: impl Into<Cow<'static, str>>) -> Piecewise<'static> {
    Piecewise { text: Some(text.into()), ..Piecewise::default() }
}

/// The body's JSON text.
pub(super) fn body(endpoint: &Endpoint, request: &ChatRequest) -> Vec<u8> {
    let system = Piecewise { text: Some(Cow::Borrowed(request.system.as_str())), ..Piecewise::default() };
    let declarations: Vec<_> = request.tools.iter().map(declaration).collect();
    let forbidden = request.tool_choice == ToolChoice::None && !declarations.is_empty();
    let body = Body {
        tools: if declarations.is_empty() { Vec::new() } else { vec![Tools { function_declarations: declarations }] },
        system_instruction: (!request.system.is_empty()).then(|| Content { role: "", parts: vec![system] }),
        contents: contents(endpoint, request),
        tool_config: forbidden.then_some(ToolConfig { function_calling_config: Calling { mode: "NONE" } }),
        generation_config: Generation {
            // Thoughts count as output here.
            max_output_tokens: request.max_output_tokens.saturating_add(endpoint.thinking.room(request.effort)),
            thinking_config: thinking_config(endpoint, request.effort),
        },
    };
    serde_json::to_vec(&body).expect("strings and JSON values always serialise")
}

fn declaration(spec: &ToolSpec) -> Declaration<'_> {
    Declaration { name: spec.name.as_str(), description: &spec.description, parameters_json_schema: &spec.parameters }
}

/// The pro models cannot be told not to think at all; the first of the third generation knows two levels only.
fn thinking_config(endpoint: &Endpoint, effort: Effort) -> Option<ThinkingConfig> {
    let name = endpoint.model.name.as_str();
    match endpoint.thinking {
        Thinking::Budget => {
            let budget = match effort {
                Effort::Minimal if name.contains("pro") => 128,
                Effort::Minimal => 0,
                effort => thinking::budget(effort),
            };
            Some(ThinkingConfig { include_thoughts: budget > 0, thinking_budget: Some(budget), thinking_level: None })
        }
        Thinking::Level => {
            let level = match effort {
                Effort::Medium if name.contains("gemini-3-pro") => "high",
                effort => thinking::word(effort),
            };
            Some(ThinkingConfig { include_thoughts: true, thinking_budget: None, thinking_level: Some(level) })
        }
        _ => None,
    }
}

fn contents<'a>(endpoint: &Endpoint, request: &'a ChatRequest) -> Vec<Content<'a>> {
    let mut contents: Vec<Content<'a>> = Vec::with_capacity(request.messages.len());
    let mut after_tool = false;
    for message in &request.messages {
        let is_tool = matches!(message, ChatMessage::Tool { .. });
        let (role, mut parts) = match message {
            ChatMessage::User { parts } => ("user", parts.iter().filter_map(part).collect()),
            ChatMessage::Tool { call, name, content } => {
                let object = Some(content.trim()).filter(|text| text.starts_with('{'));
                let object = object.and_then(|text| serde_json::from_str::<&RawValue>(text).ok());
                let response = object.map_or(Response::Text { result: content }, Response::Object);
                let returned = Returned { id: Ids::Usual.of(call), name: name.as_str(), response };
                ("user", vec![Piecewise { function_response: Some(returned), ..Piecewise::default() }])
            }
            ChatMessage::Assistant { text, reasoning, tool_calls } => {
                let stored = Stored::new(&endpoint.model, text, reasoning.as_ref(), tool_calls);
                let mut parts: Vec<_> = stored.pieces().into_iter().filter_map(|piece| answered(piece, tool_calls)).collect();
                let first = parts.iter_mut().find(|part| part.function_call.is_some());
                if let Some(call) = first.filter(|call| endpoint.thinking == Thinking::Level && call.thought_signature.is_empty())
                {
                    NOT_SIGNED.clone_into(&mut call.thought_signature);
                }
                ("model", parts)
            }
        };
        match contents.last_mut() {
            _ if parts.is_empty() => continue,
            // All results of a round stand together, and apart from what a person says.
            Some(content) if content.role == role && is_tool == after_tool => content.parts.append(&mut parts),
            _ => contents.push(Content { role, parts }),
        }
        after_tool = is_tool;
    }
    contents
}

fn part(part: &Part) -> Option<Piecewise<'_>> {
    let source = match part {
        Part::Text { text } if text.is_empty() => return None,
        Part::Text { text } => return Some(Piecewise { text: Some(Cow::Borrowed(text)), ..Piecewise::default() }),
        Part::Image { source } | Part::Audio { source } | Part::Video { source } | Part::Document { source } => source,
    };
    Some(match source {
        Source::Data { value, mime } => {
            Piecewise { inline_data: Some(Inline { mime_type: mime, data: value }), ..Piecewise::default() }
        }
        Source::Url { value, mime } => Piecewise {
            file_data: Some(FileData { mime_type: mime.as_deref().or_else(|| guessed(value)), file_uri: value }),
            ..Piecewise::default()
        },
        // An id of another provider's store.
        Source::File { .. } => text(left_out(match part {
            Part::Image { .. } => "image",
            Part::Audio { .. } => "audio",
            Part::Video { .. } => "video",
            Part::Document { .. } | Part::Text { .. } => "document",
        })),
    })
}

/// Gemini wants the type of what it fetches.
fn guessed(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let (_, ending) = path.rsplit_once('.')?;
    Some(match ending.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "gif" => "image/gif",
        "pdf" => "application/pdf",
        "mp3" => "audio/mp3",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        _ => return None,
    })
}

/// Thoughts themselves are not sent back: what counts of them is in the signatures.
fn answered<'a>(piece: Piece<'_>, calls: &'a [ToolCall]) -> Option<Piecewise<'a>> {
    match piece {
        Piece::Text { text: "", signature: "" } | Piece::Thinking { .. } | Piece::Opaque { .. } => None,
        Piece::Text { text: said, signature } => {
            Some(Piecewise { thought_signature: signature.to_owned(), ..text(said.to_owned()) })
        }
        Piece::Call { call, signature } => calls.iter().find(|known| known.id == call.id).map(|call| {
            let called = Call { id: Ids::Usual.of(&call.id), name: call.name.as_str(), args: arguments_json(call) };
            Piecewise { function_call: Some(called), thought_signature: signature.to_owned(), ..Piecewise::default() }
        }),
    }
}

#[cfg(test)]
mod tests;
