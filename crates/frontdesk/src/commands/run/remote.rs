//! Against a running server: one POST, its events, and a new connection where the old one broke.

use std::time::Duration;

use domain::Secret;
use egress::{Client, EgressError, HeaderName, HeaderValue, Reach, Request, Response, header};
use futures::StreamExt;
use models::sse;
use tokio::time::{sleep, timeout};
use url::Url;

use super::{
    ask::{Ask, End, How, STOPPING, Show},
    wire::{self, Heard},
};
use crate::{Exit, Failure, Message, out, program::Program, signals::Stages};

/// Until the server has accepted or refused.
const ACCEPT: Duration = Duration::from_secs(30);
/// A stream that brings nothing for so long, keep-alives included, is broken.
const SILENCE: Duration = Duration::from_secs(60);
/// Connections tried again in a row without a new event.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(500);
/// What the closed socket of this reader means to the server.
const DISCONNECT: HeaderName = HeaderName::from_static("frontdesk-disconnect");
const MAX_PROBLEM: usize = 64 * 1024;
const MAX_THREAD: usize = 32 * 1024 * 1024;

pub(super) async fn run(program: &Program, url: Url, ask: Ask) -> Result<Exit, Failure> {
    let stages = Stages::on_signals()?;
    let token = program.environment.get("FRONTDESK_TOKEN").filter(|token| !token.trim().is_empty());
    let peer = Peer { client: Client::new(Reach::Anywhere), url, token: token.map(Secret::new) };
    let conversation = async {
        let (how, heard) = Box::pin(follow(&peer, &ask, &stages)).await?;
        let answer = match (ask.show, peer.stored_answer(&ask).await) {
            (Show::Events, _) => None,
            (Show::Answer, Some(stored)) => Some(stored),
            (Show::Answer, None) => heard.streamed(),
        };
        ask.conclude(End { how, answer })
    };
    tokio::select! {
        result = conversation => result,
        () = stages.cut.cancelled() => Ok(Exit::Interrupted),
        () = async { stages.stop.cancelled().await; sleep(STOPPING).await } => Err(ask.left()),
        () = sleep(ask.wait) => Err(ask.waited("goes on at the server")),
    }
}

/// Posts, then reads until the run's end. The first Ctrl-C cancels the run and goes on reading.
async fn follow(peer: &Peer, ask: &Ask, stages: &Stages) -> Result<(How, Heard), Failure> {
    let mut heard = Heard::default();
    let mut place = String::new();
    let mut stopped = false;
    let mut response = peer.accept(ask).await?;
    let mut tries = 0;
    loop {
        let mut chunks = response.chunks();
        let mut reader = sse::Reader::default();
        'connection: loop {
            let chunk = tokio::select! {
                chunk = timeout(SILENCE, chunks.next()) => chunk,
                () = stages.stop.cancelled(), if !stopped => {
                    stopped = true;
                    peer.cancel(ask).await?;
                    continue;
                }
            };
            let Ok(Some(Ok(bytes))) = chunk else { break };
            reader.push(&bytes).map_err(|error| Failure::failed(format!("the server sent {error}")))?;
            while let Some(frame) = reader.next_frame() {
                tries = 0;
                if ask.show == Show::Events {
                    out::line(&String::from_utf8_lossy(&frame.data))?;
                }
                if !frame.id.is_empty() {
                    place = frame.id;
                }
                heard.take(&frame.data);
                if heard.end.is_some() {
                    break 'connection;
                }
            }
        }
        if let Some(how) = heard.end.take() {
            let how = if stopped && how == How::Cancelled { How::Stopped } else { how };
            return Ok((how, heard));
        }
        response = loop {
            tries += 1;
            if tries > TRIES {
                let message =
                    format!("the connection to the server was lost; run {} in thread {} goes on there", ask.run, ask.thread);
                return Err(Failure::failed(message));
            }
            sleep(PAUSE * tries).await;
            match peer.rejoin(ask, &place).await {
                Ok(response) => break response,
                Err(Broken::Connection(error)) => tracing::warn!(%error, "failed to connect again"),
                Err(Broken::Refused(failure)) => return Err(failure),
            }
        };
    }
}

struct Peer {
    client: Client,
    url: Url,
    token: Option<Secret>,
}

/// Why there is no stream.
enum Broken {
    Connection(EgressError),
    Refused(Failure),
}

impl From<EgressError> for Broken {
    fn from(error: EgressError) -> Self {
        Self::Connection(error)
    }
}

impl Peer {
    fn address(&self, path: &[&str]) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    async fn send(&self, request: Request) -> Result<Response, EgressError> {
        let request = request.timeout(ACCEPT);
        let request = match &self.token {
            Some(token) => request.bearer(token)?,
            None => request,
        };
        Box::pin(self.client.send(request)).await
    }

    async fn stream(&self, request: Request) -> Result<Response, Broken> {
        let request = request
            .header(header::ACCEPT, HeaderValue::from_static("text/event-stream"))
            // The answer is for the thread: that the command stops waiting stops no run.
            .header(DISCONNECT, HeaderValue::from_static("detach"));
        let response = self.send(request).await?;
        let status = response.status().as_u16();
        if status == 200 && response.content_type().as_deref() == Some("text/event-stream") {
            return Ok(response);
        }
        let body = response.bytes(MAX_PROBLEM).await.unwrap_or_default();
        let (code, mut detail) = wire::problem(status, &body);
        if status == 401 && self.token.is_none() {
            detail.push_str("; set FRONTDESK_TOKEN to a token, such as `frontdesk token` prints");
        }
        Err(Broken::Refused(Failure { exit: Exit::of_status(status), message: Message::Sentence(format!("{code}: {detail}")) }))
    }

    /// Posting the same run again joins it, so a connection that broke before the answer is tried once more.
    async fn accept(&self, ask: &Ask) -> Result<Response, Failure> {
        let post = || self.stream(Request::post_json(self.address(&["v1", "agui"]), wire::body(ask)));
        let response = match post().await {
            Err(Broken::Connection(EgressError::Transport { .. })) => post().await,
            other => other,
        };
        response.map_err(|broken| match broken {
            Broken::Connection(error) => Failure::failed(format!("cannot ask the server: {error}")),
            Broken::Refused(failure) => failure,
        })
    }

    async fn rejoin(&self, ask: &Ask, place: &str) -> Result<Response, Broken> {
        let mut url = self.address(&["v1", "agui"]);
        let offset = if place.is_empty() { "-1" } else { place };
        url.query_pairs_mut().append_pair("runId", ask.run.as_str()).append_pair("offset", offset);
        self.stream(Request::get(url)).await
    }

    async fn cancel(&self, ask: &Ask) -> Result<(), Failure> {
        let url = self.address(&["v1", "runs", ask.run.as_str(), "cancel"]);
        let sent = self.send(Request::post_json(url, "{}")).await;
        sent.map(drop).map_err(|error| Failure::failed(format!("cannot cancel run {}: {error}", ask.run)))
    }

    async fn stored_answer(&self, ask: &Ask) -> Option<String> {
        let mut url = self.address(&["v1", "agui"]);
        url.query_pairs_mut().append_pair("threadId", ask.thread.as_str());
        let response = self.send(Request::get(url)).await.ok()?;
        if response.status() != 200 {
            return None;
        }
        wire::stored_answer(&response.bytes(MAX_THREAD).await.ok()?, ask.message.as_str())
    }
}
