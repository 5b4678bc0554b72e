//! `POST /v1/copilotkit/agent/{id}/run`: [`POST /v1/agui`](crate::agui::post) at CopilotKit's address.

use axum::{
    body::Body,
    extract::{Path, Request, State, rejection::PathRejection},
    http::{HeaderMap, header},
    response::Response,
};
use bytes::Bytes;
use domain::Principal;

use super::known_in;
use crate::{
    agui,
    app::{App, Caller},
    problem::ApiError,
};

pub(crate) async fn handler(
    State(app): State<App>,
    caller: Caller,
    agent: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, ApiError> {
    known_in(agent)?;
    agui::post::handler(State(app), caller, request).await
}

/// The same of a RunAgentInput that came within an envelope with these headers.
pub(super) async fn of_envelope(
    app: App,
    principal: Principal,
    mut headers: HeaderMap,
    body: Bytes,
) -> Result<Response, ApiError> {
    // The envelope's length is not the body's.
    headers.remove(header::CONTENT_LENGTH);
    let mut request = Request::new(Body::from(body));
    *request.headers_mut() = headers;
    agui::post::handler(State(app), Caller(principal), request).await
}
