//! One orchestrator over a fresh database, a model in the test's hands, and another process played by the test.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use catalog::Catalog;
use domain::{
    Bookmark, ChannelName, ChatEvent, ChatModel, ChatRequest, ChatStream, Clock, Event, FinishReason, Ids, MessageId, ModelError,
    ModelRef, OrgId, Part, Principal, RunId, RunInput, RunStatus, ThreadId, TokenUsage, UserId, Verifier, WorkerId,
};
use futures::StreamExt;
use orchestrator::{Follow, From, InProcess, ItemKind, Orchestrator, Parts, Reader, Roster, Settings, Submission, WorkScope};
use storage::{Claim, Claimed, FrameBatch, NewMessage, RunRef, Store, StoreOptions, SweepPolicy};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

/// Longest a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

pub async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it comes in time")
}

/// What the model says next.
pub enum Say {
    Text(&'static str),
    Done,
    Panic,
}

/// A call of the model that waits for the test.
pub struct Call {
    pub request: ChatRequest,
    say: mpsc::UnboundedSender<Say>,
}

impl Call {
    pub fn say(&self, say: Say) {
        // The turn may have gone.
        let _ = self.say.send(say);
    }

    pub fn answer(&self, text: &'static str) {
        self.say(Say::Text(text));
        self.say(Say::Done);
    }
}

struct Model {
    calls: mpsc::UnboundedSender<Call>,
    /// Answers every call at once.
    by_itself: AtomicBool,
}

#[async_trait]
impl ChatModel for Model {
    fn model(&self) -> ModelRef {
        ModelRef { provider: "test".into(), name: "scripted".into() }
    }

    async fn stream(&self, _cancel: CancellationToken, request: ChatRequest) -> Result<ChatStream, ModelError> {
        let (say, said) = mpsc::unbounded_channel();
        let call = Call { request, say };
        if self.by_itself.load(Ordering::SeqCst) {
            call.answer("by itself");
        }
        let _ = self.calls.send(call);
        let stream = futures::stream::unfold(said, |mut said| async move {
            let event = match said.recv().await? {
                Say::Text(text) => ChatEvent::Text(text.into()),
                Say::Done => ChatEvent::Done { finish: FinishReason::Stop, usage: TokenUsage::default(), retries: 0 },
                Say::Panic => panic!("the model was told to panic"),
            };
            Some((Ok(event), said))
        });
        Ok(stream.boxed())
    }
}

struct Ulids;

impl Ids for Ulids {
    fn ulid(&self) -> String {
        ulid::Ulid::new().to_string()
    }
}

struct Noon;

impl Clock for Noon {
    fn now_ms(&self) -> i64 {
        1_796_040_000_000
    }
}

pub struct Desk {
    pub orchestrator: Orchestrator,
    pub calls: mpsc::UnboundedReceiver<Call>,
    model: Arc<Model>,
    folder: Arc<tempfile::TempDir>,
}

/// Which model an orchestrator has.
pub enum With {
    Model,
    NoModel,
}

impl Desk {
    pub async fn new() -> Self {
        Self::set(Settings::default(), With::Model).await
    }

    pub async fn with(settings: Settings) -> Self {
        Self::set(settings, With::Model).await
    }

    pub async fn set(settings: Settings, with: With) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let desk = Self::open(folder, settings, with).await;
        desk.store().add_user(&ada().org, &ada().user, None).await.unwrap();
        desk
    }

    /// Another process on the same database.
    pub async fn another(&self) -> Self {
        Self::open(self.folder.clone(), self.orchestrator.settings().clone(), With::Model).await
    }

    async fn open(folder: Arc<tempfile::TempDir>, settings: Settings, with: With) -> Self {
        let url = format!("sqlite:{}", folder.path().join("test.db").display());
        let options = StoreOptions { url, durability: storage::Durability::Normal, connections: 0, application: None };
        let store = Store::open(options).await.unwrap();
        let (sender, calls) = mpsc::unbounded_channel();
        let model = Arc::new(Model { calls: sender, by_itself: AtomicBool::new(false) });
        let orchestrator = Orchestrator::new(Parts {
            store,
            model: match with {
                With::Model => Some(model.clone()),
                With::NoModel => None,
            },
            catalog: Arc::new(Catalog::builder().build().unwrap()),
            roster: Arc::new(Roster::builtin()),
            signals: Arc::new(InProcess::new()),
            ids: Arc::new(Ulids),
            clock: Arc::new(Noon),
            settings,
        });
        Self { orchestrator, calls, model, folder }
    }

