use domain::{ChatEvent, ModelRef, TokenUsage};

use super::*;
use crate::{Api, answer::MAX_TEXT, example};

fn model() -> ModelRef {
    ModelRef { provider: "p".into(), name: "m".into() }
}

/// Events of the frames, then the end.
fn read(frames: &[&str]) -> (Vec<ChatEvent>, Result<ChatEvent, ModelError>) {
    let frames: Vec<_> = frames.iter().map(|data| ("", *data)).collect();
    example::read(Api::Chat, &model(), &frames)
}

fn end_of(frames: &[&str]) -> Result<FinishReason, ModelError> {
    read(frames).1.map(|end| match end {
        ChatEvent::Done { finish, retries: 0, .. } => finish,
        other => panic!("{other:?}"),
    })
}

#[test]
fn text_reasoning_model_and_usage() {
    let (events, end) = read(&[
        r#"{"id":"x","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
        r#"{"model":"m-1","choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}"#,
        r#"{"model":"m-1","choices":[{"index":0,"delta":{"content":"猫\ud83e\udd80","tool_calls":null}}]}"#,
        r#"{"choices":[{"index":1,"delta":{"content":"not asked for"}}]}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"so"}]},{"type":"text","text":"!"}]},"finish_reason":"stop"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":8,"audio_tokens":null},"completion_tokens_details":{"reasoning_tokens":2}}}"#,
        "[DONE]",
        r#"{"choices":[{"delta":{"content":"after the end"}}]}"#,
    ]);
    let expected = [
        ChatEvent::Model(ModelRef { provider: "p".into(), name: "m-1".into() }),
        ChatEvent::Reasoning("hm".into()),
        ChatEvent::Text("猫🦀".into()),
        ChatEvent::Reasoning("so".into()),
        ChatEvent::Text("!".into()),
    ];
    assert_eq!(events, expected);
    let usage = TokenUsage {
        input_tokens: Some(9),
        output_tokens: Some(4),
        total_tokens: Some(13),
        cached_input_tokens: Some(8),
        reasoning_tokens: Some(2),
        ..TokenUsage::default()
    };
    assert_eq!(end, Ok(ChatEvent::Done { finish: FinishReason::Stop, usage, retries: 0 }));
}

#[test]
fn an_answer_ends_by_its_reason_or_is_cut() {
    let text = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"t","arguments":"{}"}}]}}]}"#;
    let reason = |reason: &str| format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{reason}"}}]}}"#);
    assert_eq!(end_of(&[text]), Err(ModelError::Cut));
    assert_eq!(end_of(&[]), Err(ModelError::Cut));
    assert_eq!(end_of(&[text, "[DONE]"]), Ok(FinishReason::Stop));
    assert_eq!(end_of(&[call, "[DONE]"]), Ok(FinishReason::ToolCalls));
    for (word, expected) in [
        ("stop", FinishReason::Stop),
        ("tool_calls", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("a new word", FinishReason::Stop),
    ] {
        assert_eq!(end_of(&[text, &reason(word)]), Ok(expected), "{word}");
    }
    assert_eq!(end_of(&[call, &reason("stop")]), Ok(FinishReason::ToolCalls));
    assert_eq!(end_of(&[call, &reason("length")]), Ok(FinishReason::Length));
    assert!(matches!(end_of(&[text, &reason("error")]), Err(ModelError::Unavailable(_))));
    let nameless =
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    assert!(matches!(end_of(&[nameless]), Err(ModelError::Protocol(_))));
}

#[test]
fn an_error_in_the_stream_ends_it_and_what_came_before_counts() {
    let text = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
    let (events, end) = read(&[text, r#"{"error":{"message":"Overloaded sk-1","type":"overloaded_error"}}"#]);
    assert_eq!((events.len(), end), (1, Err(ModelError::Overloaded { retry_after: None })));
    assert_eq!(end_of(&[r#"{"error":{"code":429,"message":"x"}}"#]), Err(ModelError::RateLimited { retry_after: None }));
    assert_eq!(end_of(&[r#"{"error":"context length exceeded"}"#]), Err(ModelError::ContextTooLong));
    assert!(matches!(end_of(&[r#"{"error":{"message":"boom"}}"#]), Err(ModelError::Unavailable(_))));
    assert_eq!(end_of(&[r#"{"error":null,"choices":[]}"#, "[DONE]"]), Ok(FinishReason::Stop));
    assert!(matches!(end_of(&["{"]), Err(ModelError::Protocol(_))));
    assert!(matches!(end_of(&["[]"]), Err(ModelError::Protocol(_))));
    let named = example::read(Api::Chat, &model(), &[("error", r#"{"message":"no capacity","code":"rate_limit"}"#)]).1;
    assert_eq!(named, Err(ModelError::RateLimited { retry_after: None }));
}

#[test]
fn the_old_function_call_is_a_call() {
    let (events, end) = read(&[
        r#"{"choices":[{"delta":{"function_call":{"name":"t","arguments":"{"}}}]}"#,
        r#"{"choices":[{"delta":{"function_call":{"arguments":"}"}},"finish_reason":"function_call"}]}"#,
    ]);
    assert_eq!(events.len(), 3);
    assert!(matches!(end, Ok(ChatEvent::Done { finish: FinishReason::ToolCalls, .. })));
}

#[test]
fn a_whole_answer_is_one_too() {
    let read = |body: &str| {
        let (events, end) = example::read_whole(Api::Chat, &model(), body);
        end.map(|_| events.len())
    };
    assert_eq!(read(r#"{"choices":[{"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}"#), Ok(1));
    assert_eq!(
        read(r#"{"choices":[{"message":{"content":null,"tool_calls":[{"id":"p","function":{"name":"t","arguments":"{}"}}]}}]}"#),
        Ok(2)
    );
    for none in [r#"{"object":"list","data":[]}"#, r#"{"detail":"Not Found"}"#, "[]", "nonsense", ""] {
        assert!(matches!(read(none), Err(ModelError::Protocol(_))), "{none}");
    }
    assert_eq!(read(r#"{"error":{"code":"invalid_api_key"}}"#), Err(ModelError::Auth));
}

#[test]
fn an_answer_has_a_bound() {
    let piece = "x".repeat(MAX_TEXT / 5);
    let frame = format!(r#"{{"choices":[{{"delta":{{"content":"{piece}"}}}}]}}"#);
    let (events, end) = read(&[frame.as_str(); 6]);
    assert_eq!((events.len(), end), (5, Err(ModelError::Protocol("an answer of more than 4 MiB"))));
}
