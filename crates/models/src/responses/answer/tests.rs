use domain::{ChatEvent, ChatMessage, ModelRef, TokenUsage};
use serde_json::json;

use super::*;
use crate::{Api, example};

fn model() -> ModelRef {
    ModelRef { provider: "openai".into(), name: "gpt-5".into() }
}

fn read(frames: &[&str]) -> (Vec<ChatEvent>, Result<ChatEvent, ModelError>) {
    let frames: Vec<_> = frames.iter().map(|data| ("", *data)).collect();
    example::read(Api::Responses, &model(), &frames)
}

const DONE: &str = r#"{"type":"response.completed","response":{"id":"resp_1","status":"completed","model":"gpt-5-2025","usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":8},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":16}}}"#;

const ANSWER: &[&str] = &[
    r#"{"type":"response.created","response":{"id":"resp_1","model":"gpt-5-2025","status":"in_progress","output":[],"error":null}}"#,
    r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}"#,
    r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"hm"}"#,
    r#"{"type":"response.reasoning_summary_part.done","item_id":"rs_1","output_index":0,"summary_index":0}"#,
    r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"so"}"#,
    r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"},{"type":"summary_text","text":"so"}],"encrypted_content":"ZW5j"}}"#,
    r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}"#,
    r#"{"type":"response.content_part.added","output_index":1,"content_index":0,"part":{"type":"output_text","text":""}}"#,
    r#"{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"猫","logprobs":[]}"#,
    r#"{"type":"response.output_text.done","output_index":1,"content_index":0,"text":"猫"}"#,
    r#"{"type":"response.output_item.done","output_index":1,"item":{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"猫"}]}}"#,
    r#"{"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_a","name":"clock","arguments":""}}"#,
    r#"{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"a\":"}"#,
    r#"{"type":"response.function_call_arguments.done","output_index":2,"arguments":"{\"a\":1}"}"#,
    r#"{"type":"response.output_item.done","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_a","name":"clock","arguments":"{\"a\":1}"}}"#,
    DONE,
];

#[test]
fn reasoning_text_calls_and_usage() {
    let (events, end) = read(ANSWER);
    assert_eq!(
        events[..events.len() - 1],
        [
            ChatEvent::Model(ModelRef { name: "gpt-5-2025".into(), ..model() }),
            ChatEvent::Reasoning("hm".into()),
            ChatEvent::Reasoning("\n\n".into()),
            ChatEvent::Reasoning("so".into()),
            ChatEvent::Text("猫".into()),
            ChatEvent::ToolCall { index: 0, name: "clock".into() },
            ChatEvent::ToolArguments { index: 0, delta: "{\"a\":".into() },
            ChatEvent::ToolArguments { index: 0, delta: "1}".into() },
        ]
    );
    let usage = TokenUsage {
        input_tokens: Some(9),
        output_tokens: Some(7),
        total_tokens: Some(16),
        reasoning_tokens: Some(3),
        cached_input_tokens: Some(8),
        ..TokenUsage::default()
    };
    assert_eq!(end, Ok(ChatEvent::Done { finish: FinishReason::ToolCalls, usage, retries: 0 }));
}

