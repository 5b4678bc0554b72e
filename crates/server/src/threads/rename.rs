//! `PATCH /v1/threads/{id}` `{title}`: a new title, or none (null). Other keys are ignored. 200 with the thread.

use axum::{
    extract::{Path, Request, State, rejection::PathRejection},
    response::Response,
};
use domain::{Code, Principal, ThreadId};
use serde::{Deserialize, Deserializer};

use super::{not_found, show, thread_id};
use crate::{
    app::{App, Member},
    body,
    problem::ApiError,
    wire::read_body,
};

/// Longest title in characters.
const MAX_TITLE: usize = 200;

#[derive(Debug, Deserialize)]
struct Body {
    /// Absent: as it is.
    #[serde(default, deserialize_with = "present")]
    title: Option<Option<String>>,
}

/// Tells null from a key that is not there.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

pub(crate) async fn handler(
    State(app): State<App>,
    Member(principal): Member,
    id: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    body::require_json(&parts.headers)?;
    let body = body::read(&parts.headers, body, app.settings().body_bytes).await?;
    let thread = thread_id(id)?;
    if let Some(title) = parse(&body)? {
        rename(&app, &principal, &thread, title.as_deref()).await?;
    }
    show::respond(&app, &principal, &thread).await
}

async fn rename(app: &App, principal: &Principal, thread: &ThreadId, title: Option<&str>) -> Result<(), ApiError> {
    let renamed = app.store().rename_thread(principal, thread, title).await?;
    if renamed { Ok(()) } else { Err(not_found()) }
}

fn parse(body: &[u8]) -> Result<Option<Option<String>>, ApiError> {
    let body: Body = read_body("change of a thread", body)?;
    if let Some(Some(title)) = &body.title {
        if !(1..=MAX_TITLE).contains(&title.chars().count()) {
            return Err(ApiError::input("title", format!("does not have 1 to {MAX_TITLE} characters; null takes it away")));
        }
        if title.chars().any(char::is_control) {
            return Err(ApiError::new(Code::InvalidInput, "title: has control characters; write it on one line"));
        }
    }
    Ok(body.title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_a_line_of_text_or_null() {
        let long = "ä".repeat(MAX_TITLE);
        let said = |title: &str| serde_json::json!({"title": title, "pinned": true}).to_string();
        assert_eq!(parse(said(&long).as_bytes()).unwrap(), Some(Some(long.clone())));
        assert_eq!(parse(br#"{"title": null}"#).unwrap(), Some(None));
        assert_eq!(parse(br#"{"pinned": true}"#).unwrap(), None);
        let long = format!("{long}ä");
        for text in [
            said(""),
            said(&long),
            said("a\nb"),
            said("a\0"),
            r#"["a"]"#.to_owned(),
            "[1]".to_owned(),
            r#"{"title": 1}"#.to_owned(),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap_err().code, Code::InvalidInput, "{text}");
        }
        assert_eq!(parse(b"{").unwrap_err().code, Code::InvalidJson);
    }
}
