//! A fresh database for each test, and short words for what tests do with it.

use std::str::FromStr;
use std::time::Duration;

use domain::{
    ChannelName, Event, Limits, Message, MessageId, OrgId, Part, Principal, RunId, RunInput, RunStatus, ThreadId, TokenUsage,
    UserId, WorkerId,
};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use storage::{
    Accept, Accepted, Claim, Claimed, Durability, Finish, Frame, FrameBatch, ModelCall, NewMessage, Refusal, RunLease, RunRef,
    StepCommit, Store, StoreOptions, StoredMessage, SweepPolicy, Swept, WhenBusy,
};
use tempfile::TempDir;
use ulid::Ulid;

pub(crate) const LEASE: Duration = Duration::from_secs(15);
/// Past any lease.
pub(crate) const LATER: i64 = 16_000;
pub(crate) const MINUTE: i64 = 60_000;

/// Runs each test on both engines.
macro_rules! both_engines {
    ($($name:ident)*) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $name() {
                let db = crate::support::Db::sqlite().await;
                super::$name(db.clone()).await;
                db.end().await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $name() {
                let Some(db) = crate::support::Db::postgres().await else { return };
                super::$name(db.clone()).await;
                db.end().await;
            })*
        }
    };
}
pub(crate) use both_engines;

/// Cheap to clone.
#[derive(Clone)]
pub(crate) struct Db {
    pub(crate) store: Store,
    /// What the database lives in; removed at the end.
    home: Home,
}

#[derive(Clone)]
enum Home {
    Folder(std::sync::Arc<TempDir>),
    Schema { url: String, name: String },
}

impl Db {
    pub(crate) async fn sqlite() -> Self {
        let folder = TempDir::new().unwrap();
        let url = format!("sqlite:{}", folder.path().join("test.db").display());
        let home = Home::Folder(std::sync::Arc::new(folder));
        Self { store: open(url).await, home }.with_people().await
    }

    pub(crate) async fn postgres() -> Option<Self> {
        let Ok(url) = std::env::var("FRONTDESK_TEST_POSTGRES") else {
            println!("skipped: FRONTDESK_TEST_POSTGRES names no database");
            return None;
        };
        let name = format!("t{}", Ulid::new().to_string().to_lowercase());
        postgres_command(&url, format!("CREATE SCHEMA {name}")).await;
        let separator = if url.contains('?') { '&' } else { '?' };
        let store = open(format!("{url}{separator}options=-c%20search_path%3D{name}")).await;
        Some(Self { store, home: Home::Schema { url, name } }.with_people().await)
    }

    /// ada and bob of acme, ada of globex too.
    async fn with_people(self) -> Self {
        for (org, user) in [("acme", "ada"), ("acme", "bob"), ("globex", "ada")] {
            self.store.add_user(&id(org), &id(user), None).await.unwrap();
        }
        self
    }

    pub(crate) async fn end(self) {
        self.store.close().await;
        match self.home {
            Home::Folder(folder) => drop(folder),
            Home::Schema { url, name } => postgres_command(&url, format!("DROP SCHEMA {name} CASCADE")).await,
        }
    }

    pub(crate) async fn accept(&self, say: Say<'_>) -> Accepted {
        let input = RunInput { grounding: vec!["the person looks at cars".to_owned()], ..RunInput::default() };
        let message = NewMessage { id: id(say.message), parts: vec![Part::Text { text: format!("text of {}", say.message) }] };
        let (thread, run): (ThreadId, RunId) = (id(say.thread), id(say.run));
        let replaces = say.replaces.map(id::<MessageId>);
        let accept = Accept {
            principal: say.who,
            thread: &thread,
            run: &run,
            thread_key: key(),
            run_key: key(),
            message: Some(&message),
            replaces: replaces.as_ref(),
            last_user: None,
            answers: &[],
            cut_off: "cut off",
            parent_run: None,
            input: &input,
            limits: &say.limits,
            when_busy: say.when_busy,
            need_worker: say.need_worker,
        };
        self.store.accept(accept).await.unwrap()
    }

    /// Accepts a new run, whatever the rate.
    pub(crate) async fn say(&self, who: &Principal, thread: &str, run: &str, message: &str) -> RunRef {
        self.fresh(Say::new(who, thread, run, message)).await
    }

    pub(crate) async fn fresh(&self, say: Say<'_>) -> RunRef {
        match self.accept(say).await {
            Accepted::Fresh(run) => run,
            other => panic!("expected a fresh run, not {other:?}"),
        }
    }

    pub(crate) async fn refusal(&self, say: Say<'_>) -> Refusal {
        match self.accept(say).await {
            Accepted::Refused(refusal) => refusal,
            other => panic!("expected a refusal, not {other:?}"),
        }
    }

    pub(crate) async fn claim(&self, max: u32) -> Vec<Claimed> {
        self.claim_within(max, 1_000).await
    }

    pub(crate) async fn claim_within(&self, max: u32, org_runs: u32) -> Vec<Claimed> {
        let worker: WorkerId = id("worker");
        self.store.claim(Claim { worker: &worker, max, thread: None, org_runs, lease: LEASE, decide: None }).await.unwrap()
    }

    /// Claims the one run that can be claimed.
    pub(crate) async fn claim_one(&self) -> RunLease {
        let mut claimed = self.claim(10).await;
        assert_eq!(claimed.len(), 1, "{claimed:?}");
        claimed.remove(0).lease
    }

    pub(crate) async fn sweep(&self) -> Swept {
        self.store.sweep(&policy()).await.unwrap()
    }

    pub(crate) async fn finish(&self, lease: &RunLease, status: RunStatus) {
        self.store.finish(lease, &finish(status, StepCommit::default())).await.unwrap();
    }

