//! One server in one temporary folder.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Request, StatusCode},
};
use domain::{
    ChatEvent, ChatMessage, ChatModel, ChatRequest, ChatStream, Clock, FinishReason, Ids, ModelError, ModelRef, OrgId, Part,
    Secret, TokenUsage, UserId, message::text_of,
};
use futures::{StreamExt, stream};
use http_body_util::BodyExt;
use orchestrator::{InProcess, Orchestrator, Parts, Roster, WorkScope};
use serde_json::{Value, json};
use server::{App, AuthMode, AuthSettings, ServerParts, Settings, Signer};
use storage::{Durability, Store, StoreOptions};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

pub(crate) const NOW: i64 = 1_796_000_000_000;

/// Says back the last message; "wait" never ends, "fail" is refused, "call a b" calls those tools and says back their
/// results.
struct Echo;

#[async_trait]
impl ChatModel for Echo {
    fn model(&self) -> ModelRef {
        ModelRef { provider: "scripted".to_owned(), name: "echo".to_owned() }
    }

    async fn stream(&self, _cancel: CancellationToken, request: ChatRequest) -> Result<ChatStream, ModelError> {
        let results = request.messages.iter().rev().map_while(|message| match message {
            ChatMessage::Tool { content, .. } => Some(content.as_str()),
            _ => None,
        });
        let results: Vec<&str> = results.collect();
        if !results.is_empty() {
            let said = results.into_iter().rev().collect::<Vec<_>>().join(" | ");
            return Ok(stream::iter([Ok(ChatEvent::Text(format!("got: {said}"))), done(FinishReason::Stop)]).boxed());
        }
        let said = request.messages.iter().rev().find_map(|message| match message {
            ChatMessage::User { parts } => Some(line(parts)),
            _ => None,
        });
        let said = said.unwrap_or_default();
        if said.contains("fail") {
            return Err(ModelError::Refused);
        }
        if let Some(names) = said.strip_prefix("call ") {
            let calls = names.split(' ').enumerate().flat_map(|(index, name)| {
                let arguments = ChatEvent::ToolArguments { index, delta: "{}".to_owned() };
                [Ok(ChatEvent::ToolCall { index, name: name.to_owned() }), Ok(arguments)]
            });
            let calls: Vec<_> = calls.chain([done(FinishReason::ToolCalls)]).collect();
            return Ok(stream::iter(calls).boxed());
        }
        let first = stream::iter([Ok(ChatEvent::Text("You said: ".to_owned()))]);
        if said.contains("wait") {
            return Ok(first.chain(stream::pending()).boxed());
        }
        let rest = [Ok(ChatEvent::Text(said)), done(FinishReason::Stop)];
        Ok(first.chain(stream::iter(rest)).boxed())
    }
}

fn done(finish: FinishReason) -> Result<ChatEvent, ModelError> {
    let usage = TokenUsage { input_tokens: Some(5), output_tokens: Some(3), ..TokenUsage::default() };
    Ok(ChatEvent::Done { finish, usage, retries: 0 })
}

/// The last line a person wrote, without the context put after it.
fn line(parts: &[Part]) -> String {
    let text = text_of(parts);
    let before = text.split("<context>").next().unwrap_or_default();
    before.trim_end().lines().next_back().unwrap_or_default().to_owned()
}

struct TestIds;

impl Ids for TestIds {
    fn ulid(&self) -> String {
        ulid::Ulid::new().to_string()
    }
}

pub(crate) struct TestClock(pub(crate) AtomicI64);

impl Clock for TestClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

pub(crate) struct World {
    pub(crate) app: App,
    pub(crate) store: Store,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) orchestrator: Orchestrator,
    auth: AuthSettings,
    router: Router,
    stop: CancellationToken,
    _folder: tempfile::TempDir,
}

/// What differs from the usual server: with a model, with workers, HS256.
pub(crate) struct Options {
    pub(crate) model: bool,
    pub(crate) workers: bool,
    pub(crate) settings: Settings,
}

