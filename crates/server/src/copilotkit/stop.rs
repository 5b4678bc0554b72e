//! `POST /v1/copilotkit/agent/{id}/stop/{threadId}`: cancels the thread's active run, or the run `{runId}` names if it is
//! one of that thread. The client goes on reading the run's stream and sees its end there.

use axum::{
    Json,
    extract::{Path, Request, State, rejection::PathRejection},
    response::{IntoResponse, Response},
};
use domain::{Principal, RunId, RunStatus, ThreadId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use storage::CancelOutcome;

use super::known;
use crate::{
    app::{App, Member},
    body,
    problem::ApiError,
    wire::{read, read_body},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Input<'a> {
    #[serde(borrow)]
    run_id: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Answer {
    stopped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
}

pub(crate) async fn handler(
    State(app): State<App>,
    Member(principal): Member,
    path: Result<Path<(String, String)>, PathRejection>,
    request: Request,
) -> Result<Response, ApiError> {
    let Path((agent, thread)) = path.map_err(|_| ApiError::not_found())?;
    known(&agent)?;
    let (parts, body) = request.into_parts();
    let body = body::read(&parts.headers, body, app.settings().body_bytes).await?;
    respond(&app, &principal, &thread, &body).await
}

/// `body`: empty if the client knows of no run.
pub(super) async fn respond(app: &App, principal: &Principal, thread: &str, body: &[u8]) -> Result<Response, ApiError> {
    let run = run_id(body)?;
    let stopped = match ThreadId::parse(thread) {
        Ok(thread) => match find(app, principal, &thread, run).await? {
            Some(run) => {
                let outcome = app.orchestrator().cancel(principal, &run).await?;
                matches!(outcome, CancelOutcome::Requested | CancelOutcome::Ended(RunStatus::Cancelled))
            }
            None => false,
        },
        // No thread has such an id.
        Err(_) => false,
    };
    let message = (!stopped).then_some("no such run is active in this thread");
    Ok(Json(Answer { stopped, message }).into_response())
}

fn run_id(body: &[u8]) -> Result<Option<RunId>, ApiError> {
    if body.trim_ascii().is_empty() {
        return Ok(None);
    }
    let input: Input<'_> = read_body("stop request", body)?;
    let run = input.run_id.map(|raw| read::<String>("runId", raw)).transpose()?;
    run.map(RunId::parse).transpose().map_err(|error| ApiError::input("runId", error))
}

async fn find(app: &App, principal: &Principal, thread: &ThreadId, run: Option<RunId>) -> Result<Option<RunId>, ApiError> {
    let Some(run) = run else {
        return Ok(app.store().thread(principal, thread).await?.and_then(|status| status.active_run));
    };
    let record = app.store().run(principal, &run).await?;
    Ok(record.filter(|record| record.reference.thread_id == *thread).map(|record| record.reference.id))
}
