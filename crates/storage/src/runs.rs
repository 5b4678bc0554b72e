//! The `runs` table: queue, lease, dead letter and outbox in one.
//!
//! Rows are locked in one order everywhere, so that transactions seldom meet in a deadlock on PostgreSQL: thread
//! and a person's rate before runs; a claim takes runs nobody holds, then their organizations, and waits for no more.

mod accept;
mod cancel;
mod claim;
mod end;
mod ledger;
mod reading;
mod record;
mod renew;
mod settle;
mod step;
mod supersede;

use std::time::Duration;

use domain::{
    Answer, CancelReason, ChannelName, Code, Decision, InterruptFault, Limits, Message, MessageId, OrgId, Part, Principal, RunId,
    RunInput, RunKey, RunStatus, ThreadId, ThreadKey, UserId, WorkerId,
};

use crate::{FrameBatch, NewInterrupt};

pub(crate) use cancel::{Active, stop};
pub(crate) use end::{EndKind, Ending, end};
pub(crate) use ledger::ledger;
pub(crate) use record::run_columns;
pub(crate) use step::fence;

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
    /// The turn's message. `None`: the run goes on from what `answers` settle; so it does if the message is known and
    /// one of the answers is to an interrupt.
    pub message: Option<&'a NewMessage>,
    /// The user row the message takes the place of: it and everything after it is superseded.
    pub replaces: Option<&'a MessageId>,
    /// The last user row the client has, if it sent one: the same run id with another is another run.
    pub last_user: Option<&'a MessageId>,
    /// What comes back to runs that ended waiting, oldest first; the first of a call counts.
    pub answers: &'a [Answer],
    /// What the model reads of a client tool that was still open when `message` came.
    pub cut_off: &'a str,
    /// The run this one continues, as the client says; a continuation's is known better here.
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
    /// These answers were taken before: by this run, whatever id the client gave the new one.
    Settled(RunRef),
    /// No answer was taken, because of these. Nothing was stored.
    Faulty(Vec<InterruptFault>),
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
    /// There is no message, and none of the answers is for something this thread ever waited for.
    NothingWaits,
}

#[derive(Clone, Copy)]
pub struct Claim<'a> {
    pub worker: &'a WorkerId,
    /// At most so many runs.
    pub max: u32,
    /// Only runs of this thread.
    pub thread: Option<&'a ThreadKey>,
    /// `limits.concurrent_runs` of an organization over all processes.
    pub org_runs: u32,
    pub lease: Duration,
    /// What is decided of a run that nobody decided for yet, if that can be said from its row alone.
    pub decide: Option<&'a Decide<'a>>,
}

/// See [`Claim::decide`].
pub type Decide<'a> = dyn Fn(&RunRecord) -> Option<Decision> + Send + Sync + 'a;

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
    /// Which run of its turn it is, from 1. One that only took a part of what is waited for counts nothing.
    pub leg: u32,
    /// The run it goes on from.
    pub continues: Option<RunKey>,
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
    /// What it waits for: then its status is `Interrupted`, or `Cancelled` if it was told to stop meanwhile.
    pub interrupts: Vec<NewInterrupt>,
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
