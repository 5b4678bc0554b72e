//! Errors by what a caller can do about them. A provider's words are read here and go no further.

use std::time::Duration;

use domain::ModelError;
use serde_json::Value;

/// A response with another status than success.
pub(super) fn of_response(status: u16, retry_after: Option<Duration>, body: &[u8]) -> ModelError {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let object = body.get("error").filter(|error| is_error(error)).unwrap_or(&body);
    let words = Words::read(object);
    log(Some(status), &words);
    classify(status, retry_after, &words)
}

/// An error object in a body or stream whose status said success.
pub(super) fn of_object(error: &Value) -> ModelError {
    let words = Words::read(error);
    log(None, &words);
    match words.status() {
        // No such status came: what it says of itself tells the kind, not the number.
        Some(status) => match classify(status, None, &words) {
            ModelError::Invalid { .. } => ModelError::Unavailable("it reported an error".to_owned()),
            error => error,
        },
        None if words.context_too_long() => ModelError::ContextTooLong,
        None if words.refused() => ModelError::Refused,
        None => ModelError::Unavailable("it reported an error".to_owned()),
    }
}

/// Whether the value of a key `error` is one: some servers always send the key.
pub(super) fn is_error(value: &Value) -> bool {
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
}

impl Words {
    fn read(error: &Value) -> Self {
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
        let number = ["code", "status", "status_code"].into_iter().find_map(|key| {
            let value = error.get(key)?;
            value.as_u64().or_else(|| value.as_str()?.parse().ok())
        });
        let message = error.as_str().map_or_else(|| text("message"), str::to_ascii_lowercase);
        Self { code: text("code"), kind: text("type"), message, number }
    }

    /// The HTTP status it stands for.
    fn status(&self) -> Option<u16> {
        if let Some(number) = self.number.and_then(|number| u16::try_from(number).ok()).filter(|n| (400..600).contains(n)) {
            return Some(number);
        }
        let names = |known: &[&str]| known.iter().any(|word| self.code.contains(word) || self.kind.contains(word));
        match () {
            () if names(&["rate_limit", "too_many_requests", "insufficient_quota"]) => Some(429),
            () if names(&["overloaded", "capacity", "unavailable"]) => Some(503),
            () if names(&["authentication", "invalid_api_key", "permission"]) => Some(401),
            () if names(&["invalid_request", "bad_request"]) => Some(400),
            () => None,
        }
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
        ];
        CODES.iter().any(|code| self.code.contains(code) || self.kind.contains(code))
            || PHRASES.iter().any(|phrase| self.message.contains(phrase))
    }

    fn refused(&self) -> bool {
        const CODES: &[&str] = &["content_policy", "content_filter", "moderation", "safety"];
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
