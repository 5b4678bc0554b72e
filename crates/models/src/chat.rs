//! OpenAI-compatible chat completions.
//!
//! `POST {base}/chat/completions` with a stream asked for. One retry, on 429, 503, 529 or a refused connection, before
//! the first byte, if the wait fits into what is left of the deadline. Everything after the first byte is the caller's.

mod answer;
mod calls;
mod failure;
mod reading;
mod request;
mod retry;
mod wire;

use std::{
    collections::VecDeque,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;
use domain::{ChatModel, ChatRequest, ChatStream, ModelError, ModelRef, Secret};
use egress::{Client, EgressError, HeaderValue, Request, Response, Url, header};
use futures::{StreamExt, stream};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use self::{answer::Answer, reading::Reading};
use crate::provider::Dialect;

/// Most bytes of an error's body that are read, to find out what it is.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// Most bytes of a whole answer of a server that does not stream: the most text there may be, escaped.
const MAX_WHOLE_BODY: usize = 12 * 1024 * 1024;
/// Requests that may be sent again.
const RETRIES: u32 = 1;

/// Where and how to ask.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) model: ModelRef,
    /// The completions' own address.
    pub(crate) url: Url,
    pub(crate) key: Option<Secret>,
    /// Send `reasoning_effort`.
    pub(crate) effort: bool,
    pub(crate) idle_timeout: Duration,
    pub(crate) dialect: Dialect,
}

/// A model at an OpenAI-compatible endpoint.
pub(crate) struct Chat {
    endpoint: Endpoint,
    client: Client,
}

/// A request that got no answer.
struct Failed {
    error: ModelError,
    /// It may be sent again, after this wait; `None` in it: as long as we like.
    again: Option<Option<Duration>>,
}

impl Chat {
    pub(crate) fn new(endpoint: Endpoint, client: Client) -> Self {
        Self { endpoint, client }
    }

    /// The first good response and how many requests had to be sent again for it.
    async fn open(&self, body: &Bytes, deadline: Instant) -> Result<(Response, u32), ModelError> {
        let mut retries = 0;
        loop {
            let failed = match self.ask(body.clone(), deadline).await {
                Ok(response) => return Ok((response, retries)),
                Err(failed) => failed,
            };
            let Some(wait) = failed.again.filter(|_| retries < RETRIES) else { return Err(failed.error) };
            let wait = wait.unwrap_or_else(retry::backoff);
            if wait >= deadline.saturating_duration_since(Instant::now()) {
                return Err(failed.error);
            }
            sleep(wait).await;
            retries += 1;
        }
    }

    async fn ask(&self, body: Bytes, deadline: Instant) -> Result<Response, Failed> {
        let started = Instant::now();
        let left = deadline.saturating_duration_since(started);
        let failed = |error| Failed { error, again: None };
        let request = Request::post_json(self.endpoint.url.clone(), body)
            .header(header::ACCEPT, HeaderValue::from_static("text/event-stream, application/json"))
            .timeout(left.min(self.endpoint.idle_timeout));
        let request = match &self.endpoint.key {
            Some(key) => request.bearer(key).map_err(|_| failed(ModelError::Auth))?,
            None => request,
        };
        match self.client.send(request).await {
            Ok(response) if response.status().is_success() => Ok(response),
            Ok(response) => Err(refusal(response).await),
            Err(error @ EgressError::Refused { .. }) => {
                Err(Failed { error: ModelError::Unavailable(error.to_string()), again: Some(None) })
            }
            Err(EgressError::Timeout { .. })
                if left > self.endpoint.idle_timeout && started.elapsed() >= self.endpoint.idle_timeout =>
            {
                Err(failed(ModelError::Idle))
            }
            Err(error) => Err(failed(ModelError::Unavailable(error.to_string()))),
        }
    }
}

/// What a response without success means. Its body is read, within bounds, for what it calls itself.
async fn refusal(response: Response) -> Failed {
    let status = response.status().as_u16();
    let wait = retry::retry_after(response.headers(), SystemTime::now());
    let again = matches!(status, 429 | 503 | 529).then_some(wait);
    let body = response.bytes(MAX_ERROR_BODY).await.unwrap_or_default();
    Failed { error: failure::of_response(status, wait, &body), again }
}

#[async_trait]
impl ChatModel for Chat {
    fn model(&self) -> ModelRef {
        self.endpoint.model.clone()
    }

    async fn stream(&self, cancel: CancellationToken, request: ChatRequest) -> Result<ChatStream, ModelError> {
        let deadline = Instant::now() + request.timeout;
        let body = Bytes::from(request::body(&self.endpoint, &request));
        drop(request);
        let (response, retries) = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ModelError::Cut),
            opened = Box::pin(self.open(&body, deadline)) => opened?,
        };
        drop(body);
        let answer = Answer::new(self.endpoint.model.provider.clone(), retries);
        match response.content_type().as_deref() {
            None | Some("text/event-stream") => {
                Ok(Reading::new(response.chunks(), answer, self.endpoint.idle_timeout, deadline, cancel).into_stream())
            }
            Some("application/json") => tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ModelError::Cut),
                read = whole(response, answer) => read,
            },
            Some("text/html") => Err(ModelError::Protocol("a web page; is model.base_url the address of an API?")),
            Some(_) => Err(ModelError::Protocol("neither an event stream nor JSON")),
        }
    }
}

/// The answer of a server that does not stream, as a stream.
async fn whole(response: Response, mut answer: Answer) -> Result<ChatStream, ModelError> {
    let body = response.bytes(MAX_WHOLE_BODY).await.map_err(|error| match error {
        EgressError::TooLarge { .. } => ModelError::Protocol("an answer of more than 12 MiB"),
        EgressError::Timeout { .. } => ModelError::Idle,
        _ => ModelError::Cut,
    })?;
    let mut out = VecDeque::new();
    answer.whole(&body, &mut out)?;
    let end = answer.end();
    Ok(stream::iter(out.into_iter().map(Ok).chain([end])).boxed())
}
