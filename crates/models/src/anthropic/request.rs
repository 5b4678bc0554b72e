//! The request's body.
//!
//! Its order is that of Anthropic's cache: tools, system, messages; then what may differ between two turns. Four marks
//! say up to where it is worth keeping: the tools, the system text, what the next turn will have in common with this
//! one, and the end, for the next step of this turn. But for those marks two turns share their bytes up to the new message.

use std::borrow::Cow;

use domain::{ChatMessage, ChatRequest, Effort, Part, Source, ToolChoice, ToolSpec};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use crate::{
    endpoint::Endpoint,
    history::{Ids, arguments_json, left_out},
    seal::{Piece, Stored},
    thinking::{self, Thinking},
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Row<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Mode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    max_tokens: u32,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Choice {
    None,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Mode {
    Enabled { budget_tokens: u32 },
    Adaptive { display: &'static str },
}

#[derive(Serialize)]
struct OutputConfig {
    effort: &'static str,
}

/// Everything up to here is worth keeping in the cache.
#[derive(Clone, Copy, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Mark {
    Ephemeral,
}

#[derive(Serialize)]
struct Row<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    Image {
        source: Origin<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    Document {
        source: Origin<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: &'a RawValue,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    Thinking {
        thinking: String,
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Origin<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Url { url: &'a str },
}

impl Block<'_> {
    fn mark(&mut self) {
        match self {
            Self::Text { cache_control, .. }
            | Self::Image { cache_control, .. }
            | Self::Document { cache_control, .. }
            | Self::ToolUse { cache_control, .. }
            | Self::ToolResult { cache_control, .. } => *cache_control = Some(Mark::Ephemeral),
            // Neither may carry one.
            Self::Thinking { .. } | Self::RedactedThinking { .. } => {}
        }
    }
}

fn text(text: impl Into<Cow<'static, str>>) -> Block<'static> {
    Block::Text { text: text.into(), cache_control: None }
}

/// The body's JSON text.
pub(super) fn body(endpoint: &Endpoint, request: &ChatRequest) -> Vec<u8> {
    let (mode, output_config) = mode(endpoint, request);
    let room = if mode.is_some() { endpoint.thinking.room(request.effort) } else { 0 };
    let mut tools: Vec<Tool<'_>> = request.tools.iter().map(tool).collect();
    if let Some(last) = tools.last_mut() {
        last.cache_control = Some(Mark::Ephemeral);
    }
    let system = Block::Text { text: Cow::Borrowed(&request.system), cache_control: Some(Mark::Ephemeral) };
    let body = Body {
        model: &endpoint.model.name,
        stream: true,
        tools,
        system: if request.system.trim().is_empty() { Vec::new() } else { vec![system] },
        messages: rows(endpoint, request, mode.is_some()),
        tool_choice: (request.tool_choice == ToolChoice::None && !request.tools.is_empty()).then_some(Choice::None),
        thinking: mode,
        output_config,
        max_tokens: request.max_output_tokens.saturating_add(room),
    };
    serde_json::to_vec(&body).expect("strings and JSON values always serialise")
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    Tool { name: spec.name.as_str(), description: &spec.description, input_schema: &spec.parameters, cache_control: None }
}

fn mode(endpoint: &Endpoint, request: &ChatRequest) -> (Option<Mode>, Option<OutputConfig>) {
    match endpoint.thinking {
        Thinking::Adaptive => {
            (Some(Mode::Adaptive { display: "summarized" }), Some(OutputConfig { effort: thinking::word(request.effort) }))
        }
        Thinking::Budget if request.effort > Effort::Minimal && may_think(endpoint, request) => {
            (Some(Mode::Enabled { budget_tokens: thinking::budget(request.effort) }), None)
        }
        _ => (None, None),
    }
}

/// With a budget, a turn that has called tools must begin each of its answers with the thinking that led to them. If
/// another model gave one of them, the turn goes on without thinking.
fn may_think(endpoint: &Endpoint, request: &ChatRequest) -> bool {
    let rows = request.messages.iter().rev().take_while(|message| !matches!(message, ChatMessage::User { .. }));
    rows.filter_map(|message| stored(endpoint, message)).all(|stored| {
        matches!(stored.pieces().first(), Some(Piece::Thinking { .. } | Piece::Opaque { .. })) && stored.is_sealed()
    })
}

fn stored<'a>(endpoint: &Endpoint, message: &'a ChatMessage) -> Option<Stored<'a>> {
    match message {
        ChatMessage::Assistant { text, reasoning, tool_calls } => {
            Some(Stored::new(&endpoint.model, text, reasoning.as_ref(), tool_calls))
        }
        _ => None,
    }
}

fn rows<'a>(endpoint: &Endpoint, request: &'a ChatRequest, thinking: bool) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::with_capacity(request.messages.len());
    // Row and block that end what the next turn shares with this one.
    let mut shared = None;
    for message in &request.messages {
        let (role, mut blocks) = match message {
            ChatMessage::User { parts } => ("user", parts.iter().filter_map(block).collect()),
            ChatMessage::Tool { call, content, .. } => {
                ("user", vec![Block::ToolResult { tool_use_id: Ids::Usual.of(call), content, cache_control: None }])
            }
            ChatMessage::Assistant { text, reasoning, tool_calls } => {
                let stored = Stored::new(&endpoint.model, text, reasoning.as_ref(), tool_calls);
                // The calls are borrowed from the request, not from what was read here.
                ("assistant", stored.pieces().into_iter().filter_map(|piece| answered(piece, tool_calls, thinking)).collect())
            }
        };
        if blocks.is_empty() {
            continue;
        }
        let before = rows.last().map(|row| (rows.len() - 1, row.content.len() - 1));
        let (at, from) = match rows.last_mut() {
            Some(row) if row.role == role => {
                let from = row.content.len();
                row.content.append(&mut blocks);
                (rows.len() - 1, from)
            }
            _ => {
                rows.push(Row { role, content: blocks });
                (rows.len() - 1, 0)
            }
        };
        if matches!(message, ChatMessage::User { .. }) {
            // The last part of the last message is what goes with it and is not said again.
            let last = rows[at].content.len() - 1;
            shared = if last > from { Some((at, last - 1)) } else { before };
        }
    }
    let mut mark = |(row, block): (usize, usize)| {
        if let Some(block) = rows.get_mut(row).and_then(|row| row.content.get_mut(block)) {
            block.mark();
        }
    };
    shared.into_iter().for_each(&mut mark);
    if let Some((row, block)) = rows.len().checked_sub(1).map(|row| (row, rows[row].content.len() - 1)) {
        rows[row].content[block].mark();
    }
    rows
}

