//! One request to one model: sent once, refused or read.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use domain::{ChatRequest, ChatStream, ModelError, ModelRef, Secret};
use egress::{Client, EgressError, HeaderValue, Request, Response, Url, header};
use futures::{StreamExt, stream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    answer::Answer,
    decoding::Decoding,
    failure,
    provider::{Api, Dialect},
    reading::{Patience, Reading},
    retry,
    thinking::Thinking,
    wire::Decode,
};

/// Most bytes of an error's body that are read, to find out what it is.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// Most bytes of a whole answer of a server that does not stream: the most text there may be, escaped.
const MAX_WHOLE_BODY: usize = 12 * 1024 * 1024;

/// Where and how to ask.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) model: ModelRef,
    pub(crate) api: Api,
    /// The API's own address.
    pub(crate) url: Url,
    pub(crate) key: Option<Secret>,
    pub(crate) thinking: Thinking,
    pub(crate) idle_timeout: Duration,
    pub(crate) dialect: Dialect,
}

/// A request that got no answer.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) error: ModelError,
    pub(crate) again: Again,
}

/// Whether the same sent again to the same model may get an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    Never,
    AtOnce,
    /// After the wait that the error names, or one of ours.
    Later,
}

impl Failed {
    fn last(error: ModelError) -> Self {
        Self { error, again: Again::Never }
    }
}

/// A model at an endpoint.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) endpoint: Endpoint,
    client: Client,
}

impl Model {
    pub(crate) fn new(endpoint: Endpoint, client: Client) -> Arc<Self> {
        Arc::new(Self { endpoint, client })
    }

    /// Asks once. `first` bounds the wait for the headers, and after them for the model's first word.
    pub(crate) async fn ask(
        &self,
        request: &ChatRequest,
        first: Duration,
        deadline: Instant,
        cancel: &CancellationToken,
    ) -> Result<ChatStream, Failed> {
        let body = Bytes::from(self.endpoint.api.wire().body(&self.endpoint, request));
        let asked = async {
            let response = self.send(body, first, deadline).await?;
            self.read(response, first, deadline, cancel).await.map_err(Failed::last)
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Failed::last(ModelError::Cut)),
            asked = Box::pin(asked) => asked,
        }
    }

    async fn send(&self, body: Bytes, first: Duration, deadline: Instant) -> Result<Response, Failed> {
        let started = Instant::now();
        let left = deadline.saturating_duration_since(started);
        let request = Request::post_json(self.endpoint.url.clone(), body)
            .header(header::ACCEPT, HeaderValue::from_static("text/event-stream, application/json"))
            .timeout(left.min(first));
        let request = self.endpoint.api.wire().headers(request, self.endpoint.key.as_ref());
        let request = request.map_err(|_| Failed::last(ModelError::Auth))?;
        match self.client.send(request).await {
            Ok(response) if response.status().is_success() => Ok(response),
            Ok(response) => Err(refusal(response).await),
            Err(error @ EgressError::Refused { .. }) => {
                Err(Failed { error: ModelError::Unavailable(error.to_string()), again: Again::Later })
            }
            // A connection kept from the last request may have died in between. Whatever became of the request, none of its
            // answer was seen.
            Err(error @ EgressError::Transport { .. }) => {
                Err(Failed { error: ModelError::Unavailable(error.to_string()), again: Again::AtOnce })
            }
            Err(EgressError::Timeout { .. }) if left > first && started.elapsed() >= first => Err(Failed::last(ModelError::Idle)),
            Err(error) => Err(Failed::last(ModelError::Unavailable(error.to_string()))),
        }
    }

    async fn read(
        &self,
        response: Response,
        first: Duration,
        deadline: Instant,
        cancel: &CancellationToken,
    ) -> Result<ChatStream, ModelError> {
        let answer = Answer::new(self.endpoint.model.clone());
        let decoder = self.endpoint.api.wire().decoder();
        match response.content_type().as_deref() {
            None | Some("text/event-stream") => {
                let patience = Patience { first, idle: self.endpoint.idle_timeout, deadline };
                Ok(Reading::new(response.chunks(), Decoding::new(decoder, answer), patience, cancel.clone()).into_stream())
            }
            Some("application/json") => whole(response, decoder, answer).await,
            Some("text/html") => Err(ModelError::Protocol("a web page; is model.base_url the address of an API?")),
            Some(_) => Err(ModelError::Protocol("neither an event stream nor JSON")),
        }
    }
}

/// What a response without success means. Its body is read, within bounds, for what it calls itself.
async fn refusal(response: Response) -> Failed {
    let status = response.status().as_u16();
    let wait = retry::retry_after(response.headers(), SystemTime::now());
    let body = response.bytes(MAX_ERROR_BODY).await.unwrap_or_default();
    let error = failure::of_response(status, wait, &body);
    let again = match error {
        ModelError::RateLimited { .. } | ModelError::Overloaded { .. } => Again::Later,
        _ => Again::Never,
    };
    Failed { error, again }
}

/// The answer of a server that does not stream, as a stream.
async fn whole(response: Response, mut decoder: Box<dyn Decode>, mut answer: Answer) -> Result<ChatStream, ModelError> {
    let body = response.bytes(MAX_WHOLE_BODY).await.map_err(|error| match error {
        EgressError::TooLarge { .. } => ModelError::Protocol("an answer of more than 12 MiB"),
        EgressError::Timeout { .. } => ModelError::Idle,
        _ => ModelError::Cut,
    })?;
    decoder.whole(&body, &mut answer)?;
    answer.done();
    let end = answer.end();
    let events: Vec<_> = std::iter::from_fn(|| answer.pop()).map(Ok).collect();
    Ok(stream::iter(events.into_iter().chain([end])).boxed())
}