    /// Answers a claimed run in one step.
    pub(crate) async fn answer(&self, lease: &RunLease, message: &str) {
        let step = StepCommit { messages: vec![assistant(message)], ..StepCommit::default() };
        self.store.finish(lease, &finish(RunStatus::Completed, step)).await.unwrap();
    }

    pub(crate) async fn status(&self, run: &RunRef) -> RunStatus {
        self.store.run_by_key(&run.key).await.unwrap().unwrap().status
    }

    /// What a reader from the start would see.
    pub(crate) async fn standing(&self, run: &RunRef) -> Vec<Frame> {
        self.store.frames(&run.key, domain::Offset::START, true, usize::MAX).await.unwrap()
    }

    /// Ids a client sees of a thread.
    pub(crate) async fn shown(&self, who: &Principal, thread: &str) -> Vec<String> {
        ids(&self.store.hydrate(who, &id(thread), None, None).await.unwrap().messages)
    }

    /// Ids the model would see.
    pub(crate) async fn history(&self, lease: &RunLease) -> Vec<String> {
        ids(&self.store.history(lease, 1_000, 1 << 20).await.unwrap().messages)
    }

    /// Rows of a table, to show that nothing was stored.
    pub(crate) async fn count(&self, table: &str) -> i64 {
        let mut tx = self.store.read().await.unwrap();
        tx.row(&format!("SELECT COUNT(*) FROM {table}"), &[]).await.unwrap().unwrap().get(0).unwrap()
    }

    /// Everything that accept may store.
    pub(crate) async fn counts(&self) -> Vec<i64> {
        let mut counts = Vec::new();
        for table in ["threads", "messages", "runs", "frames", "rates"] {
            counts.push(self.count(table).await);
        }
        let mut tx = self.store.read().await.unwrap();
        let tat = "SELECT CAST(COALESCE(SUM(tat), 0) AS BIGINT) FROM rates";
        counts.push(tx.row(tat, &[]).await.unwrap().unwrap().get(0).unwrap());
        counts
    }
}

async fn open(url: String) -> Store {
    Store::open(StoreOptions { url, durability: Durability::Normal, connections: 0, application: None }).await.unwrap()
}

async fn postgres_command(url: &str, sql: String) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.unwrap();
    connection.close().await.unwrap();
}

/// A message to accept.
#[derive(Clone)]
pub(crate) struct Say<'a> {
    pub(crate) who: &'a Principal,
    pub(crate) thread: &'a str,
    pub(crate) run: &'a str,
    pub(crate) message: &'a str,
    pub(crate) replaces: Option<&'a str>,
    pub(crate) when_busy: WhenBusy,
    pub(crate) need_worker: bool,
    pub(crate) limits: Limits,
}

impl<'a> Say<'a> {
    pub(crate) fn new(who: &'a Principal, thread: &'a str, run: &'a str, message: &'a str) -> Self {
        let limits = Limits { turns_per_minute: 60_000, queued_runs: 100_000, ..Limits::default() };
        Self { who, thread, run, message, replaces: None, when_busy: WhenBusy::Queue, need_worker: false, limits }
    }
}

pub(crate) fn id<T: FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().unwrap()
}

pub(crate) fn key<T: FromStr>() -> T
where
    T::Err: std::fmt::Debug,
{
    id(&Ulid::new().to_string())
}

pub(crate) fn person(org: &str, user: &str) -> Principal {
    let (org, user): (OrgId, UserId) = (id(org), id(user));
    Principal::new(org, user, id::<ChannelName>("web"))
}

pub(crate) fn ada() -> Principal {
    person("acme", "ada")
}

pub(crate) fn policy() -> SweepPolicy {
    SweepPolicy {
        linger: Some(Duration::from_secs(30)),
        failures: 3,
        retention: Duration::from_secs(600),
        lost_note: "lost".into(),
    }
}

pub(crate) fn assistant(message: &str) -> Message {
    Message::Assistant {
        id: id(message),
        text: format!("text of {message}"),
        reasoning: None,
        tool_calls: Vec::new(),
        partial: false,
    }
}

pub(crate) fn note(message: &str) -> Message {
    Message::Note { id: id(message), text: "what happened".to_owned() }
}

pub(crate) fn frame(first: i64, last: i64) -> FrameBatch {
    let body = (first..=last).map(|seq| format!("{{\"seq\":{seq}}}\n")).collect::<String>();
    FrameBatch { first, last, body: body.into_bytes() }
}

pub(crate) fn call(step: u32) -> ModelCall {
    ModelCall {
        step,
        provider: "openai".to_owned(),
        model: "small".to_owned(),
        usage: TokenUsage {
            provider: Some("openai".to_owned()),
            model: Some("small".to_owned()),
            input_tokens: Some(100),
            output_tokens: Some(20),
            cached_input_tokens: Some(64),
            ..TokenUsage::default()
        },
        latency_ms: 120,
        first_ms: Some(40),
        retries: 1,
        outcome: "ok".to_owned(),
    }
}

pub(crate) fn step(number: u32, messages: Vec<Message>, frames: FrameBatch) -> StepCommit {
    StepCommit { step: number, messages, calls: vec![call(number)], frames }
}

pub(crate) fn finish(status: RunStatus, step: StepCommit) -> Finish {
    Finish { status, error: None, model: None, step, interrupts: Vec::new() }
}

pub(crate) fn ids(messages: &[StoredMessage]) -> Vec<String> {
    messages.iter().map(|row| row.message.id().to_string()).collect()
}

pub(crate) fn events(frame: &Frame) -> Vec<Event> {
    let text = std::str::from_utf8(&frame.body).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
