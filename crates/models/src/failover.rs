//! Which model is asked, and when again: one policy for all wires, also for one model alone.
//!
//! The models stand in the operator's order. Until the first visible byte of an answer (text, reasoning or a call) the
//! next one may take over; after it an error is the caller's. All of it, waits included, happens within the request's
//! one deadline, and each attempt of several gets a fair part of what is left. A model that limits its rate, is overloaded
//! or does not keep the connection may be asked once more, after the wait it names, if no other has answered until then. What
//! is wrong with the request itself (400, too long, refused) is wrong everywhere: it is passed up at once.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use domain::{ChatEvent, ChatModel, ChatRequest, ChatStream, ModelError, ModelRef};
use futures::{StreamExt, stream};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::{
    breaker::Breaker,
    endpoint::{Again, Model},
    retry,
};

/// Events before the first visible byte that are kept for the caller.
const MAX_EARLY: usize = 16;

/// The models of one door, the first one named first.
pub(crate) struct Failover(Vec<Arc<Candidate>>);

struct Candidate {
    model: Arc<Model>,
    breaker: Breaker,
}

/// One answer being looked for.
struct Search<'a> {
    cancel: &'a CancellationToken,
    request: &'a ChatRequest,
    deadline: Instant,
    /// What came to nothing so far, for the ledger.
    tried: Vec<ChatEvent>,
    /// What to say if nothing more helps.
    error: ModelError,
}

/// What one attempt came to.
enum Outcome {
    /// What came before the first visible byte, that byte, and the rest.
    Begun(Vec<ChatEvent>, ChatStream),
    /// Whether to ask the same model once more, and the earliest time.
    Failed { again: Option<Instant> },
    /// Asking anywhere else is no use.
    Over,
}

impl Failover {
    /// `models` may not be empty.
    pub(crate) fn new(models: Vec<Arc<Model>>) -> Self {
        debug_assert!(!models.is_empty());
        Self(models.into_iter().map(|model| Arc::new(Candidate { model, breaker: Breaker::default() })).collect())
    }

    /// Healthy models in their order, then the others in theirs.
    fn order(&self) -> Vec<&Arc<Candidate>> {
        let now = Instant::now();
        let (mut healthy, ill): (Vec<_>, Vec<_>) = self.0.iter().partition(|candidate| candidate.breaker.admits(now));
        healthy.extend(ill);
        healthy
    }
}

#[async_trait]
impl ChatModel for Failover {
    fn model(&self) -> ModelRef {
        self.0[0].model.endpoint.model.clone()
    }

    async fn stream(&self, cancel: CancellationToken, request: ChatRequest) -> Result<ChatStream, ModelError> {
        let deadline = Instant::now() + request.timeout;
        let error = ModelError::Unavailable("no model could be asked".to_owned());
        let mut search = Search { cancel: &cancel, request: &request, deadline, tried: Vec::new(), error };
        let order = self.order();
        let mut again = Vec::new();
        for (place, candidate) in order.iter().enumerate() {
            match search.attempt(candidate, order.len() - place).await {
                Outcome::Begun(early, rest) => return Ok(self.begun(candidate, search, early, rest)),
                Outcome::Failed { again: Some(at) } => again.push((at, *candidate)),
                Outcome::Failed { again: None } => {}
                Outcome::Over => return search.ended(),
            }
        }
        again.sort_by_key(|(at, _)| *at);
        let count = again.len();
        for (place, (at, candidate)) in again.into_iter().enumerate() {
            if at >= deadline {
                break;
            }
            tokio::select! {
                biased;
                () = cancel.cancelled() => break,
                () = sleep_until(at) => {}
            }
            match search.attempt(candidate, count - place).await {
                Outcome::Begun(early, rest) => return Ok(self.begun(candidate, search, early, rest)),
                Outcome::Failed { .. } => {}
                Outcome::Over => break,
            }
        }
        search.ended()
    }
}

