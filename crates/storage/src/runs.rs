//! The `runs` table: queue, lease, dead letter and outbox in one.

use std::time::Duration;

use domain::{
    CancelReason, ChannelName, Code, Decision, Limits, Message, MessageId, OrgId, Part, Principal, RunId, RunInput, RunKey,
    RunStatus, ThreadId, ThreadKey, UserId, WorkerId,
};

use crate::{FrameBatch, LeaseError, StorageError, Store};

/// The right to write for a run, as long as `attempt` is the run's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunLease {
    pub run: RunKey,
    pub thread: ThreadKey,
    pub attempt: i64,
}

/// A run by all its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRef {
    pub key: RunKey,
    pub id: RunId,
    pub thread: ThreadKey,
    pub thread_id: ThreadId,
}

/// What to do with a message while the thread has an active run (`threads.when_busy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenBusy {
    #[default]
    Queue,
    Reject,
    Interrupt,
}

/// A user's message. A known id means the stored row: answer it (again); its own content is ignored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMessage {
    pub id: MessageId,
    pub parts: Vec<Part>,
}

/// A request to run one turn.
#[derive(Debug, Clone)]
pub struct Accept<'a> {
    pub principal: &'a Principal,
    pub thread: &'a ThreadId,
    pub run: &'a RunId,
    /// Freshly made; used if the thread or run is new.
    pub thread_key: ThreadKey,
    pub run_key: RunKey,
    pub message: &'a NewMessage,
    /// The user row this one takes the place of: it and everything after it is superseded.
    pub replaces: Option<&'a MessageId>,
    pub parent_run: Option<&'a RunId>,
    pub input: &'a RunInput,
    pub limits: &'a Limits,
    pub when_busy: WhenBusy,
    /// Refuse with [`Refusal::NoWorker`] if no worker is alive. The command line brings its own.
    pub need_worker: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    /// Stored and queued.
    Fresh(RunRef),
    /// The same run id in the same thread with the same last user row.
    Joined(RunRef),
    Refused(Refusal),
}

/// Why nothing was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    NotAMember,
    RunIdInUse,
    ThreadBusy,
    RateLimited {
        retry_after: Duration,
    },
    Overloaded {
        retry_after: Duration,
    },
    NoWorker,
    /// `replaces` names no user row of the thread.
    UnknownMessage,
}

#[derive(Debug, Clone)]
pub struct Claim<'a> {
    pub worker: &'a WorkerId,
    /// At most so many runs.
    pub max: u32,
    /// Only runs of this thread.
    pub thread: Option<&'a ThreadKey>,
    /// `limits.concurrent_runs` of an organization over all processes.
    pub org_runs: u32,
    pub lease: Duration,
}

/// A run that is now ours, and its row.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    pub lease: RunLease,
    pub record: RunRecord,
}

/// A row of `runs`. Times are milliseconds since the epoch, the database's.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    pub reference: RunRef,
    pub org: OrgId,
    pub user: UserId,
    pub channel: ChannelName,
    pub parent_run: Option<RunId>,
    /// Version of `input`; more than [`domain::RUN_VERSION`]: `input` is `None`.
    pub version: i64,
    pub input: Option<RunInput>,
    pub status: RunStatus,
    pub attempt: i64,
    /// Leases that ran out.
    pub failures: i64,
    /// `seq` of the user row it answers.
    pub turn: i64,
    /// The user row it answers.
    pub message: MessageId,
    /// Steps committed.
    pub steps: u32,
    pub decision: Option<Decision>,
    pub model: Option<String>,
    pub cancel: Option<CancelReason>,
    pub unattended_since: Option<i64>,
    pub error: Option<(String, String)>,
    pub created_at: i64,
    pub started_at: Option<i64>,
    pub ended_at: Option<i64>,
}

/// A ledger row: one model call.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    /// From 1.
    pub step: u32,
    pub provider: String,
    pub model: String,
    pub usage: domain::TokenUsage,
    pub latency_ms: i64,
    /// Until the first token.
    pub first_ms: Option<i64>,
    pub retries: u32,
    /// `ok` or a word of the error.
    pub outcome: String,
}

