//! The request's body: instructions, tools, input; then what may differ between two turns.

use std::borrow::Cow;

use domain::{ChatMessage, ChatRequest, Part, Source, ToolCall, ToolChoice, ToolSpec, message::text_of};
use serde::Serialize;
use serde_json::Value;

use crate::{
    endpoint::Endpoint,
    history::{Ids, arguments, cache_key, data_url, left_out},
    seal::{Piece, Stored},
    thinking::{Thinking, openai_effort},
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
}

#[derive(Serialize)]
struct Reasoning {
    effort: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    /// Else a schema must keep to OpenAI's own rules.
    strict: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message { role: &'static str, content: Content<'a> },
    Reasoning { id: String, summary: Vec<Summary>, encrypted_content: String },
    FunctionCall { call_id: Cow<'a, str>, name: &'a str, arguments: &'a str },
    FunctionCallOutput { call_id: Cow<'a, str>, output: &'a str },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(String),
    Parts(Vec<Said<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Summary {
    SummaryText { text: String },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said<'a> {
    InputText {
        text: Cow<'a, str>,
    },
    /// What this conversation's answers said.
    OutputText {
        text: String,
    },
    InputImage {
        #[serde(skip_serializing_if = "Option::is_none")]
        image_url: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_id: Option<&'a str>,
    },
    InputFile {
        #[serde(skip_serializing_if = "Option::is_none")]
        filename: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_data: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_url: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_id: Option<&'a str>,
    },
}

/// The body's JSON text.
pub(super) fn body(endpoint: &Endpoint, request: &ChatRequest) -> Vec<u8> {
    let reasoning = match endpoint.thinking {
        Thinking::Effort { summary } => {
            Some(Reasoning { effort: openai_effort(&endpoint.model.name, request.effort), summary: summary.then_some("auto") })
        }
        _ => None,
    };
    let body = Body {
        model: &endpoint.model.name,
        stream: true,
        store: false,
        instructions: &request.system,
        tools: request.tools.iter().map(tool).collect(),
        input: request.messages.iter().flat_map(|message| items(endpoint, message)).collect(),
        tool_choice: (request.tool_choice == ToolChoice::None && !request.tools.is_empty()).then_some("none"),
        // Models that do not reason refuse to be asked for it.
        include: reasoning.is_some().then_some(["reasoning.encrypted_content"]),
        max_output_tokens: request.max_output_tokens.saturating_add(endpoint.thinking.room(request.effort)),
        prompt_cache_key: endpoint.dialect.cache_key.then(|| cache_key(&request.identity)),
        reasoning,
    };
    serde_json::to_vec(&body).expect("strings and JSON values always serialise")
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    let name = spec.name.as_str();
    Tool { r#type: "function", name, description: &spec.description, parameters: &spec.parameters, strict: false }
}

fn items<'a>(endpoint: &Endpoint, message: &'a ChatMessage) -> Vec<Item<'a>> {
    match message {
        ChatMessage::User { parts } => vec![Item::Message { role: "user", content: content(parts) }],
        ChatMessage::Tool { call, content, .. } => {
            vec![Item::FunctionCallOutput { call_id: Ids::Usual.of(call), output: content }]
        }
        ChatMessage::Assistant { text, reasoning, tool_calls } => {
            let stored = Stored::new(&endpoint.model, text, reasoning.as_ref(), tool_calls);
            let mut items: Vec<_> = stored.pieces().into_iter().filter_map(|piece| answered(piece, tool_calls)).collect();
            // Reasoning without what it led to is refused.
            while matches!(items.last(), Some(Item::Reasoning { .. })) {
                items.pop();
            }
            items
        }
    }
}

fn answered<'a>(piece: Piece<'_>, calls: &'a [ToolCall]) -> Option<Item<'a>> {
    match piece {
        Piece::Text { text: "", .. } | Piece::Thinking { signature: "", .. } | Piece::Opaque { .. } => None,
        Piece::Text { text, .. } => {
            let content = Content::Parts(vec![Said::OutputText { text: text.to_owned() }]);
            Some(Item::Message { role: "assistant", content })
        }
        Piece::Thinking { text, signature, id } => Some(Item::Reasoning {
            id: id.to_owned(),
            summary: if text.is_empty() { Vec::new() } else { vec![Summary::SummaryText { text: text.to_owned() }] },
            encrypted_content: signature.to_owned(),
        }),
        Piece::Call { call, .. } => calls.iter().find(|known| known.id == call.id).map(|call| Item::FunctionCall {
            call_id: Ids::Usual.of(&call.id),
            name: call.name.as_str(),
            arguments: arguments(call),
        }),
    }
}

/// A plain string where text is all there is.
fn content(parts: &[Part]) -> Content<'_> {
    if parts.iter().all(|part| matches!(part, Part::Text { .. })) {
        return Content::Text(text_of(parts));
    }
    Content::Parts(parts.iter().map(input).collect())
}

fn input(part: &Part) -> Said<'_> {
    let left_out = |what: &str| Said::InputText { text: Cow::Owned(left_out(what)) };
    let image = |url| Said::InputImage { image_url: Some(url), file_id: None };
    let (filename, file_data, file_url, file_id) = match part {
        Part::Text { text } => return Said::InputText { text: Cow::Borrowed(text) },
        Part::Image { source: Source::Data { value, mime } } => return image(Cow::Owned(data_url(mime, value))),
        Part::Image { source: Source::Url { value, .. } } => return image(Cow::Borrowed(value)),
        Part::Image { source: Source::File { value, .. } } => {
            return Said::InputImage { image_url: None, file_id: Some(value) };
        }
        Part::Audio { .. } => return left_out("audio"),
        Part::Video { .. } => return left_out("video"),
        Part::Document { source: Source::Data { value, mime } } => (Some("document"), Some(data_url(mime, value)), None, None),
        Part::Document { source: Source::Url { value, .. } } => (None, None, Some(value.as_str()), None),
        Part::Document { source: Source::File { value, .. } } => (None, None, None, Some(value.as_str())),
    };
    Said::InputFile { filename, file_data, file_url, file_id }
}

#[cfg(test)]
mod tests;