    pub fn store(&self) -> &Store {
        self.orchestrator.store()
    }

    pub fn model_answers_by_itself(&self) {
        self.model.by_itself.store(true, Ordering::SeqCst);
    }

    pub async fn call(&mut self) -> Call {
        soon(self.calls.recv()).await.unwrap()
    }

    pub async fn submit(&self, thread: &str, run: &str) -> RunRef {
        self.orchestrator.submit(&ada(), submission(thread, run)).await.unwrap().run
    }

    pub fn follow(&self, run: &RunRef, from: From) -> Reading {
        self.read(run, from, Reader::Person)
    }

    pub fn read(&self, run: &RunRef, from: From, reader: Reader) -> Reading {
        Reading(self.orchestrator.follow(&ada(), run.clone(), from, reader))
    }

    pub fn work(&self) -> Working {
        self.work_on(WorkScope::All { concurrency: 4 })
    }

    pub fn work_on(&self, scope: WorkScope) -> Working {
        let stop = CancellationToken::new();
        let (orchestrator, token) = (self.orchestrator.clone(), stop.clone());
        Working { stop, task: tokio::spawn(async move { orchestrator.work(scope, token).await }) }
    }

    pub async fn status(&self, run: &RunRef) -> RunStatus {
        self.store().run_by_key(&run.key).await.unwrap().unwrap().status
    }

    /// Another process takes the run.
    pub async fn claim_elsewhere(&self) -> Claimed {
        let worker = WorkerId::parse("elsewhere").unwrap();
        let claim = Claim { worker: &worker, max: 1, thread: None, org_runs: 64, lease: Duration::from_secs(15), decide: None };
        self.store().claim(claim).await.unwrap().remove(0)
    }

    pub async fn claim_or_none(&self) -> Option<Claimed> {
        let worker = WorkerId::parse("elsewhere").unwrap();
        let claim = Claim { worker: &worker, max: 1, thread: None, org_runs: 64, lease: Duration::from_secs(15), decide: None };
        self.store().claim(claim).await.unwrap().pop()
    }

    /// The other process dies and its lease runs out.
    pub async fn lose_elsewhere(&self) {
        self.store().shift_clock(16_000);
        self.lose_lease_of_others().await;
    }

    pub async fn lose_lease_of_others(&self) {
        let policy = SweepPolicy { linger: None, failures: 3, retention: Duration::from_secs(600), lost_note: "lost".into() };
        assert_eq!(self.store().sweep(&policy).await.unwrap().requeued.len(), 1);
    }
}

pub struct Working {
    pub stop: CancellationToken,
    pub task: JoinHandle<()>,
}

impl Working {
    pub async fn stop(self) {
        self.stop.cancel();
        soon(self.task).await.unwrap();
    }
}

/// A reader, and what it was sent.
pub struct Reading(pub Follow);

#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    pub mark: Option<Bookmark>,
    pub event: Event,
    pub kind: ItemKind,
}

impl Sent {
    /// Where a reader is that was sent this.
    pub fn mark(&self) -> Bookmark {
        self.mark.clone().expect("a place in the run")
    }
}

impl Reading {
    pub async fn next(&mut self) -> Option<Sent> {
        let item = soon(self.0.next()).await?.unwrap();
        Some(Sent { mark: item.mark, event: serde_json::from_slice(&item.json).unwrap(), kind: item.kind })
    }

    /// Up to and with the first event of this kind.
    pub async fn until(&mut self, wanted: impl Fn(&Event) -> bool) -> Vec<Sent> {
        let mut sent = Vec::new();
        loop {
            sent.push(self.next().await.expect("the stream goes on"));
            if sent.last().is_some_and(|last| wanted(&last.event)) {
                return sent;
            }
        }
    }

