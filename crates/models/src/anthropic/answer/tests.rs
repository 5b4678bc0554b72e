use domain::{ChatEvent, ModelRef, TokenUsage};

use super::*;
use crate::{Api, example};

fn model() -> ModelRef {
    ModelRef { provider: "anthropic".into(), name: "claude-sonnet-4-5".into() }
}

fn read(frames: &[&str]) -> (Vec<ChatEvent>, Result<ChatEvent, ModelError>) {
    let frames: Vec<_> = frames.iter().map(|data| ("", *data)).collect();
    example::read(Api::Anthropic, &model(), &frames)
}

const BEGIN: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn ends(reason: &str) -> String {
    format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":7}}}}"#
    )
}

#[test]
fn thinking_text_calls_and_usage() {
    let (events, end) = read(&[
        BEGIN,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"ZGFyaw=="}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"猫"}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"url":"x"}}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"clock","input":{}}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"1}"}}"#,
        r#"{"type":"content_block_stop","index":3}"#,
        &ends("tool_use"),
        STOP,
    ]);
    let seal = events.last().cloned();
    assert_eq!(
        events[..events.len() - 1],
        [
            ChatEvent::Model(ModelRef { name: "claude-sonnet-4-5-20250929".into(), ..model() }),
            ChatEvent::Reasoning("hm".into()),
            ChatEvent::Text("猫".into()),
            ChatEvent::ToolCall { index: 0, name: "clock".into() },
            ChatEvent::ToolArguments { index: 0, delta: "{\"a\":".into() },
            ChatEvent::ToolArguments { index: 0, delta: "1}".into() },
        ]
    );
    assert!(matches!(seal, Some(ChatEvent::ReasoningSignature(_))), "{seal:?}");
    let usage = TokenUsage {
        input_tokens: Some(1_110),
        output_tokens: Some(7),
        total_tokens: Some(1_117),
        cached_input_tokens: Some(1_000),
        cache_write_input_tokens: Some(100),
        ..TokenUsage::default()
    };
    assert_eq!(end, Ok(ChatEvent::Done { finish: FinishReason::ToolCalls, usage, retries: 0 }));
}

#[test]
fn what_was_signed_goes_back_where_it_stood() {
    let (events, _) = read(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"a"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s1"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"s2"}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"redacted_thinking","data":"dark"}}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"text","text":"so"}}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_1","name":"clock","input":{"zone":"UTC"}}}"#,
        &ends("tool_use"),
    ]);
    let endpoint = example::endpoint(Api::Anthropic, "anthropic", "claude-sonnet-4-5", None);
    let request = example::asked(vec![example::user(&["hi"]), example::stored(&events), example::result(example::CALL, "12:00")]);
    let body = example::body(&endpoint, &request);
    assert_eq!(
        body["messages"][1],
        serde_json::json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "a", "signature": "s1"},
            {"type": "thinking", "thinking": "", "signature": "s2"},
            {"type": "redacted_thinking", "data": "dark"},
            {"type": "text", "text": "so"},
            {"type": "tool_use", "id": example::CALL, "name": "clock", "input": {"zone": "UTC"}},
        ]})
    );
    assert_eq!(body["thinking"], serde_json::json!({"type": "enabled", "budget_tokens": 8_192}));
    // Another model made it: the turn goes on without thinking.
    let other = example::body(&example::endpoint(Api::Anthropic, "anthropic", "claude-opus-4-1", None), &request);
    assert_eq!(other["thinking"], Value::Null);
    assert_eq!(other["messages"][1]["content"].as_array().map(Vec::len), Some(2));
}

#[test]
fn an_answer_ends_by_its_reason_or_is_cut() {
    let end = |frames: &[&str]| {
        read(frames).1.map(|end| match end {
            ChatEvent::Done { finish, .. } => finish,
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(end(&[BEGIN]), Err(ModelError::Cut));
    assert_eq!(end(&[BEGIN, STOP]), Ok(FinishReason::Stop));
    for (reason, expected) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("pause_turn", FinishReason::Stop),
        ("tool_use", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("refusal", FinishReason::ContentFilter),
        ("a new word", FinishReason::Stop),
    ] {
        assert_eq!(end(&[BEGIN, &ends(reason)]), Ok(expected), "{reason}");
    }
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"leak"}}"#;
    assert_eq!(end(&[BEGIN, overloaded]), Err(ModelError::Overloaded { retry_after: None }));
    assert_eq!(end(&[BEGIN, &ends("end_turn"), overloaded, STOP]), Ok(FinishReason::Stop), "after the end");
    assert!(matches!(end(&[BEGIN, "[1]"]), Err(ModelError::Protocol(_))));
    assert_eq!(end(&[BEGIN, r#"{"type":"something_new","value":null}"#, &ends("end_turn")]), Ok(FinishReason::Stop));
    let unnamed = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","input":{}}}"#;
    assert!(matches!(end(&[BEGIN, unnamed, &ends("tool_use")]), Err(ModelError::Protocol(_))));
    let named = example::read(Api::Anthropic, &model(), &[("error", r#"{"error":{"type":"rate_limit_error"}}"#)]).1;
    assert_eq!(named, Err(ModelError::RateLimited { retry_after: None }));
}

#[test]
fn a_whole_answer_is_one_too() {
    let (events, end) = example::read_whole(
        Api::Anthropic,
        &model(),
        r#"{"type":"message","model":"m","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t","name":"clock","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}}"#,
    );
    assert_eq!(events.len(), 4);
    assert!(matches!(end, Ok(ChatEvent::Done { finish: FinishReason::ToolCalls, .. })), "{end:?}");
    for none in [r#"{"object":"list"}"#, "[]", "nonsense", ""] {
        assert!(matches!(example::read_whole(Api::Anthropic, &model(), none).1, Err(ModelError::Protocol(_))), "{none}");
    }
    let error = r#"{"type":"error","error":{"type":"authentication_error","message":"leak"}}"#;
    assert_eq!(example::read_whole(Api::Anthropic, &model(), error).1, Err(ModelError::Auth));
}
