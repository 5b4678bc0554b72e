//! Values for the tests of this crate.

use std::time::Duration;

use domain::{
    ChatEvent, ChatMessage, ChatRequest, Effort, ModelError, ModelRef, OrgId, Part, Reasoning, RunId, RunIdentity, RunKey,
    ThreadId, ToolCall, ToolCallId, ToolChoice, ToolName, ToolSpec, UserId,
};
use egress::Url;
use serde_json::{Value, json};

use crate::{Api, answer::Answer, endpoint::Endpoint, provider, provider::Dialect, thinking::Thinking, wire::Decode};

pub(crate) const CALL: &str = "call_01JDXK3V8ZQ4R5S6T7V8W9X0Y1";
pub(crate) const CALL_TOO: &str = "call_01JDXK3V8ZQ4R5S6T7V8W9X0Y2";

pub(crate) fn endpoint(api: Api, provider_name: &str, name: &str, reasoning: Option<bool>) -> Endpoint {
    let dialect = provider(provider_name).map_or(Dialect::COMPATIBLE, |row| row.dialect);
    Endpoint {
        model: ModelRef { provider: provider_name.into(), name: name.into() },
        api,
        url: api.wire().url(&Url::parse("http://h/v1").unwrap(), name),
        key: None,
        thinking: Thinking::of(api, dialect.effort, name, reasoning),
        idle_timeout: Duration::from_secs(1),
        dialect,
    }
}

/// A request with one tool.
pub(crate) fn asked(messages: Vec<ChatMessage>) -> ChatRequest {
    ChatRequest {
        identity: RunIdentity {
            org: OrgId::parse("acme").unwrap(),
            user: UserId::parse("ada").unwrap(),
            thread: ThreadId::parse("t".repeat(200)).unwrap(),
            run: RunId::parse("r").unwrap(),
            key: RunKey::parse("k").unwrap(),
            attempt: 1,
            step: 1,
            parent_run: None,
            resume: Vec::new(),
            state: None,
        },
        system: "Be kind.".into(),
        messages,
        tools: vec![ToolSpec {
            name: ToolName::parse("clock").unwrap(),
            description: "The time.".into(),
            parameters: json!({"type": "object", "properties": {}}),
        }],
        tool_choice: ToolChoice::Auto,
        max_output_tokens: 2_048,
        effort: Effort::Medium,
        timeout: Duration::from_secs(60),
    }
}

pub(crate) fn user(texts: &[&str]) -> ChatMessage {
    ChatMessage::User { parts: texts.iter().map(|text| Part::Text { text: (*text).into() }).collect() }
}

pub(crate) fn assistant(text: &str, reasoning: Option<Reasoning>, calls: Vec<ToolCall>) -> ChatMessage {
    ChatMessage::Assistant { text: text.into(), reasoning, tool_calls: calls }
}

pub(crate) fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall { id: ToolCallId::parse(id).unwrap(), name: ToolName::parse("clock").unwrap(), arguments: arguments.into() }
}

pub(crate) fn result(id: &str, content: &str) -> ChatMessage {
    let (call, name) = (ToolCallId::parse(id).unwrap(), ToolName::parse("clock").unwrap());
    ChatMessage::Tool { call, name, content: content.into() }
}

/// A question, a call after some thinking, and its result.
pub(crate) fn history() -> Vec<ChatMessage> {
    let thought = Reasoning { text: "hm".into(), signature: None };
    vec![
        user(&["what time is it? 猫"]),
        assistant("", Some(thought), vec![call(CALL, r#"{"zone": "UTC"}"#)]),
        result(CALL, "12:00"),
    ]
}

pub(crate) fn body_text(endpoint: &Endpoint, request: &ChatRequest) -> String {
    String::from_utf8(endpoint.api.wire().body(endpoint, request)).unwrap()
}

pub(crate) fn body(endpoint: &Endpoint, request: &ChatRequest) -> Value {
    serde_json::from_str(&body_text(endpoint, request)).unwrap()
}

/// Events of an answer in these frames, (event, data), and its end.
pub(crate) fn read(api: Api, model: &ModelRef, frames: &[(&str, &str)]) -> (Vec<ChatEvent>, Result<ChatEvent, ModelError>) {
    let mut answer = Answer::new(model.clone());
    let mut decoder = api.wire().decoder();
    let result = frames.iter().try_for_each(|(event, data)| decoder.frame(event, data.as_bytes(), &mut answer));
    let end = result.and_then(|()| answer.end());
    (std::iter::from_fn(|| answer.pop()).collect(), end)
}

/// The same of a whole answer.
pub(crate) fn read_whole(api: Api, model: &ModelRef, body: &str) -> (Vec<ChatEvent>, Result<ChatEvent, ModelError>) {
    let mut answer = Answer::new(model.clone());
    let mut decoder: Box<dyn Decode> = api.wire().decoder();
    let result = decoder.whole(body.as_bytes(), &mut answer);
    answer.done();
    let end = result.and_then(|()| answer.end());
    (std::iter::from_fn(|| answer.pop()).collect(), end)
}

/// An answer as the transcript keeps it, its calls under our ids.
pub(crate) fn stored(events: &[ChatEvent]) -> ChatMessage {
    let (mut text, mut reasoning, mut calls) = (String::new(), Reasoning::default(), Vec::<ToolCall>::new());
    for event in events {
        match event {
            ChatEvent::Text(more) => text.push_str(more),
            ChatEvent::Reasoning(more) => reasoning.text.push_str(more),
            ChatEvent::ReasoningSignature(more) => reasoning.signature.get_or_insert_default().push_str(more),
            ChatEvent::ToolCall { .. } => calls.push(call([CALL, CALL_TOO][calls.len()], "")),
            ChatEvent::ToolArguments { index, delta } => calls[*index].arguments.push_str(delta),
            _ => {}
        }
    }
    assistant(&text, Some(reasoning), calls)
}
