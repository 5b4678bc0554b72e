use http_body_util::BodyExt;
use serde_json::{Value, json};

use super::*;

async fn read(error: ApiError) -> (Response<()>, Value) {
    let (parts, body) = error.into_response().into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    (Response::from_parts(parts, ()), serde_json::from_slice(&bytes).unwrap())
}

#[tokio::test]
async fn a_refusal_is_a_problem_document() {
    let (head, body) = read(ApiError::input("messages[0].id", "is missing")).await;
    assert_eq!(head.status(), 422);
    assert_eq!(head.headers()["content-type"], "application/problem+json");
    assert!(head.headers().get("retry-after").is_none());
    assert_eq!(
        body,
        json!({"type": "urn:frontdesk:problem:invalid-input", "title": "Invalid input", "status": 422,
               "detail": "messages[0].id: is missing", "code": "invalid-input"})
    );
}

#[tokio::test]
async fn waiting_times_are_whole_seconds_on_429_and_503() {
    for (wait, shown) in [(None, "1"), (Some(Duration::from_millis(2_001)), "3"), (Some(Duration::from_secs(7)), "7")] {
        for code in [Code::RateLimited, Code::Overloaded, Code::NoWorker, Code::ModelUnconfigured] {
            let mut error = ApiError::new(code, "later");
            error.retry_after = wait;
            assert_eq!(read(error).await.0.headers()["retry-after"], shown);
        }
    }
}

#[tokio::test]
async fn a_challenge_tells_a_missing_token_from_a_bad_one() {
    for (challenge, text) in [(Challenge::Missing, "Bearer"), (Challenge::InvalidToken, "Bearer error=\"invalid_token\"")] {
        let mut error = ApiError::new(Code::Unauthenticated, "no");
        error.challenge = challenge;
        assert_eq!(read(error).await.0.headers()["www-authenticate"], text);
    }
}

#[tokio::test]
async fn a_code_of_streams_never_refuses_with_success() {
    for code in Code::ALL {
        let (head, body) = read(ApiError::new(*code, "x")).await;
        assert!(head.status().as_u16() >= 400, "{code}");
        assert_eq!(body["status"], head.status().as_u16());
    }
}

#[test]
fn an_excerpt_is_short_and_escaped() {
    assert_eq!(excerpt("a\nb", 10), "a\\nb");
    assert_eq!(excerpt("abcdef", 3), "abc…");
}
