//! `DELETE /v1/threads/{id}`: the thread and all that was said in it, also in mid-run. 204, and 404 from then on.

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::StatusCode,
};

use super::{not_found, thread_id};
use crate::{
    app::{App, Member},
    problem::ApiError,
};

pub(crate) async fn handler(
    State(app): State<App>,
    Member(principal): Member,
    id: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, ApiError> {
    let deleted = app.orchestrator().delete_thread(&principal, &thread_id(id)?).await?;
    if deleted { Ok(StatusCode::NO_CONTENT) } else { Err(not_found()) }
}