/// A step's end: everything commits together or nothing does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepCommit {
    /// From 1; the run's `steps` afterwards.
    pub step: u32,
    pub messages: Vec<Message>,
    pub calls: Vec<ModelCall>,
    pub frames: FrameBatch,
}

/// A run's end, the last step's rows and the terminal event with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Finish {
    pub status: RunStatus,
    pub error: Option<(Code, String)>,
    pub model: Option<String>,
    pub step: StepCommit,
}

/// What a heartbeat found of one lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beat {
    pub lease: RunLease,
    /// False: fenced, stop.
    pub held: bool,
    pub cancel: Option<CancelReason>,
    pub unattended: bool,
    /// Another process reads it: flush frames every 250 ms.
    pub remote_reader: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CancelOutcome {
    /// It runs; its worker was told.
    Requested,
    /// It was waiting and is cancelled now, or had ended before.
    Ended(RunStatus),
    Unknown,
}

impl Store {
    /// One transaction: thread (lazily), message (idempotent by id), run, rate row. Crash points
    /// `accept.before_commit`, `accept.after_commit`.
    pub async fn accept(&self, _accept: Accept<'_>) -> Result<Accepted, StorageError> {
        todo!()
    }
    /// Takes up to `max` runs, oldest first, one running run a thread, in the thread's order. Crash point `claim`.
    pub async fn claim(&self, _claim: Claim<'_>) -> Result<Vec<Claimed>, StorageError> {
        todo!()
    }
    /// Renews leases and says what became of each.
    pub async fn renew(&self, _leases: &[RunLease], _lease: Duration) -> Result<Vec<Beat>, StorageError> {
        todo!()
    }
    /// Stores the decision, before the model is asked.
    pub async fn decide_run(&self, _lease: &RunLease, _decision: &Decision) -> Result<(), LeaseError> {
        todo!()
    }
    /// Ends a step. Crash point `step.commit` (before the commit).
    pub async fn commit_step(&self, _lease: &RunLease, _step: &StepCommit) -> Result<(), LeaseError> {
        todo!()
    }
    /// Ends the run. Crash points `finish.before_commit`, `finish.after_commit`.
    pub async fn finish(&self, _lease: &RunLease, _finish: &Finish) -> Result<(), LeaseError> {
        todo!()
    }
    /// Gives the run back at shutdown: queued again, no failure counted.
    pub async fn hand_back(&self, _lease: &RunLease) -> Result<(), LeaseError> {
        todo!()
    }
    /// Dead-letters a run this build cannot read, with RUN_ERROR `abandoned` as its last frame.
    pub async fn abandon(&self, _lease: &RunLease, _reason: &str) -> Result<(), LeaseError> {
        todo!()
    }
    /// Asks a run to stop; a waiting one is ended at once, with its terminal event.
    pub async fn cancel(
        &self,
        _principal: &Principal,
        _run: &RunId,
        _reason: CancelReason,
    ) -> Result<CancelOutcome, StorageError> {
        todo!()
    }
    /// A person's own run.
    pub async fn run(&self, _principal: &Principal, _run: &RunId) -> Result<Option<RunRecord>, StorageError> {
        todo!()
    }
    /// The row of a run whose key is known, for the worker and the readers that hold it.
    pub async fn run_by_key(&self, _run: &RunKey) -> Result<Option<RunRecord>, StorageError> {
        todo!()
    }
    /// The last reader's socket closed in this process.
    pub async fn unattend(&self, _run: &RunKey) -> Result<(), StorageError> {
        todo!()
    }
    /// Somebody reads (again); `remote`: from a process that does not run it, valid for `Duration`.
    pub async fn attend(&self, _run: &RunKey, _remote: Option<Duration>) -> Result<(), StorageError> {
        todo!()
    }
    /// How many runs are ahead of a queued one; `None` once it is not queued.
    pub async fn queue_position(&self, _run: &RunKey) -> Result<Option<u64>, StorageError> {
        todo!()
    }
    /// Ledger rows of a run.
    pub async fn model_calls(&self, _run: &RunKey) -> Result<Vec<ModelCall>, StorageError> {
        todo!()
    }
}
