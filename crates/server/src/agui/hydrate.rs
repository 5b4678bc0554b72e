//! A thread as its person reopens it: `{messages, activeRun, interrupts[, page]}`. Unknown and foreign look the same.

use std::collections::HashMap;

use axum::{
    Json,
    http::header,
    response::{IntoResponse, Response},
};
use domain::{ClientToolStyle, MessageId, Principal, RunId, ThreadId};
use serde::Serialize;
use serde_json::Value;
use storage::{Hydrated, OpenInterrupt};

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
    interrupts: Option<Interrupts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<Page>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ActiveRun {
    run_id: RunId,
}

/// What the newest run that waits for answers waits for, as it said when it ended.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Interrupts {
    run_id: RunId,
    pending: Vec<Value>,
}

impl Interrupts {
    /// Calls whose results come as messages are in the transcript, without a result; they are no interrupts.
    fn of(open: &[OpenInterrupt]) -> Option<Self> {
        let answered_by_resume = |open: &&OpenInterrupt| open.style == ClientToolStyle::Interrupt;
        let run_id = open.iter().rfind(answered_by_resume)?.run.clone();
        let pending = open.iter().filter(answered_by_resume).filter(|open| open.run == run_id);
        let pending = pending.map(|open| domain::interrupt::client_tool(&open.call, &open.run)).collect();
        Some(Self { run_id, pending })
    }
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
    let hydrated = app.store().hydrate(principal, thread, limit, before).await?;
    let Hydrated { messages: rows, active_run, interrupts, truncated } = hydrated;
    let page =
        is_paged.then(|| Page { truncated, cursor: rows.first().filter(|_| truncated).map(|row| row.message.id().to_string()) });
    let active_run = active_run.map(|run_id| ActiveRun { run_id });
    let answer = Answer { messages: ui_messages(&rows), active_run, interrupts: Interrupts::of(&interrupts), page };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response())
}
