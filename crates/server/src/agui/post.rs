//! `POST /v1/agui`: a RunAgentInput in, the run's events out.
//!
//! Refused before anything is stored: a problem document. After that always 200 and a stream. With `Last-Event-ID`
//! it never creates a run: the events after that place, whatever the body says.

use axum::{
    extract::{Request, State},
    response::Response,
};
use domain::{Code, Principal, RunId};
use orchestrator::{From, Reader, Submission, SubmitError, Ticket};

use super::replay;
use crate::{
    app::{App, Caller},
    body,
    dialect::Dialect,
    problem::ApiError,
    sse::Sse,
    wire::input::{self, Posted},
};

pub(crate) async fn handler(State(app): State<App>, Caller(principal): Caller, request: Request) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let limit = app.settings().body_bytes;
    let reader = replay::reader(&parts.headers)?;
    if let Some(place) = parts.headers.get("last-event-id") {
        body::ignore(body, limit).await;
        app.authenticator().member(&principal).await?;
        return replay::after_header(&app, &principal, place, reader).await;
    }
    body::require_json(&parts.headers)?;
    let posted = {
        // Freed before the stream begins.
        let body = body::read(&parts.headers, body, limit).await?;
        input::parse(&body)?
    };
    submit(&app, &principal, posted, reader).await
}

async fn submit(app: &App, principal: &Principal, posted: Posted, reader: Reader) -> Result<Response, ApiError> {
    let Posted { thread, run, parent_run, message, replaces, input } = posted;
    let run = match run {
        Some(run) => run,
        None => mint(app)?,
    };
    let dialect = Dialect::of(input.protocol.as_deref());
    let submission = Submission {
        thread,
        run,
        message: Some(message),
        replaces,
        last_user: None,
        answers: Vec::new(),
        parent_run,
        input,
        need_worker: true,
    };
    let Ticket { run, joined } = Box::pin(app.orchestrator().submit(principal, submission)).await?;
    if joined && let Some(response) = replay::expired(app, principal, &run, dialect).await? {
        return Ok(response);
    }
    let id = run.id.clone();
    let events = app.orchestrator().follow(principal, run, From::Start, reader);
    Ok(Sse::new(events, id, dialect).into_response())
}

fn mint(app: &App) -> Result<RunId, ApiError> {
    RunId::parse(format!("run_{}", app.ids().ulid())).map_err(|error| {
        tracing::error!(%error, "the source of ids gave no id");
        ApiError::new(Code::Internal, "the message could not be stored; send it again")
    })
}

impl std::convert::From<SubmitError> for ApiError {
    fn from(error: SubmitError) -> Self {
        Self { retry_after: error.retry_after, ..Self::new(error.code, error.detail) }
    }
}
