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
        (529, String::new(), ModelError::Overloaded { retry_after: wait }),
    ] {
        assert_eq!(of_response(status, wait, body.as_bytes()), expected, "{status} {body}");
    }
    for status in [408, 500, 502, 504] {
        assert!(matches!(of_response(status, None, b""), ModelError::Unavailable(_)), "{status}");
    }
}
