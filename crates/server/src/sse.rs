//! A run's events as `text/event-stream`: `id: <offset>`, one `data:` line, LF only, a comment after ten seconds of
//! silence, nothing after the terminal event. (`ag-ui.md`, contract 1: CRLF, `[DONE]` and a second `data:` line each
//! break some client.)

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::Response,
};
use bytes::{Bytes, BytesMut};
use domain::{Code, Event, RunId};
use futures::Stream;
use http_body::Frame;
use orchestrator::{FollowError, ItemKind, StreamItem};
use tokio::time::{Instant, Sleep};

use crate::{
    dialect::{self, Dialect},
    offset,
    problem::ApiError,
};

const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// Ready events are sent together up to about so many bytes.
const CHUNK: usize = 16 * 1024;

/// A reader of `events`: it takes the next one only when the socket wants more, so a slow client holds a place in
/// the log, never memory. Dropped as soon as the client's socket closes, and `events` with it.
pub(crate) struct Sse<S> {
    events: S,
    run: RunId,
    /// What the client calls the run, if that is not its id.
    alias: Option<RunId>,
    dialect: Dialect,
    /// Fires at most every ten seconds; looked at only while nothing else is ready, never moved by an event.
    alarm: Pin<Box<Sleep>>,
    last: Instant,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Ended,
    /// To be broken off once what came before is sent.
    Failed,
}

impl<S> Sse<S>
where
    S: Stream<Item = Result<StreamItem, FollowError>> + Send + Unpin + 'static,
{
    pub(crate) fn new(events: S, run: RunId, dialect: Dialect) -> Self {
        let last = Instant::now();
        let alarm = Box::pin(tokio::time::sleep_until(last + KEEP_ALIVE));
        Self { events, run, alias: None, dialect, alarm, last, state: State::Open }
    }

    /// Shows the run under the id its client gave it. Places in it keep the run's own.
    pub(crate) fn named(mut self, run: RunId) -> Self {
        self.alias = Some(run).filter(|alias| *alias != self.run);
        self
    }

    pub(crate) fn into_response(self) -> Response {
        response(Body::new(self))
    }

    /// What can be sent now without waiting.
    fn ready(&mut self, cx: &mut Context<'_>) -> BytesMut {
        let mut out = BytesMut::new();
        while self.state == State::Open && out.len() < CHUNK {
            match Pin::new(&mut self.events).poll_next(cx) {
                Poll::Ready(Some(Ok(item))) => {
                    let json = match item.kind {
                        ItemKind::Terminal => self.dialect.terminal(item.json),
                        ItemKind::Started | ItemKind::Event => item.json,
                    };
                    let json = match &self.alias {
                        Some(alias) if item.kind != ItemKind::Event => dialect::renamed(json, alias),
                        _ => json,
                    };
                    if item.kind == ItemKind::Terminal {
                        self.state = State::Ended;
                    }
                    let offset = item.mark.map(|mark| offset::encode(&mark, &self.run));
                    write_event(&mut out, offset.as_deref(), &json);
                }
                Poll::Ready(None) => self.state = State::Ended,
                // A body that ends without a terminal event looks like success to some clients: break it off, so
                // that they report it or come back with their last offset.
                Poll::Ready(Some(Err(error))) => {
                    self.state = State::Failed;
                    tracing::warn!(run = %self.run, %error, "a reader was cut off");
                }
                Poll::Pending => break,
            }
        }
        out
    }
}

impl<S> http_body::Body for Sse<S>
where
    S: Stream<Item = Result<StreamItem, FollowError>> + Send + Unpin + 'static,
{
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = &mut *self;
        let out = this.ready(cx);
        if !out.is_empty() {
            this.last = Instant::now();
            return Poll::Ready(Some(Ok(Frame::data(out.freeze()))));
        }
        match this.state {
            State::Open => {}
            State::Ended => return Poll::Ready(None),
            State::Failed => {
                this.state = State::Ended;
                return Poll::Ready(Some(Err(io::Error::other("the stream was cut off"))));
            }
        }
        loop {
            std::task::ready!(this.alarm.as_mut().poll(cx));
            let now = Instant::now();
            let due = this.last + KEEP_ALIVE;
            if now < due {
                this.alarm.as_mut().reset(due);
                continue;
            }
            this.last = now;
            this.alarm.as_mut().reset(now + KEEP_ALIVE);
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b": keepalive\n\n")))));
        }
    }

    fn is_end_stream(&self) -> bool {
        self.state == State::Ended
    }
}

/// `json` is one line. Without an offset no `id:` line is written.
pub(crate) fn write_event(out: &mut BytesMut, offset: Option<&str>, json: &[u8]) {
    if let Some(offset) = offset {
        out.extend_from_slice(b"id: ");
        out.extend_from_slice(offset.as_bytes());
        out.extend_from_slice(b"\n");
    }
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(json);
    out.extend_from_slice(b"\n\n");
}

/// A stream that is over at once, without places to come back to.
pub(crate) fn whole(events: &[Event], dialect: Dialect) -> Result<Response, ApiError> {
    let mut out = BytesMut::new();
    for event in events {
        let json = line(event)?;
        let json = if event.is_terminal() { dialect.terminal(json) } else { json };
        write_event(&mut out, None, &json);
    }
    Ok(response(Body::from(out.freeze())))
}

/// An event as one line of JSON.
pub(crate) fn line(event: &Event) -> Result<Bytes, ApiError> {
    serde_json::to_vec(event).map(Bytes::from).map_err(|error| {
        tracing::error!(%error, "an event cannot be written");
        ApiError::new(Code::Internal, "the conversation cannot be shown; try again")
    })
}

/// 200 with the headers of an event stream that no cache or proxy may hold back.
pub(crate) fn response(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

#[cfg(test)]
#[path = "sse/tests.rs"]
mod tests;