    /// Everything there is.
    pub async fn rest(mut self) -> Vec<Sent> {
        let mut sent = Vec::new();
        while let Some(item) = self.next().await {
            sent.push(item);
        }
        sent
    }
}

/// A response in short: what a person would read, and its end.
pub fn told(sent: &[Sent]) -> String {
    let words = sent.iter().map(|sent| match &sent.event {
        Event::RunStarted { .. } => "started".to_owned(),
        Event::TextMessageStart { .. } => "<".to_owned(),
        Event::TextMessageContent { delta, .. } => delta.clone(),
        Event::TextMessageEnd { .. } => ">".to_owned(),
        Event::RunFinished { outcome: Some(domain::Outcome::Cancelled), .. } => "cancelled".to_owned(),
        Event::RunFinished { .. } => "finished".to_owned(),
        Event::RunError { code, .. } => code.clone().unwrap_or_default(),
        Event::Custom { name, value } if name == "frontdesk.queued" => format!("queued {}", value["position"]),
        Event::Custom { name, value } if name == "frontdesk.superseded" => format!("superseded {}", value["messageIds"]),
        _ => String::new(),
    });
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Exactly one terminal item, the last; places ascend, none comes twice; an order that every client accepts.
pub fn assert_whole(sent: &[Sent]) {
    let ends = sent.iter().filter(|sent| sent.kind == ItemKind::Terminal).count();
    assert_eq!(ends, 1, "{sent:?}");
    assert!(sent.last().is_some_and(|last| last.kind == ItemKind::Terminal), "{sent:?}");
    let marks: Vec<_> = sent.iter().filter_map(|sent| sent.mark.as_ref()).collect();
    assert!(marks.is_sorted_by(|a, b| (a.offset, a.bridged) < (b.offset, b.bridged)), "{sent:?}");
    // One that begins later may begin within what another response opened.
    if matches!(sent[0].event, Event::RunStarted { .. }) {
        let mut verifier = Verifier::new();
        for Sent { event, .. } in sent {
            verifier.accept(event).unwrap_or_else(|error| panic!("{error}: {sent:?}"));
        }
    }
}

pub fn ada() -> Principal {
    Principal::new(OrgId::parse("acme").unwrap(), UserId::parse("ada").unwrap(), ChannelName::parse("web").unwrap())
}

pub fn submission(thread: &str, run: &str) -> Submission {
    Submission {
        thread: ThreadId::parse(thread).unwrap(),
        run: RunId::parse(run).unwrap(),
        message: Some(NewMessage {
            id: MessageId::parse(format!("m-{run}")).unwrap(),
            parts: vec![Part::Text { text: format!("hello from {run}") }],
        }),
        last_user: None,
        answers: Vec::new(),
        replaces: None,
        parent_run: None,
        input: RunInput::default(),
        need_worker: false,
    }
}

pub fn batch(first: i64, events: &[Event]) -> FrameBatch {
    let mut body = Vec::new();
    for event in events {
        body.extend(serde_json::to_vec(event).unwrap());
        body.push(b'\n');
    }
    FrameBatch { first, last: first + i64::try_from(events.len()).unwrap() - 1, body }
}

pub fn text_start(id: &str) -> Event {
    Event::TextMessageStart { message_id: MessageId::parse(id).unwrap(), role: "assistant".into() }
}

pub fn text(id: &str, delta: &str) -> Event {
    Event::TextMessageContent { message_id: MessageId::parse(id).unwrap(), delta: delta.into() }
}

pub fn text_end(id: &str) -> Event {
    Event::TextMessageEnd { message_id: MessageId::parse(id).unwrap() }
}

pub fn finished(run: &RunRef) -> Event {
    Event::RunFinished {
        thread_id: run.thread_id.clone(),
        run_id: run.id.clone(),
        outcome: None,
        usage: Vec::new(),
        metadata: None,
    }
}

pub fn is_text(event: &Event) -> bool {
    matches!(event, Event::TextMessageContent { .. })
}
