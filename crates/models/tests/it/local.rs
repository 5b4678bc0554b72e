//! A real server that speaks three of the wires, where one is at hand: `FRONTDESK_TEST_LLAMA` names its address.

use std::time::Duration;

use domain::{ChatMessage, ChatRequest, FinishReason, Part, ToolCall, ToolCallId, ToolChoice, ToolName, ToolSpec};
use egress::{Client, Reach};
use models::{Api, Config, build};

use crate::support::{ask_this, request};

const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test]
#[allow(clippy::print_stdout, reason = "says that it was skipped")]
async fn a_real_server_answers_on_every_wire_it_speaks() {
    let Ok(address) = std::env::var("FRONTDESK_TEST_LLAMA") else {
        println!("skipped: FRONTDESK_TEST_LLAMA names no server");
        return;
    };
    for api in [Api::Chat, Api::Responses, Api::Anthropic] {
        let config = Config {
            base_url: Some(format!("{}/v1", address.trim_end_matches('/'))),
            name: Some("local".to_owned()),
            api: Some(api),
            idle_timeout: PATIENCE,
            ..Config::default()
        };
        let model = build(config, Client::new(Reach::Anywhere)).unwrap().unwrap();
        for request in [request(PATIENCE), after_a_call()] {
            let seen = ask_this(&*model, request).await;
            assert!(!seen.text.is_empty(), "{api:?}: {seen:?}");
            assert!(matches!(seen.end, Ok((FinishReason::Stop | FinishReason::Length, _))), "{api:?}: {seen:?}");
            assert!(seen.tokens.is_some_and(|tokens| tokens > 0), "{api:?}: it counted its tokens: {seen:?}");
        }
    }
}

/// A conversation in which a tool was called, and no more may be.
fn after_a_call() -> ChatRequest {
    let (id, name) = (ToolCallId::parse("call_01JDXK3V8ZQ4R5S6T7V8W9X0Y1").unwrap(), ToolName::parse("clock").unwrap());
    let call = ToolCall { id: id.clone(), name: name.clone(), arguments: r#"{"zone":"UTC"}"#.to_owned() };
    let mut request = request(PATIENCE);
    request.max_output_tokens = 16;
    request.tool_choice = ToolChoice::None;
    request.tools = vec![ToolSpec {
        name: name.clone(),
        description: "The time.".to_owned(),
        parameters: serde_json::json!({"type": "object", "properties": {"zone": {"type": "string"}}}),
    }];
    request.messages.extend([
        ChatMessage::Assistant { text: "One moment.".to_owned(), reasoning: None, tool_calls: vec![call] },
        ChatMessage::Tool { call: id, name, content: "12:00".to_owned() },
        ChatMessage::User { parts: vec![Part::Text { text: "and now?".to_owned() }] },
    ]);
    request
}
