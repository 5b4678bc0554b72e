//! `GET /v1/threads/{id}`: one thread, and the run that is active in it.

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
    http::header,
    response::{IntoResponse, Response},
};
use domain::{Principal, RunId, ThreadId};
use serde::Serialize;
use storage::ThreadStatus;

use super::{Item, not_found, thread_id};
use crate::{
    app::{App, Member},
    problem::ApiError,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(flatten)]
    item: Item,
    active_run: Option<ActiveRun>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ActiveRun {
    run_id: RunId,
}

pub(crate) async fn handler(
    State(app): State<App>,
    Member(principal): Member,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, ApiError> {
    respond(&app, &principal, &thread_id(id)?).await
}

pub(super) async fn respond(app: &App, principal: &Principal, thread: &ThreadId) -> Result<Response, ApiError> {
    let ThreadStatus { summary, active_run } = app.store().thread(principal, thread).await?.ok_or_else(not_found)?;
    let answer = Answer { item: summary.into(), active_run: active_run.map(|run_id| ActiveRun { run_id }) };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response())
}
