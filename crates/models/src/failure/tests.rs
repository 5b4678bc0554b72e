use super::*;

#[test]
fn a_status_and_its_body_say_what_a_caller_can_do() {
    let wait = Some(Duration::from_secs(3));
    let code = |code: &str| format!(r#"{{"error":{{"code":"{code}","message":"m"}}}}"#);
    let says = |message: &str| format!(r#"{{"error":{{"message":"{message}"}}}}"#);
    for (status, body, expected) in [
        (400, code("context_length_exceeded"), ModelError::ContextTooLong),
        (400, says("This model's maximum context length is 8192 tokens"), ModelError::ContextTooLong),
        (
            400,
            r#"{"object":"error","message":"Prompt contains 9 tokens, too large for model with 8 maximum context length"}"#
                .into(),
            ModelError::ContextTooLong,
        ),
        (400, r#"{"error":{"type":"exceed_context_size_error","message":"x"}}"#.into(), ModelError::ContextTooLong),
        (413, String::new(), ModelError::ContextTooLong),
        (400, code("content_policy_violation"), ModelError::Refused),
        (403, says("your chosen model requires moderation"), ModelError::Refused),
        (400, says("messages: bad"), ModelError::Invalid { status: 400 }),
        (422, r#"{"detail":[{"loc":["body"]}]}"#.into(), ModelError::Invalid { status: 422 }),
        (404, r#"{"error":"model not found"}"#.into(), ModelError::Invalid { status: 404 }),
        (302, String::new(), ModelError::Invalid { status: 302 }),
        (401, "<html>".into(), ModelError::Auth),
        (403, String::new(), ModelError::Auth),
        (429, code("rate_limit_exceeded"), ModelError::RateLimited { retry_after: wait }),
        (503, String::new(), ModelError::Overloaded { retry_after: wait }),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#.into(),
            ModelError::ContextTooLong,
        ),
        (413, r#"{"type":"error","error":{"type":"request_too_large","message":"x"}}"#.into(), ModelError::ContextTooLong),
        (
            400,
            r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}"#.into(),
            ModelError::ContextTooLong,
        ),
        (
            400,
            r#"[{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"m","details":[{"reason":"API_KEY_INVALID"}]}}]"#.into(),
            ModelError::Auth,
        ),
        (400, code("invalid_prompt"), ModelError::Refused),
        (529, String::new(), ModelError::Overloaded { retry_after: wait }),
    ] {
        assert_eq!(of_response(status, wait, body.as_bytes()), expected, "{status} {body}");
    }
    for status in [408, 500, 502, 504] {
        assert!(matches!(of_response(status, None, b""), ModelError::Unavailable(_)), "{status}");
    }
}

#[test]
fn an_error_in_a_body_may_name_its_wait() {
    let body = br#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"x":1},{"retryDelay":"37.5s"}]}}"#;
    let named = Some(Duration::from_millis(37_500));
    assert_eq!(of_response(429, None, body), ModelError::RateLimited { retry_after: named });
    let header = Some(Duration::from_secs(1));
    assert_eq!(of_response(429, header, body), ModelError::RateLimited { retry_after: header }, "the header comes first");
    let object = serde_json::from_slice::<Value>(body).unwrap();
    assert_eq!(of_object(&object["error"]), ModelError::RateLimited { retry_after: named });
    for (kind, expected) in [
        ("overloaded_error", ModelError::Overloaded { retry_after: None }),
        ("rate_limit_error", ModelError::RateLimited { retry_after: None }),
        ("authentication_error", ModelError::Auth),
        ("request_too_large", ModelError::ContextTooLong),
        ("api_error", ModelError::Unavailable("it reported an error".into())),
        ("invalid_request_error", ModelError::Unavailable("it reported an error".into())),
    ] {
        assert_eq!(of_object(&serde_json::json!({"type": kind, "message": "leak"})), expected, "{kind}");
    }
}
