//! A turn on a real store with a scripted model.

use std::{
    collections::VecDeque,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use domain::{
    ChannelName, ChatEvent, ChatStream, Clock, Ids, Message, MessageId, ModelError, ModelRef, Offset, OrgId, RunId, RunKey,
    ThreadId, ThreadKey, UserId, WorkerId,
};
use serde_json::{Value, json};
use storage::{Accept, Accepted, Claim, Durability, NewMessage, Store, StoreOptions, WhenBusy};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{InProcess, Settings, hub::Hub, log::RunLog};

/// What a scripted model does next.
pub(super) enum Act {
    Say(ChatEvent),
    Fail(ModelError),
    /// The run is told to stop; the script goes on.
    Stop(Stop),
    /// The user loses the membership.
    Leave,
    /// The last reader's socket closes.
    Away,
    /// Never again anything.
    Hang,
}

pub(super) fn text(text: &str) -> ChatEvent {
    ChatEvent::Text(text.to_owned())
}

pub(super) fn call(index: usize, name: &str) -> ChatEvent {
    ChatEvent::ToolCall { index, name: name.to_owned() }
}

pub(super) fn done(finish: FinishReason) -> Act {
    let usage = TokenUsage { input_tokens: Some(10), output_tokens: Some(2), ..TokenUsage::default() };
    Act::Say(ChatEvent::Done { finish, usage, retries: 0 })
}

pub(super) fn says(words: &str) -> Vec<Act> {
    vec![Act::Say(text(words)), done(FinishReason::Stop)]
}

/// Answers from its script; remembers what it was asked.
#[derive(Default)]
struct Scripted {
    script: Mutex<VecDeque<Vec<Act>>>,
    requests: Mutex<Vec<ChatRequest>>,
    control: Mutex<Option<Arc<RunControl>>>,
    store: Mutex<Option<Store>>,
}

#[async_trait]
impl ChatModel for Scripted {
    fn model(&self) -> ModelRef {
        ModelRef { provider: "test".to_owned(), name: "m-1".to_owned() }
    }

    async fn stream(&self, _cancel: CancellationToken, request: ChatRequest) -> Result<ChatStream, ModelError> {
        let identity = request.identity.clone();
        self.requests.lock().unwrap().push(request);
        let script = self.script.lock().unwrap().pop_front().expect("asked more often than the script says");
        let control = self.control.lock().unwrap().clone().unwrap();
        let store = self.store.lock().unwrap().clone().unwrap();
        let stream = futures::stream::unfold(VecDeque::from(script), move |mut acts| {
            let (control, store, identity) = (control.clone(), store.clone(), identity.clone());
            async move {
                loop {
                    match acts.pop_front()? {
                        Act::Say(event) => return Some((Ok(event), acts)),
                        Act::Fail(error) => return Some((Err(error), acts)),
                        Act::Stop(stop) => control.stop_for(stop),
                        Act::Away => control.set_unattended(true),
                        Act::Leave => drop(store.remove_user(&identity.org, &identity.user).await.unwrap()),
                        Act::Hang => std::future::pending().await,
                    }
                }
            }
        });
        Ok(Box::pin(stream))
    }
}

/// 2026-11-30T19:27:20.634Z, always.
struct Fixed;

impl Clock for Fixed {
    fn now_ms(&self) -> i64 {
        1_796_066_840_634
    }
}

#[derive(Default)]
struct Counted(AtomicU64);

impl Ids for Counted {
    fn ulid(&self) -> String {
        format!("{:026}", self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

pub(super) struct Bench {
    pub(super) parts: Parts,
    pub(super) principal: Principal,
    pub(super) thread: ThreadId,
    model: Arc<Scripted>,
    turns: AtomicU64,
    _dir: tempfile::TempDir,
}

/// What is left of a run once its turn returned.
pub(super) struct Ran {
    pub(super) key: String,
    /// Stored events of the last attempt; message ids as `m#1`, … in order of appearance.
    pub(super) events: Vec<Value>,
    pub(super) record: RunRecord,
    /// The thread's rows, a line each.
    pub(super) transcript: Vec<String>,
    pub(super) ledger: Vec<String>,
}

impl Bench {
    pub(super) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", dir.path().join("t.db").display());
        let store =
            Store::open(StoreOptions { url, durability: Durability::Normal, connections: 0, application: None }).await.unwrap();
        let (org, user) = (OrgId::parse("acme").unwrap(), UserId::parse("ada").unwrap());
        store.add_organization(&org).await.unwrap();
        store.add_user(&org, &user, None).await.unwrap();
        let model = Arc::new(Scripted::default());
        *model.store.lock().unwrap() = Some(store.clone());
        let parts = Parts {
            store,
            model: Some(model.clone()),
            catalog: Arc::new(catalog::tools::builtin().build().unwrap()),
            roster: Arc::new(crate::Roster::builtin()),
            signals: Arc::new(InProcess::default()),
            ids: Arc::new(Counted::default()),
            clock: Arc::new(Fixed),
            settings: Settings::default(),
        };
        let mut principal = Principal::new(org, user, ChannelName::parse("web").unwrap());
        principal.name = Some("Ada".to_owned());
        Self { parts, principal, thread: ThreadId::parse("t").unwrap(), model, turns: AtomicU64::new(0), _dir: dir }
    }

    pub(super) fn script<const N: usize>(&self, answers: [Vec<Act>; N]) {
        self.model.script.lock().unwrap().extend(answers);
    }

    pub(super) fn requests(&self) -> Vec<ChatRequest> {
        self.model.requests.lock().unwrap().clone()
    }

    /// What tells the run under way to stop.
    pub(super) fn control(&self) -> Arc<dyn Fn() -> Arc<RunControl> + Send + Sync> {
        let model = self.model.clone();
        Arc::new(move || model.control.lock().unwrap().clone().unwrap())
    }

    pub(super) fn input(&self) -> RunInput {
        RunInput { state: Some(json!({"tab": 1})), name: self.principal.name.clone(), ..RunInput::default() }
    }

    /// A new message, claimed and run.
    pub(super) async fn say(&self, words: &str) -> Ran {
        self.say_with(words, self.input()).await
    }

    pub(super) async fn say_with(&self, words: &str, input: RunInput) -> Ran {
        assert!(matches!(self.accept(Some(words), &[], input).await, Accepted::Fresh(_)));
        self.go_on().await
    }

    /// Results for what waits, then the run that goes on.
    pub(super) async fn results(&self, answers: &[domain::Answer], input: RunInput) -> Ran {
        assert!(matches!(self.accept(None, answers, input).await, Accepted::Fresh(_)));
        self.go_on().await
    }

    async fn accept(&self, words: Option<&str>, answers: &[domain::Answer], input: RunInput) -> Accepted {
        let turn = self.turns.fetch_add(1, Ordering::Relaxed) + 1;
        let message = words.map(|words| NewMessage {
            id: MessageId::parse(format!("u{turn}")).unwrap(),
            parts: vec![domain::Part::Text { text: words.to_owned() }],
        });
        let accept = Accept {
            principal: &self.principal,
            thread: &self.thread,
            run: &RunId::parse(format!("r{turn}")).unwrap(),
            thread_key: ThreadKey::parse(format!("T{turn}")).unwrap(),
            run_key: RunKey::parse(format!("R{turn}")).unwrap(),
            message: message.as_ref(),
            replaces: None,
            last_user: None,
            answers,
            cut_off: "cut off",
            parent_run: None,
            input: &input,
            limits: &self.parts.settings.limits,
            when_busy: WhenBusy::Queue,
            need_worker: false,
        };
        self.parts.store.accept(accept).await.unwrap()
    }

    /// Claims what is queued and runs it.
    pub(super) async fn go_on(&self) -> Ran {
        let claim = Claim {
            worker: &WorkerId::parse("w").unwrap(),
            max: 1,
            thread: None,
            org_runs: 64,
            lease: Duration::from_secs(15),
            decide: None,
        };
        let claimed = self.parts.store.claim(claim).await.unwrap().pop().unwrap();
        let control = Arc::new(RunControl::new(std::time::Instant::now(), Duration::from_secs(15)));
        *self.model.control.lock().unwrap() = Some(control.clone());
        let hub = Hub::default();
        let log = RunLog::new(claimed.lease.attempt, None, control.clone(), hub.enter(&claimed.lease.run));
        let lease = claimed.lease.clone();
        let writer = RunWriter::new(self.parts.store.clone(), self.parts.signals.clone(), lease.clone(), control.clone(), log);
        run(&self.parts, claimed, writer, control).await;
        self.ran(&lease).await
    }

    async fn ran(&self, lease: &RunLease) -> Ran {
        let store = &self.parts.store;
        let mut events: Vec<Value> = Vec::new();
        for frame in store.frames(&lease.run, Offset::START, false, usize::MAX).await.unwrap() {
            if frame.attempt == lease.attempt {
                let lines = frame.body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                events.extend(lines.map(|line| serde_json::from_slice::<Value>(line).unwrap()));
            }
        }
        let mut seen: Vec<String> = Vec::new();
        for event in &mut events {
            for field in ["messageId", "parentMessageId"] {
                let Some(id) = event.get(field).and_then(Value::as_str).map(str::to_owned) else { continue };
                let place = seen.iter().position(|known| *known == id).unwrap_or(seen.len());
                if place == seen.len() {
                    seen.push(id);
                }
                event[field] = json!(format!("m#{}", place + 1));
            }
        }
        let view = store.thread_view(&self.principal, &self.thread).await.unwrap().unwrap();
        let ledger = store.model_calls(&lease.run).await.unwrap();
        Ran {
            key: lease.run.to_string(),
            events,
            record: store.run_by_key(&lease.run).await.unwrap().unwrap(),
            transcript: view.messages.iter().map(|stored| line(&stored.message)).collect(),
            ledger: ledger
                .iter()
                .map(|call| format!("{} {} {} {}", call.step, call.provider, call.model, call.outcome))
                .collect(),
        }
    }
}

fn line(message: &Message) -> String {
    match message {
        Message::User { parts, .. } => format!("user: {}", domain::message::text_of(parts)),
        Message::Assistant { text, tool_calls, partial, .. } => {
            let calls: String = tool_calls.iter().map(|call| format!(" {}({})", call.name, call.arguments)).collect();
            format!("assistant{}: {text}{calls}", if *partial { " partial" } else { "" })
        }
        Message::Tool { content, error, .. } => format!("tool{}: {content}", if *error { " error" } else { "" }),
        Message::Note { text, .. } => format!("note: {text}"),
    }
}
