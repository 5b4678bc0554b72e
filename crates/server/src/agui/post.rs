//! `POST /v1/agui`: a RunAgentInput in, the run's events out.
//!
//! Refused before anything is stored: a problem document. After that always 200 and a stream. With `Last-Event-ID`
//! it never creates a run: the events after that place, whatever the body says. Answers that cannot be taken are a run
//! that begins and fails, since their client reads of them only there.

use axum::{
    extract::{Request, State},
    http::HeaderMap,
    response::Response,
};
use domain::{Principal, RunId};
use orchestrator::{From, Reader, Submission, SubmitError, Ticket};

use super::replay;
use crate::{
    app::{App, Caller},
    body,
    dialect::{self, Dialect},
    problem::ApiError,
    sse::{self, Sse},
    wire::{
        faults::{self, Asked},
        input::{self, Join, Posted, Refused},
    },
};

pub(crate) async fn handler(State(app): State<App>, Caller(principal): Caller, request: Request) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let limit = app.settings().body_bytes;
    let reader = replay::reader(&parts.headers)?;
    if let Some(place) = parts.headers.get("last-event-id") {
        body::ignore(body, limit).await;
        app.authenticator().member(&principal).await?;
        let name = dialect::run_of(&parts.headers);
        return replay::after_header(&app, &principal, place, name, reader).await;
    }
    body::require_json(&parts.headers)?;
    let posted = {
        // Freed before the stream begins.
        let body = body::read(&parts.headers, body, limit).await?;
        input::parse(&body)
    };
    let post = Post { app: &app, principal: &principal, reader };
    match posted {
        Ok(posted) => post.submit(posted, &parts.headers).await,
        Err(refused) => post.join(refused).await,
    }
}

/// Who posted, and how they read what comes.
struct Post<'a> {
    app: &'a App,
    principal: &'a Principal,
    reader: Reader,
}

/// What a run is called in its answer, and how.
struct Shown {
    run: RunId,
    dialect: Dialect,
}

impl Post<'_> {
    async fn submit(self, posted: Posted, headers: &HeaderMap) -> Result<Response, ApiError> {
        let Posted { thread, run, parent_run, message, last_user, answers, replaces, mut input } = posted;
        let run = match run {
            Some(run) => run,
            None => self.app.mint("run_")?,
        };
        input.client_tool_style = dialect::client_tool_style(headers, self.app.settings().client_tools);
        let shown = Shown { run: run.clone(), dialect: Dialect::of(input.protocol.as_deref()) };
        let asked = Asked {
            thread: thread.clone(),
            run: run.clone(),
            parent_run: parent_run.clone(),
            interrupts: Asked::interrupts(&answers),
        };
        let submission = Submission { thread, run, message, replaces, last_user, answers, parent_run, input, need_worker: true };
        match Box::pin(self.app.orchestrator().submit(self.principal, submission)).await {
            Ok(ticket) => self.answer(ticket, shown).await,
            Err(error) if error.faults.is_empty() => Err(error.into()),
            Err(error) => sse::whole(&faults::events(&asked, &error), shown.dialect),
        }
    }

    /// A body that makes no new run joins the one of its id, if there is one.
    async fn join(self, refused: Refused) -> Result<Response, ApiError> {
        let Refused { error, join } = refused;
        let Some(Join { thread, run, last_user, dialect }) = join else { return Err(error) };
        match self.app.store().joined(self.principal, &thread, &run, last_user.as_ref()).await? {
            Some(run) => {
                let shown = Shown { run: run.id.clone(), dialect };
                self.answer(Ticket { run, joined: true }, shown).await
            }
            None => Err(error),
        }
    }

    async fn answer(self, ticket: Ticket, shown: Shown) -> Result<Response, ApiError> {
        let Post { app, principal, reader } = self;
        let Ticket { run, joined } = ticket;
        let Shown { run: name, dialect } = shown;
        if joined {
            // Whoever makes a new run was looked at when it was made.
            app.authenticator().member(principal).await?;
            if let Some(response) = replay::expired(app, principal, &run, &name, dialect).await? {
                return Ok(response);
            }
        }
        let id = run.id.clone();
        let events = app.orchestrator().follow(principal, run, From::Start, reader);
        Ok(Sse::new(events, id, dialect).named(name).into_response())
    }
}

impl std::convert::From<SubmitError> for ApiError {
    fn from(error: SubmitError) -> Self {
        Self { retry_after: error.retry_after, ..Self::new(error.code, error.detail) }
    }
}
