//! Errors by what a caller can do about them. A provider's words are read here and go no further.

use std::time::Duration;

use domain::ModelError;
use serde_json::Value;

use crate::retry;

/// A response with another status than success.
pub(crate) fn of_response(status: u16, retry_after: Option<Duration>, body: &[u8]) -> ModelError {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    // Gemini wraps it in a list where it would have answered with one.
    let body = body.get(0).unwrap_or(&body);
    let object = body.get("error").filter(|error| is_error(error)).unwrap_or(body);
    let words = Words::read(object);
    log(Some(status), &words);
    classify(status, retry_after.or(words.delay), &words)
}

/// An error object in a body or stream whose status said success.
pub(crate) fn of_object(error: &Value) -> ModelError {
    let words = Words::read(error);
    log(None, &words);
    match words.status() {
        // No such status came: what it says of itself tells the kind, not the number.
        Some(status) => match classify(status, words.delay, &words) {
            ModelError::Invalid { .. } => ModelError::Unavailable("it reported an error".to_owned()),
            error => error,
        },
        None if words.context_too_long() => ModelError::ContextTooLong,
        None if words.refused() => ModelError::Refused,
        None => ModelError::Unavailable("it reported an error".to_owned()),
    }
}

/// Whether the value of a key `error` is one: some servers always send the key.
pub(crate) fn is_error(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => false,
    }
}

fn classify(status: u16, retry_after: Option<Duration>, words: &Words) -> ModelError {
    match status {
        400 | 403 | 422 | 500 if words.context_too_long() => ModelError::ContextTooLong,
        400 | 403 | 422 if words.refused() => ModelError::Refused,
        // Gemini's word for a wrong key.
        400 if words.code.contains("api_key") => ModelError::Auth,
        401 | 403 => ModelError::Auth,
        408 => ModelError::Unavailable("it gave up waiting".to_owned()),
        413 => ModelError::ContextTooLong,
        429 => ModelError::RateLimited { retry_after },
        503 | 529 => ModelError::Overloaded { retry_after },
        500..=599 => ModelError::Unavailable(format!("it answered with status {status}")),
        _ => ModelError::Invalid { status },
    }
}

/// What an error says of itself, lower case.
struct Words {
    code: String,
    kind: String,
    message: String,
    number: Option<u64>,
    /// How long it asks to wait.
    delay: Option<Duration>,
}

impl Words {
    fn read(error: &Value) -> Self {
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
        let number = ["code", "status", "status_code"].into_iter().find_map(|key| {
            let value = error.get(key)?;
            value.as_u64().or_else(|| value.as_str()?.parse().ok())
        });
        let message = error.as_str().map_or_else(|| text("message"), str::to_ascii_lowercase);
        // Google's errors say more in a list of details, each of its own shape.
        let details = error.get("details").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let detail = |key: &str| details.iter().take(16).find_map(|detail| detail.get(key)?.as_str());
        let code = Some(text("code")).filter(|code| !code.is_empty());
        let kind = Some(text("type")).filter(|kind| !kind.is_empty());
        Self {
            code: code.or_else(|| detail("reason").map(str::to_ascii_lowercase)).unwrap_or_default(),
            kind: kind.unwrap_or_else(|| text("status")),
            message,
            number,
            delay: detail("retryDelay").and_then(|delay| delay.strip_suffix('s')).and_then(retry::seconds_of),
        }
    }

    /// The HTTP status it stands for.
    fn status(&self) -> Option<u16> {
        if let Some(number) = self.number.and_then(|number| u16::try_from(number).ok()).filter(|n| (400..600).contains(n)) {
            return Some(number);
        }
        let names = |known: &[&str]| known.iter().any(|word| self.code.contains(word) || self.kind.contains(word));
        let known: &[(&[&str], u16)] = &[
            (&["rate_limit", "too_many_requests", "insufficient_quota", "resource_exhausted"], 429),
            (&["overloaded", "capacity", "unavailable"], 503),
            (&["authentication", "api_key", "permission", "unauthenticated"], 401),
            (&["too_large"], 413),
            (&["invalid_request", "bad_request", "invalid_argument"], 400),
        ];
        known.iter().find(|(words, _)| names(words)).map(|(_, status)| *status)
    }

    fn context_too_long(&self) -> bool {
        const CODES: &[&str] = &["context_length_exceeded", "context_window_exceeded", "exceed_context_size"];
        const PHRASES: &[&str] = &[
            "context length",
            "context window",
            "context size",
            "prompt is too long",
            "prompt too long",
            "too many tokens",
            "reduce the length of the messages",
            "too large for model",
            "exceed context limit",
            "exceeds the maximum number of tokens",
        ];
        CODES.iter().any(|code| self.code.contains(code) || self.kind.contains(code))
            || PHRASES.iter().any(|phrase| self.message.contains(phrase))
    }

    fn refused(&self) -> bool {
        const CODES: &[&str] =
            &["content_policy", "content_filter", "moderation", "safety", "prohibited_content", "invalid_prompt"];
        const PHRASES: &[&str] = &["content management policy", "content policy", "requires moderation", "usage policies"];
        CODES.iter().any(|code| self.code.contains(code) || self.kind.contains(code))
            || PHRASES.iter().any(|phrase| self.message.contains(phrase))
    }
}

/// The code only if it is a plain word: no key and no sentence is made of small letters and underscores alone.
fn log(status: Option<u16>, words: &Words) {
    let word = |text: &'_ str| text.len() <= 48 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let code = [&words.code, &words.kind].into_iter().find(|text| !text.is_empty() && word(text)).map_or("", String::as_str);
    tracing::warn!(status, code, "the model's provider reported an error");
}

#[cfg(test)]
mod tests;
