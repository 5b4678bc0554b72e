//! Refusals as problem documents (RFC 9457): `{type, title, status, detail, code}`.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::Code;
use serde::Serialize;
use storage::StorageError;

/// The one error of every endpoint. `detail` says what to do next and holds at most a short, escaped piece of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) code: Code,
    pub(crate) detail: String,
    /// Sent as whole seconds, rounded up, on 429 and 503 (at least 1 there, also when absent).
    pub(crate) retry_after: Option<Duration>,
    /// Sent on 401.
    pub(crate) challenge: Challenge,
}

/// `WWW-Authenticate` of a 401.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Challenge {
    /// No token was sent (RFC 6750, 3.1: then no error code is given).
    Missing,
    InvalidToken,
}

#[derive(Serialize)]
struct Problem<'a> {
    r#type: String,
    title: String,
    status: u16,
    detail: &'a str,
    code: &'static str,
}

impl ApiError {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), retry_after: None, challenge: Challenge::InvalidToken }
    }

    pub(crate) fn input(path: &str, what: impl std::fmt::Display) -> Self {
        Self::new(Code::InvalidInput, format!("{path}: {what}"))
    }

    pub(crate) fn not_found() -> Self {
        Self::new(Code::NotFound, "there is nothing at this address")
    }

    pub(crate) fn run_not_found() -> Self {
        Self::new(Code::RunNotFound, "no run of yours has this id")
    }
}

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        tracing::error!(%error, "a request met a storage error");
        match error {
            StorageError::Unavailable(_) | StorageError::Conflict(_) => {
                Self::new(Code::Unavailable, "the database is not available; try again shortly")
            }
            _ => Self::new(Code::Internal, "the request could not be answered; the server's log says why"),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        // Codes that otherwise only a stream carries (status 200) are faults where they refuse a request.
        let status = match StatusCode::from_u16(self.code.status()) {
            Ok(status) if !status.is_success() => status,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let problem = Problem {
            r#type: format!("urn:frontdesk:problem:{}", self.code),
            title: title(self.code),
            status: status.as_u16(),
            detail: &self.detail,
            code: self.code.as_str(),
        };
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds(self.retry_after)));
        }
        if status == StatusCode::UNAUTHORIZED {
            let challenge = match self.challenge {
                Challenge::Missing => "Bearer",
                Challenge::InvalidToken => "Bearer error=\"invalid_token\"",
            };
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        response
    }
}

/// `invalid-json` → `Invalid json`.
fn title(code: Code) -> String {
    let mut title = code.as_str().replace('-', " ");
    if let Some(first) = title.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    title
}

fn seconds(wait: Option<Duration>) -> u64 {
    let wait = wait.unwrap_or_default();
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

/// At most `chars` characters of an error's text, with controls escaped: what may be said back of a request.
pub(crate) fn excerpt(text: &str, chars: usize) -> String {
    let mut out = String::new();
    for (count, char) in text.chars().enumerate() {
        if count == chars {
            out.push('…');
            break;
        }
        if char.is_control() { out.extend(char.escape_default()) } else { out.push(char) }
    }
    out
}

#[cfg(test)]
#[path = "problem/tests.rs"]
mod tests;
