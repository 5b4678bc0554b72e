//! What runs ended waiting for.

use domain::{ClientToolStyle, InterruptKind, Message, MessageId, RunId, RunKey, ThreadKey, ToolCall, ToolCallId};

use crate::row::{parsed, word};
use crate::{Row, StorageError, Tx, messages};

/// Something a run ends waiting for.
#[derive(Debug, Clone, PartialEq)]
pub struct NewInterrupt {
    pub kind: InterruptKind,
    pub style: ClientToolStyle,
    pub call: ToolCall,
    /// What the model reads of it if the run was told to stop while it came to its end: then nothing is waited for.
    pub cut_off: String,
}

/// What a thread waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenInterrupt {
    pub kind: InterruptKind,
    pub style: ClientToolStyle,
    pub call: ToolCall,
    /// The run that ended waiting for it.
    pub run: RunId,
}

/// A row of `interrupts` and what its continuation needs.
pub(crate) struct Waiting {
    pub(crate) open: OpenInterrupt,
    pub(crate) status: Status,
    pub(crate) run: RunKey,
    pub(crate) turn: i64,
    pub(crate) leg: i64,
    pub(crate) message: MessageId,
    /// As it is stored.
    pub(crate) decision: Option<String>,
    /// The run that took the answer.
    pub(crate) settled_by: Option<RunKey>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Open,
    Answered,
    /// A newer message came first, or somebody stopped the run.
    CutOff,
    /// Its turn was written anew.
    Superseded,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::CutOff => "cut_off",
            Self::Superseded => "superseded",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Open, Self::Answered, Self::CutOff, Self::Superseded].into_iter().find(|status| status.as_str() == text)
    }
}

/// The columns [`Waiting::read`] takes, in its order.
macro_rules! columns {
    ($rest:literal) => {
        concat!(
            "SELECT kind, style, call_id, tool, arguments, run_id, status, run_key, turn, leg, message_id, decision, settled_by
            FROM interrupts WHERE thread_key = $1 ",
            $rest
        )
    };
}

impl Waiting {
    fn read(row: &Row) -> Result<Self, StorageError> {
        Ok(Self {
            open: OpenInterrupt {
                kind: word(&row.get::<String>(0)?, InterruptKind::parse)?,
                style: word(&row.get::<String>(1)?, ClientToolStyle::parse)?,
                call: ToolCall { id: parsed(row, 2)?, name: parsed(row, 3)?, arguments: row.get(4)? },
                run: parsed(row, 5)?,
            },
            status: word(&row.get::<String>(6)?, Status::parse)?,
            run: parsed(row, 7)?,
            turn: row.get(8)?,
            leg: row.get(9)?,
            message: parsed(row, 10)?,
            decision: row.get(11)?,
            settled_by: crate::row::optional(row, 12)?,
        })
    }
}

/// The id of the row that answers a call: one row a call, whoever comes first.
pub(crate) fn result_id(call: &ToolCallId) -> Result<MessageId, StorageError> {
    MessageId::parse(format!("tool_{call}")).map_err(|error| StorageError::Corrupt(error.to_string()))
}

/// Everything the thread waits for, oldest first.
pub(crate) async fn open(tx: &mut Tx, thread: &ThreadKey) -> Result<Vec<Waiting>, StorageError> {
    let sql = columns!("AND status = 'open' ORDER BY turn, created_at, call_id");
    tx.rows(sql, &[thread.as_str().into()]).await?.iter().map(Waiting::read).collect()
}

/// What once waited, or still does, for the result of a call.
pub(crate) async fn find(tx: &mut Tx, thread: &ThreadKey, call: &ToolCallId) -> Result<Option<Waiting>, StorageError> {
    let row = tx.row(columns!("AND call_id = $2"), &[thread.as_str().into(), call.as_str().into()]).await?;
    row.as_ref().map(Waiting::read).transpose()
}

/// `superseded`: the run's turn is being written anew, nobody is to answer.
pub(crate) async fn insert(
    tx: &mut Tx,
    run: &RunKey,
    interrupts: &[NewInterrupt],
    superseded: bool,
    now: i64,
) -> Result<(), StorageError> {
    let sql = "INSERT INTO interrupts (thread_key, call_id, kind, style, tool, arguments, status, run_key, run_id, turn, leg,
            message_id, decision, created_at)
        SELECT thread_key, $2, $3, $4, $5, $6, $7, key, id, turn, leg, message_id, decision, $8 FROM runs WHERE key = $1";
    let status = if superseded { Status::Superseded } else { Status::Open };
    for interrupt in interrupts {
        let params = [
            run.as_str().into(),
            interrupt.call.id.as_str().into(),
            interrupt.kind.as_str().into(),
            interrupt.style.as_str().into(),
            interrupt.call.name.as_str().into(),
            interrupt.call.arguments.as_str().into(),
            status.as_str().into(),
            now.into(),
        ];
        tx.execute(sql, &params).await?;
    }
    Ok(())
}

/// The result of one call, and what to say of how it came.
pub(crate) struct Settle<'a> {
    pub(crate) waiting: &'a Waiting,
    pub(crate) status: Status,
    pub(crate) content: &'a str,
    pub(crate) error: bool,
    /// The run that takes it.
    pub(crate) by: Option<&'a RunKey>,
}

/// Writes the result into the turn that waits for it. The thread's row is locked.
pub(crate) async fn settle(tx: &mut Tx, thread: &ThreadKey, settle: Settle<'_>, now: i64) -> Result<(), StorageError> {
    let Settle { waiting, status, content, error, by } = settle;
    let call = &waiting.open.call.id;
    mark(tx, thread, call, status, by, now).await?;
    let seq = messages::reserve(tx, thread, 1, now).await?;
    let seq = seq.ok_or_else(|| StorageError::Conflict("the thread was removed meanwhile".to_owned()))?;
    let row = Message::Tool { id: result_id(call)?, call: call.clone(), content: content.to_owned(), error };
    let place = messages::Place { thread, seq, turn: waiting.turn, run: &waiting.run, step: 0, superseded_by: None, now };
    messages::insert(tx, &place, &[row]).await
}

/// Nobody is to answer any more, and nobody will read it: the turn is written anew.
pub(crate) async fn supersede(tx: &mut Tx, thread: &ThreadKey, waiting: &Waiting, now: i64) -> Result<(), StorageError> {
    mark(tx, thread, &waiting.open.call.id, Status::Superseded, None, now).await
}

async fn mark(
    tx: &mut Tx,
    thread: &ThreadKey,
    call: &ToolCallId,
    status: Status,
    by: Option<&RunKey>,
    now: i64,
) -> Result<(), StorageError> {
    let sql = "UPDATE interrupts SET status = $3, settled_by = $4, settled_at = $5
        WHERE thread_key = $1 AND call_id = $2 AND status = 'open'";
    let params =
        [thread.as_str().into(), call.as_str().into(), status.as_str().into(), by.map(RunKey::as_str).into(), now.into()];
    match tx.execute(sql, &params).await? {
        0 => Err(StorageError::Conflict("the call was answered meanwhile".to_owned())),
        _ => Ok(()),
    }
}
