//! A thread as its person reopens it: `{messages, activeRun, interrupts[, page]}`. Unknown and foreign look the same.

use std::collections::HashMap;

use axum::{
    Json,
    http::header,
    response::{IntoResponse, Response},
};
use domain::{MessageId, Principal, RunId, ThreadId};
use serde::Serialize;
use storage::Hydrated;

use crate::{
    app::App,
    page,
    problem::ApiError,
    wire::transcript::{UiMessage, ui_messages},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    messages: Vec<UiMessage>,
    active_run: Option<ActiveRun>,
    /// None can wait yet.
    interrupts: Option<()>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<Page>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ActiveRun {
    run_id: RunId,
}

/// Only if `limit` or `before` was asked for.
#[derive(Serialize)]
struct Page {
    truncated: bool,
    /// The `before` of the next older page.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

pub(crate) async fn respond(
    app: &App,
    principal: &Principal,
    thread: &ThreadId,
    query: &HashMap<String, String>,
) -> Result<Response, ApiError> {
    let limit = query.get("limit").map(|text| page::size(text)).transpose()?;
    let before = query.get("before").map(MessageId::parse).transpose().map_err(|_| page::bad_cursor("before"))?;
    let before = before.as_ref().map(MessageId::as_str);
    let is_paged = limit.is_some() || before.is_some();
    let Hydrated { messages: rows, active_run, truncated, .. } = app.store().hydrate(principal, thread, limit, before).await?;
    let page =
        is_paged.then(|| Page { truncated, cursor: rows.first().filter(|_| truncated).map(|row| row.message.id().to_string()) });
    let active_run = active_run.map(|run_id| ActiveRun { run_id });
    let answer = Answer { messages: ui_messages(&rows), active_run, interrupts: None, page };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response())
}