impl Default for Options {
    fn default() -> Self {
        let secret = Secret::new("0123456789abcdef0123456789abcdef");
        let auth = AuthSettings { mode: AuthMode::Secret(secret), ..AuthSettings::default() };
        Self { model: true, workers: true, settings: Settings { auth, body_bytes: 100_000, ..Settings::default() } }
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(Options::default()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("t.db").display());
        let store =
            Store::open(StoreOptions { url, durability: Durability::Normal, connections: 0, application: None }).await.unwrap();
        let clock = Arc::new(TestClock(AtomicI64::new(NOW)));
        let orchestrator = Orchestrator::new(Parts {
            store: store.clone(),
            model: options.model.then(|| Arc::new(Echo) as Arc<dyn ChatModel>),
            catalog: Arc::new(catalog::Catalog::builder().build().unwrap()),
            roster: Arc::new(Roster::builtin()),
            signals: Arc::new(InProcess::new()),
            ids: Arc::new(TestIds),
            clock: clock.clone(),
            settings: orchestrator::Settings::default(),
        });
        store.add_user(&OrgId::parse("acme").unwrap(), &UserId::parse("ada").unwrap(), None).await.unwrap();
        let auth = options.settings.auth.clone();
        let parts = ServerParts {
            orchestrator: orchestrator.clone(),
            ids: Arc::new(TestIds),
            clock: clock.clone(),
            fetch_keys: Arc::new(|_| Box::pin(async { Err("no key set is fetched here".to_owned()) })),
            settings: options.settings,
        };
        let app = App::open(parts).await.unwrap();
        let stop = CancellationToken::new();
        let world = Self { router: app.router(), app, store, clock, orchestrator, auth, stop, _folder: folder };
        if options.workers {
            let (orchestrator, stop) = (world.orchestrator.clone(), world.stop.clone());
            tokio::spawn(async move { orchestrator.work(WorkScope::All { concurrency: 4 }, stop).await });
            world.until("/readyz", StatusCode::OK).await;
        }
        world
    }

    /// A token of `user` in organization `acme`, valid for an hour.
    pub(crate) async fn token(&self, user: &str) -> String {
        let signer = Signer::open(&self.store, &self.auth).await.unwrap();
        let (user, org) = (UserId::parse(user).unwrap(), OrgId::parse("acme").unwrap());
        signer.token(&user, &org, Duration::from_secs(3_600), self.clock.now_ms()).text
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        bounded(async { Answer::of(self.router.clone().oneshot(request).await.unwrap()).await }).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.request("GET", path).await.body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str) -> Answer {
        self.send(self.request("POST", path).await.body(Body::empty()).unwrap()).await
    }

    /// Ada's POST of `body` to `/v1/agui`.
    pub(crate) async fn agui(&self, body: Value) -> Answer {
        let request = self.request("POST", "/v1/agui").await.header("content-type", "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    /// The same with TanStack's header.
    pub(crate) async fn tanstack(&self, body: Value) -> Answer {
        let run = body["runId"].as_str().unwrap().to_owned();
        let request = self.request("POST", "/v1/agui").await.header("content-type", "application/json").header("x-run-id", run);
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    /// As Ada.
    pub(crate) async fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        let token = self.token("ada").await;
        Request::builder().method(method).uri(path).header("authorization", format!("Bearer {token}"))
    }

    /// Asks until the answer has this status.
    pub(crate) async fn until(&self, path: &str, status: StatusCode) {
        bounded(async {
            while self.get(path).await.status != status {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
}

/// Fails a test that would wait for ever.
pub(crate) async fn bounded<T>(waiting: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("what the test waits for comes within 30 s")
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// An answer read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    async fn of(response: axum::response::Response) -> Self {
        let (parts, body) = response.into_parts();
        let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        Self { status: parts.status, headers: parts.headers, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Status and code of a problem document.
    pub(crate) fn problem(&self) -> (u16, String) {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{}", self.body);
        let body = self.json();
        assert_eq!(body["status"], self.status.as_u16());
        (self.status.as_u16(), body["code"].as_str().unwrap().to_owned())
    }

    /// Offset (empty if none) and event of each frame.
    pub(crate) fn events(&self) -> Vec<(String, Value)> {
        assert_eq!((self.status, self.header("content-type")), (StatusCode::OK, Some("text/event-stream")), "{}", self.body);
        events(&self.body)
    }

    /// The stream without `frontdesk.queued`, of which a reader gets as many as it happens to wait for.
    pub(crate) fn told(&self) -> String {
        let frames = self.body.split_inclusive("\n\n").filter(|frame| !frame.contains(r#""name":"frontdesk.queued""#));
        frames.collect()
    }

    pub(crate) fn kinds(&self) -> Vec<String> {
        self.events().iter().map(|(_, event)| event["type"].as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) fn events(text: &str) -> Vec<(String, Value)> {
    let mut events = Vec::new();
    for frame in text.split_terminator("\n\n").filter(|frame| !frame.starts_with(':')) {
        let (id, data) = match frame.split_once('\n') {
            Some((id, data)) => (id.strip_prefix("id: ").unwrap(), data),
            None => ("", frame),
        };
        events.push((id.to_owned(), serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap()));
    }
    events
}

/// A RunAgentInput of AG-UI 1.0 with one message, whose id is `u` and the run's.
pub(crate) fn input(thread: &str, run: &str, text: &str) -> Value {
    json!({"threadId": thread, "runId": run, "protocolVersion": "1.0", "state": {}, "tools": [], "context": [],
           "messages": [{"id": format!("u-{run}"), "role": "user", "content": text}], "forwardedProps": {}})
}
