use domain::{ChatEvent, ModelRef, TokenUsage};
use serde_json::json;

use super::*;
use crate::{Api, example};

fn model() -> ModelRef {
    ModelRef { provider: "gemini".into(), name: "gemini-3-flash-preview".into() }
}

fn read(frames: &[&str]) -> (Vec<ChatEvent>, Result<ChatEvent, ModelError>) {
    let frames: Vec<_> = frames.iter().map(|data| ("", *data)).collect();
    example::read(Api::Gemini, &model(), &frames)
}

const ANSWER: &[&str] = &[
    r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":9,"thoughtsTokenCount":3,"totalTokenCount":12},"modelVersion":"gemini-3-flash-preview-09","responseId":"r"}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"猫"}],"role":"model"},"index":0},{"content":{"parts":[{"text":"not asked for"}]},"index":1}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"clock","args":{"zone":"UTC"},"id":"x"},"thoughtSignature":"c2ln"},{"functionCall":{"name":"clock","args":null}}],"role":"model"}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"ZW5k"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,"cachedContentTokenCount":8,"candidatesTokenCount":4,"thoughtsTokenCount":3,"totalTokenCount":16}}"#,
];

#[test]
fn thoughts_text_calls_and_usage() {
    let (events, end) = read(ANSWER);
    assert_eq!(
        events[..events.len() - 1],
        [
            ChatEvent::Model(ModelRef { name: "gemini-3-flash-preview-09".into(), ..model() }),
            ChatEvent::Reasoning("hm".into()),
            ChatEvent::Text("猫".into()),
            ChatEvent::ToolCall { index: 0, name: "clock".into() },
            ChatEvent::ToolArguments { index: 0, delta: r#"{"zone":"UTC"}"#.into() },
            ChatEvent::ToolCall { index: 1, name: "clock".into() },
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
fn what_was_signed_goes_back_where_it_stood() {
    let (events, _) = read(ANSWER);
    let rounds = vec![
        example::user(&["hi"]),
        example::stored(&events),
        example::result(example::CALL, r#"{"time":"12:00"}"#),
        example::result(example::CALL_TOO, "noon"),
    ];
    let endpoint = example::endpoint(Api::Gemini, "gemini", "gemini-3-flash-preview", None);
    let body = example::body(&endpoint, &example::asked(rounds.clone()));
    let called = |id: &str, args: serde_json::Value| json!({"id": id, "name": "clock", "args": args});
    assert_eq!(
        body["contents"][1],
        json!({"role": "model", "parts": [
            {"text": "猫"},
            {"functionCall": called(example::CALL, json!({"zone": "UTC"})), "thoughtSignature": "c2ln"},
            {"functionCall": called(example::CALL_TOO, json!({}))},
            {"text": "", "thoughtSignature": "ZW5k"},
        ]})
    );
    let returned =
        |id: &str, response: serde_json::Value| json!({"functionResponse": {"id": id, "name": "clock", "response": response}});
    assert_eq!(
        body["contents"][2],
        json!({"role": "user", "parts": [
            returned(example::CALL, json!({"time": "12:00"})),
            returned(example::CALL_TOO, json!({"result": "noon"})),
        ]})
    );
    // Another model made it: Gemini 3 wants to be told so.
    let other = example::body(&example::endpoint(Api::Gemini, "gemini", "gemini-3-pro-preview", None), &example::asked(rounds));
    let signatures: Vec<_> =
        other["contents"][1]["parts"].as_array().unwrap().iter().map(|part| &part["thoughtSignature"]).collect();
    assert_eq!(signatures, [&json!(null), &json!("skip_thought_signature_validator"), &json!(null)]);
}

#[test]
fn an_answer_ends_by_its_reason_or_is_cut() {
    let end = |frames: &[&str]| {
        read(frames).1.map(|end| match end {
            ChatEvent::Done { finish, .. } => finish,
            other => panic!("{other:?}"),
        })
    };
    let text = r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}"#;
    let because = |reason: &str| format!(r#"{{"candidates":[{{"finishReason":"{reason}"}}]}}"#);
    assert_eq!(end(&[text]), Err(ModelError::Cut));
    for (reason, expected) in [
        ("STOP", Ok(FinishReason::Stop)),
        ("OTHER", Ok(FinishReason::Stop)),
        ("MAX_TOKENS", Ok(FinishReason::Length)),
        ("SAFETY", Ok(FinishReason::ContentFilter)),
        ("MALFORMED_FUNCTION_CALL", Err(ModelError::Protocol("a tool call that it could not write"))),
    ] {
        assert_eq!(end(&[text, &because(reason)]), expected, "{reason}");
    }
    assert_eq!(end(&[r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#]), Err(ModelError::Refused));
    let error = r#"{"error":{"code":503,"message":"leak","status":"UNAVAILABLE"}}"#;
    assert_eq!(end(&[text, error]), Err(ModelError::Overloaded { retry_after: None }));
    assert_eq!(end(&[text, &because("STOP"), error]), Ok(FinishReason::Stop), "after the end");
    assert!(matches!(end(&["[]"]), Err(ModelError::Protocol(_))));
    assert_eq!(end(&[r#"{"candidates":null}"#, r#"{"candidates":[{"content":{"parts":null}}]}"#]), Err(ModelError::Cut));
}

#[test]
fn a_whole_answer_is_one_too() {
    let read = |body: &str| example::read_whole(Api::Gemini, &model(), body).1.map(|_| ());
    let text = r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}"#;
    assert_eq!(read(text), Ok(()));
    assert_eq!(read(&format!("[{text},\n{text}]")), Ok(()));
    assert_eq!(read(r#"{"error":{"code":401,"message":"leak"}}"#), Err(ModelError::Auth));
    for none in ["{}", "[]", "nonsense", "[[]]", ""] {
        assert!(matches!(read(none), Err(ModelError::Protocol(_))), "{none}");
    }
}