#[test]
fn what_was_encrypted_goes_back_where_it_stood() {
    let (events, _) = read(ANSWER);
    let messages = vec![example::user(&["hi"]), example::stored(&events), example::result(example::CALL, "12:00")];
    let endpoint = example::endpoint(Api::Responses, "openai", "gpt-5", None);
    let body = example::body(&endpoint, &example::asked(messages.clone()));
    assert_eq!(
        body["input"],
        json!([
            {"type": "message", "role": "user", "content": "hi"},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm\n\nso"}], "encrypted_content": "ZW5j"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "猫"}]},
            {"type": "function_call", "call_id": example::CALL, "name": "clock", "arguments": "{\"a\":1}"},
            {"type": "function_call_output", "call_id": example::CALL, "output": "12:00"},
        ])
    );
    let other = example::body(&example::endpoint(Api::Responses, "openai", "gpt-5-mini", None), &example::asked(messages));
    assert_eq!(other["input"].as_array().map(Vec::len), Some(4));
    // Reasoning that led to nothing is refused.
    let (events, _) = read(&[ANSWER[5], DONE]);
    let body = example::body(&endpoint, &example::asked(vec![example::user(&["hi"]), example::stored(&events)]));
    assert_eq!(body["input"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_comes_only_as_a_whole_counts_once() {
    let text = |events: &[ChatEvent]| -> String {
        events.iter().filter_map(|event| if let ChatEvent::Text(text) = event { Some(text.as_str()) } else { None }).collect()
    };
    // Items without pieces.
    let (events, _) = read(&[ANSWER[10], ANSWER[14], DONE]);
    assert_eq!((text(&events).as_str(), events.len()), ("猫", 4));
    // An end that holds it all.
    let output = r#"[{"type":"message","content":[{"type":"output_text","text":"猫"}]},{"type":"function_call","call_id":"c","name":"clock","arguments":"{}"}]"#;
    let end = format!(r#"{{"type":"response.completed","response":{{"status":"completed","output":{output}}}}}"#);
    let (events, last) = read(&[&end]);
    assert_eq!((text(&events).as_str(), events.len()), ("猫", 3));
    assert!(matches!(last, Ok(ChatEvent::Done { finish: FinishReason::ToolCalls, .. })), "{last:?}");
    let (events, _) = read(&[ANSWER[8], &end]);
    assert_eq!(text(&events), "猫", "pieces came already");
    let body = format!(r#"{{"object":"response","status":"completed","output":{output}}}"#);
    assert_eq!(example::read_whole(Api::Responses, &model(), &body).0.len(), 3);
    for none in [r#"{"object":"list"}"#, "[]", "nonsense", ""] {
        assert!(matches!(example::read_whole(Api::Responses, &model(), none).1, Err(ModelError::Protocol(_))), "{none}");
    }
}

#[test]
fn an_answer_ends_by_its_reason_or_is_cut() {
    let end = |frames: &[&str]| {
        read(frames).1.map(|end| match end {
            ChatEvent::Done { finish, .. } => finish,
            other => panic!("{other:?}"),
        })
    };
    let text = ANSWER[8];
    assert_eq!(end(&[text]), Err(ModelError::Cut));
    assert_eq!(end(&[text, DONE]), Ok(FinishReason::Stop));
    let incomplete = |reason: &str| {
        format!(
            r#"{{"type":"response.incomplete","response":{{"status":"incomplete","incomplete_details":{{"reason":"{reason}"}}}}}}"#
        )
    };
    assert_eq!(end(&[text, &incomplete("max_output_tokens")]), Ok(FinishReason::Length));
    assert_eq!(end(&[text, &incomplete("content_filter")]), Ok(FinishReason::ContentFilter));
    let failed =
        r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"leak"}}}"#;
    assert_eq!(end(&[text, failed]), Err(ModelError::RateLimited { retry_after: None }));
    let silent = r#"{"type":"response.failed","response":{"status":"failed","error":null}}"#;
    assert!(matches!(end(&[text, silent]), Err(ModelError::Unavailable(_))));
    for error in [
        r#"{"type":"error","code":"context_length_exceeded","message":"leak","param":null}"#,
        r#"{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded"}}"#,
    ] {
        assert_eq!(end(&[text, error]), Err(ModelError::ContextTooLong), "{error}");
    }
    assert!(matches!(end(&[text, r#"{"type":"response.completed"}"#]), Err(ModelError::Protocol(_))));
    let refusal = r#"{"type":"response.refusal.delta","output_index":0,"delta":"I cannot."}"#;
    assert_eq!(read(&[refusal, DONE]).0[0], ChatEvent::Text("I cannot.".into()));
}

#[test]
fn items_without_a_place_are_told_apart_by_their_ids() {
    let (events, end) = read(&[
        r#"{"type":"response.output_item.added","item":{"id":"rs_1","type":"reasoning"}}"#,
        r#"{"type":"response.reasoning_text.delta","item_id":"rs_1","delta":"hm"}"#,
        r#"{"type":"response.output_item.done","item":{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"a"}]}}"#,
        r#"{"type":"response.output_item.added","item":{"type":"function_call","call_id":"fc_1","name":"one","arguments":""}}"#,
        r#"{"type":"response.output_item.added","item":{"type":"function_call","call_id":"fc_2","name":"two","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{\"a\":"}"#,
        r#"{"type":"response.function_call_arguments.delta","item_id":"fc_2","delta":"{}"}"#,
        r#"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"fc_1","name":"one","arguments":"{\"a\":1}"}}"#,
        r#"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"fc_2","name":"two","arguments":"{}"}}"#,
        DONE,
    ]);
    let ChatMessage::Assistant { text, tool_calls, .. } = example::stored(&events) else { panic!() };
    let calls: Vec<_> = tool_calls.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!((text.as_str(), calls), ("a", vec!["{\"a\":1}", "{}"]));
    assert!(end.is_ok());
}
