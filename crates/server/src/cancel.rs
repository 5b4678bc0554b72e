//! `POST /v1/runs/{id}/cancel`: asks a run to stop. 202 while it still runs, 200 with its end after; asking again is
//! harmless.

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use domain::{RunId, RunStatus};
use serde::Serialize;
use storage::CancelOutcome;

use crate::{
    app::{App, Member},
    problem::ApiError,
    run::run_id,
};

#[derive(Serialize)]
struct Answer {
    id: RunId,
    status: RunStatus,
}

pub(crate) async fn handler(
    State(app): State<App>,
    Member(principal): Member,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, ApiError> {
    let id = run_id(id)?;
    let (code, status) = match app.orchestrator().cancel(&principal, &id).await? {
        CancelOutcome::Requested => (StatusCode::ACCEPTED, RunStatus::Running),
        CancelOutcome::Ended(status) => (StatusCode::OK, status),
        CancelOutcome::Unknown => return Err(ApiError::run_not_found()),
    };
    Ok((code, Json(Answer { id, status })).into_response())
}
