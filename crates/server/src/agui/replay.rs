//! Events of a run that is there already: joined, read again from a place, or told from the transcript once its
//! events are no longer kept.

use axum::{
    http::{HeaderMap, HeaderValue},
    response::Response,
};
use domain::{Bookmark, Code, Offset, Principal, RunId};
use orchestrator::{Follow, From, Reader};
use storage::{RunRecord, RunRef};

use crate::{
    app::App,
    dialect::Dialect,
    offset,
    problem::ApiError,
    run::usage,
    sse::{self, Sse},
    wire::snapshot,
};

/// Where a reader of an existing run begins.
pub(crate) enum Place {
    Start,
    After(Bookmark),
}

/// What the closed socket of this request's reader means.
const DISCONNECT: &str = "frontdesk-disconnect";

/// `Frontdesk-Disconnect: detach`: as with `threads.on_disconnect = "detach"`, for this one reader. Without it the
/// configuration counts.
pub(crate) fn reader(headers: &HeaderMap) -> Result<Reader, ApiError> {
    match headers.get(DISCONNECT).map(HeaderValue::as_bytes) {
        None => Ok(Reader::Person),
        Some(b"detach") => Ok(Reader::Detached),
        Some(_) => {
            let detail = "Frontdesk-Disconnect: write detach, or leave it out for what the server is configured to do";
            Err(ApiError::new(Code::InvalidRequest, detail))
        }
    }
}

/// The events strictly after a `Last-Event-ID`, which names its run; `name`: what the client calls it.
pub(crate) async fn after_header(
    app: &App,
    principal: &Principal,
    place: &HeaderValue,
    name: Option<RunId>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let (run, mark) = place.to_str().ok().and_then(offset::decode).ok_or_else(bad_offset)?;
    let stream = stream(app, principal, &run, Place::After(mark), reader).await?;
    Ok(stream.named(name.unwrap_or(run)).into_response())
}

/// A response that reads the principal's own run.
pub(crate) async fn follow(
    app: &App,
    principal: &Principal,
    run: &RunId,
    place: Place,
    reader: Reader,
) -> Result<Response, ApiError> {
    Ok(stream(app, principal, run, place, reader).await?.into_response())
}

async fn stream(app: &App, principal: &Principal, run: &RunId, place: Place, reader: Reader) -> Result<Sse<Follow>, ApiError> {
    let record = readable(app, principal, run).await?;
    let dialect = Dialect::of(record.input.as_ref().and_then(|input| input.protocol.as_deref()));
    let from = match place {
        Place::Start => From::Start,
        Place::After(mark) => From::After(mark),
    };
    let id = record.reference.id.clone();
    let events = app.orchestrator().follow(principal, record.reference, from, reader);
    Ok(Sse::new(events, id, dialect))
}

/// The principal's own run, whose events are there to be read. Unknown: 404; its events are gone: 410.
pub(crate) async fn readable(app: &App, principal: &Principal, run: &RunId) -> Result<RunRecord, ApiError> {
    let record = app.store().run(principal, run).await?.ok_or_else(ApiError::run_not_found)?;
    if is_expired(app, &record).await? {
        let detail = "the events of this run are no longer kept; reload the thread with GET /v1/agui?threadId=…";
        return Err(ApiError::new(Code::StreamExpired, detail));
    }
    Ok(record)
}

/// One synthetic run of that name, if the events of `run` are no longer kept.
pub(crate) async fn expired(
    app: &App,
    principal: &Principal,
    run: &RunRef,
    name: &RunId,
    dialect: Dialect,
) -> Result<Option<Response>, ApiError> {
    let Some(mut record) = app.store().run(principal, &run.id).await? else { return Ok(None) };
    if !is_expired(app, &record).await? {
        return Ok(None);
    }
    let thread = app.store().hydrate(principal, &run.thread_id, None, None).await?;
    let usage = usage(&app.store().model_calls(&run.key).await?);
    record.reference.id = name.clone();
    let waits: Vec<_> = thread.interrupts.into_iter().filter(|open| open.run == run.id).collect();
    let events = snapshot::events(&record, &thread.messages, &waits, usage, dialect);
    Ok(Some(sse::whole(&events, dialect)?))
}

/// An ended run has at least its terminal event as long as frames are kept.
async fn is_expired(app: &App, record: &RunRecord) -> Result<bool, ApiError> {
    if record.status.is_active() {
        return Ok(false);
    }
    Ok(app.store().frames(&record.reference.key, Offset::START, false, 1).await?.is_empty())
}

pub(crate) fn bad_offset() -> ApiError {
    ApiError::new(Code::BadOffset, "the offset is not one of this server's; send -1 or the id of the last event you have")
}