/// Texts without a word are refused, in either role.
fn block(part: &Part) -> Option<Block<'_>> {
    let image = |mime: &str| matches!(mime, "image/jpeg" | "image/png" | "image/gif" | "image/webp");
    Some(match part {
        Part::Text { text } if text.trim().is_empty() => return None,
        Part::Text { text } => Block::Text { text: Cow::Borrowed(text), cache_control: None },
        Part::Image { source: Source::Data { value, mime } } if image(mime) => {
            Block::Image { source: Origin::Base64 { media_type: mime, data: value }, cache_control: None }
        }
        Part::Image { source: Source::Url { value, .. } } => {
            Block::Image { source: Origin::Url { url: value }, cache_control: None }
        }
        Part::Document { source: Source::Data { value, mime } } if mime == "application/pdf" => {
            Block::Document { source: Origin::Base64 { media_type: mime, data: value }, cache_control: None }
        }
        Part::Document { source: Source::Url { value, .. } } => {
            Block::Document { source: Origin::Url { url: value }, cache_control: None }
        }
        Part::Image { .. } => text(left_out("image")),
        Part::Document { .. } => text(left_out("document")),
        Part::Audio { .. } => text(left_out("audio")),
        Part::Video { .. } => text(left_out("video")),
    })
}

fn answered<'a>(piece: Piece<'_>, calls: &'a [domain::ToolCall], thinking: bool) -> Option<Block<'a>> {
    match piece {
        Piece::Text { text: said, .. } => (!said.trim().is_empty()).then(|| text(said.to_owned())),
        Piece::Thinking { signature: "", .. } | Piece::Thinking { .. } | Piece::Opaque { .. } if !thinking => None,
        Piece::Thinking { signature: "", .. } => None,
        Piece::Thinking { text, signature, .. } => {
            Some(Block::Thinking { thinking: text.to_owned(), signature: signature.to_owned() })
        }
        Piece::Opaque { data } => Some(Block::RedactedThinking { data: data.to_owned() }),
        Piece::Call { call, .. } => calls.iter().find(|known| known.id == call.id).map(|call| Block::ToolUse {
            id: Ids::Usual.of(&call.id),
            name: call.name.as_str(),
            input: arguments_json(call),
            cache_control: None,
        }),
    }
}

#[cfg(test)]
mod tests;
