//! `POST /v1/copilotkit/agent/{id}/connect`: a thread as its page shows it again, as one run.
//!
//! RUN_STARTED, MESSAGES_SNAPSHOT, RUN_FINISHED, under the run id that was sent. While a run of the thread is active its
//! own stream is what is answered, with the snapshot up to that run's message after its RUN_STARTED: the client takes
//! every row that is not in the snapshot away, and what the run said so far comes again with its events. However the
//! thread's last run ended, this one finishes: an error would be shown anew with every reload.

use axum::{
    extract::{Path, Request, State, rejection::PathRejection},
    http::HeaderMap,
    response::Response,
};
use bytes::Bytes;
use domain::{Event, Principal, RunId, ThreadId};
use futures::{Stream, StreamExt, stream};
use orchestrator::{Follow, FollowError, From, ItemKind, Reader, StreamItem};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::known_in;
use crate::{
    agui::replay,
    app::{App, Member},
    body,
    dialect::Dialect,
    problem::ApiError,
    sse::{self, Sse},
    wire::{read, read_body, snapshot},
};

/// Of a RunAgentInput what matters here; the messages a client has are not looked at.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Input<'a> {
    #[serde(borrow)]
    thread_id: Option<&'a RawValue>,
    #[serde(borrow)]
    run_id: Option<&'a RawValue>,
    #[serde(borrow)]
    protocol_version: Option<&'a RawValue>,
}

/// Whose thread, and what to call the run it is shown in.
pub(super) struct Asked {
    thread: ThreadId,
    /// `None`: to be minted.
    run: Option<RunId>,
    dialect: Dialect,
    reader: Reader,
}

pub(crate) async fn handler(
    State(app): State<App>,
    Member(principal): Member,
    agent: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, ApiError> {
    known_in(agent)?;
    let (parts, body) = request.into_parts();
    body::require_json(&parts.headers)?;
    let asked = {
        // Freed before the stream begins.
        let body = body::read(&parts.headers, body, app.settings().body_bytes).await?;
        parse(&parts.headers, &body)?
    };
    respond(&app, &principal, asked).await
}

pub(super) fn parse(headers: &HeaderMap, body: &[u8]) -> Result<Asked, ApiError> {
    let input: Input<'_> = read_body("RunAgentInput", body)?;
    let thread = input.thread_id.ok_or_else(|| ApiError::input("threadId", "is missing; send the conversation's id"))?;
    let thread = ThreadId::parse(read::<String>("threadId", thread)?).map_err(|error| ApiError::input("threadId", error))?;
    let run = input.run_id.map(|raw| read::<String>("runId", raw)).transpose()?;
    let run = run.map(RunId::parse).transpose().map_err(|error| ApiError::input("runId", error))?;
    let protocol = input.protocol_version.map(|raw| read::<String>("protocolVersion", raw)).transpose()?;
    Ok(Asked { thread, run, dialect: Dialect::of(protocol.as_deref()), reader: replay::reader(headers)? })
}

pub(super) async fn respond(app: &App, principal: &Principal, asked: Asked) -> Result<Response, ApiError> {
    let Asked { thread, run, dialect, reader } = asked;
    let hydrated = app.store().hydrate(principal, &thread, None, None).await?;
    let snapshot = Event::MessagesSnapshot { messages: snapshot::messages(&hydrated.messages, dialect) };
    // A run that ended since is still told from its frames; one that was deleted since is not there.
    if let Some(active) = hydrated.active_run
        && let Some(record) = app.store().run(principal, &active).await?
    {
        let json = sse::line(&snapshot)?;
        let events = app.orchestrator().follow(principal, record.reference, From::Start, reader);
        return Ok(Sse::new(after_start(events, json), active, dialect).into_response());
    }
    let run_id = run.map_or_else(|| app.mint("connect_"), Ok)?;
    let started =
        Event::RunStarted { thread_id: thread.clone(), run_id: run_id.clone(), parent_run_id: None, protocol_version: None };
    let finished = Event::RunFinished { thread_id: thread, run_id, outcome: None, usage: Vec::new(), metadata: None };
    sse::whole(&[started, snapshot, finished], dialect)
}

/// The events of a run with one more after its RUN_STARTED, at the same place.
fn after_start(events: Follow, json: Bytes) -> impl Stream<Item = Result<StreamItem, FollowError>> + Send + Unpin + 'static {
    let mut json = Some(json);
    events.flat_map(move |item| {
        let next = match &item {
            Ok(started) if started.kind == ItemKind::Started => {
                json.take().map(|json| Ok(StreamItem { json, kind: ItemKind::Event, ..started.clone() }))
            }
            _ => None,
        };
        stream::iter(std::iter::once(item).chain(next))
    })
}