impl Failover {
    /// The answer as the caller sees it: what was tried, who answers, then the answer, which is watched to its end.
    fn begun(&self, candidate: &Arc<Candidate>, search: Search<'_>, early: Vec<ChatEvent>, rest: ChatStream) -> ChatStream {
        let Search { cancel, deadline, tried, .. } = search;
        let (candidate, cancel) = (candidate.clone(), cancel.clone());
        let retries = u32::try_from(tried.len()).unwrap_or(u32::MAX);
        // A caller that counts on the first model is told of another, also by a provider that gives no name.
        let other = (!Arc::ptr_eq(&candidate, &self.0[0])).then(|| ChatEvent::Model(candidate.model.endpoint.model.clone()));
        let before = tried.into_iter().chain(other).chain(early).map(Ok);
        let watched = stream::iter(before).chain(rest).map(move |event| match event {
            Ok(ChatEvent::Done { finish, usage, retries: 0 }) => {
                candidate.breaker.succeeded();
                Ok(ChatEvent::Done { finish, usage, retries })
            }
            Err(error) => {
                candidate.note(&error, &cancel, deadline);
                Err(error)
            }
            event => event,
        });
        watched.boxed()
    }
}

impl Candidate {
    /// Counts a failure that is the model's own.
    fn note(&self, error: &ModelError, cancel: &CancellationToken, deadline: Instant) {
        let now = Instant::now();
        let ours = cancel.is_cancelled() || now >= deadline;
        if !ours && !is_final(error) {
            self.breaker.failed(error, now);
        }
    }
}

impl Search<'_> {
    /// `share`: among how many attempts the time that is left is to be divided.
    async fn attempt(&mut self, candidate: &Arc<Candidate>, share: usize) -> Outcome {
        let started = Instant::now();
        let left = self.deadline.saturating_duration_since(started);
        let share = u32::try_from(share).unwrap_or(u32::MAX).max(1);
        let first = candidate.model.endpoint.idle_timeout.min(left / share).max(Duration::from_millis(1));
        let (error, again) = match candidate.model.ask(self.request, first, self.deadline, self.cancel).await {
            Ok(events) => match begin(events).await {
                Ok((early, rest)) => return Outcome::Begun(early, rest),
                Err(error) => (error, Again::Never),
            },
            Err(failed) => (failed.error, failed.again),
        };
        candidate.note(&error, self.cancel, self.deadline);
        let over = is_final(&error) || self.cancel.is_cancelled() || Instant::now() >= self.deadline;
        let wait = match (again, &error) {
            (Again::Never, _) => None,
            (Again::AtOnce, _) => Some(Duration::ZERO),
            (Again::Later, ModelError::RateLimited { retry_after } | ModelError::Overloaded { retry_after }) => {
                Some(retry_after.unwrap_or_else(retry::backoff))
            }
            (Again::Later, _) => Some(retry::backoff()),
        };
        let model = candidate.model.endpoint.model.clone();
        self.tried.push(ChatEvent::Failed { model, error: error.clone(), latency: started.elapsed() });
        self.error = error;
        match over {
            true => Outcome::Over,
            false => Outcome::Failed { again: wait.map(|wait| Instant::now() + wait) },
        }
    }

    /// No answer: what was tried, and the last error. Whoever cancelled wants to hear nothing of it.
    fn ended(self) -> Result<ChatStream, ModelError> {
        if self.cancel.is_cancelled() {
            return Err(ModelError::Cut);
        }
        Ok(stream::iter(self.tried.into_iter().map(Ok).chain([Err(self.error)])).boxed())
    }
}

/// Reads up to the first visible byte, or the end of an answer without any.
async fn begin(mut events: ChatStream) -> Result<(Vec<ChatEvent>, ChatStream), ModelError> {
    let mut early = Vec::new();
    loop {
        let event = events.next().await.unwrap_or(Err(ModelError::Cut))?;
        let quiet = matches!(event, ChatEvent::Model(_) | ChatEvent::ReasoningSignature(_)) && early.len() < MAX_EARLY;
        early.push(event);
        if !quiet {
            return Ok((early, events));
        }
    }
}

/// Whether the request itself is what is wrong. A name or a key that one provider does not know, another may.
fn is_final(error: &ModelError) -> bool {
    match error {
        ModelError::ContextTooLong | ModelError::Refused => true,
        ModelError::Invalid { status } => matches!(status, 400 | 406 | 409 | 415 | 422),
        ModelError::RateLimited { .. }
        | ModelError::Overloaded { .. }
        | ModelError::Auth
        | ModelError::Cut
        | ModelError::Idle
        | ModelError::Protocol(_)
        | ModelError::Unavailable(_) => false,
    }
}
