//! The transcript.

use domain::{Message, RunKey, ThreadKey};

use crate::row::{from_json, optional, to_json};
use crate::{LeaseError, Row, RunLease, StorageError, Store, Tx};

#[derive(Debug, Clone, PartialEq)]
pub struct StoredMessage {
    pub message: Message,
    /// Place in the thread, in order of storing.
    pub seq: i64,
    /// `seq` of the user row of the turn it belongs to; the transcript's order is (`turn`, `seq`).
    pub turn: i64,
    pub run: Option<RunKey>,
    pub created_at: i64,
}

/// What the model may see of a thread, oldest first, ending with the rows of the run itself.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    pub messages: Vec<StoredMessage>,
    /// Older whole turns were left out.
    pub truncated: bool,
}

/// The columns [`StoredMessage::read`] takes, in its order.
macro_rules! message_columns {
    () => {
        "body, seq, turn, run_key, created_at"
    };
}
pub(crate) use message_columns;

impl StoredMessage {
    pub(crate) fn read(row: &Row) -> Result<Self, StorageError> {
        Ok(Self {
            message: from_json(&row.get::<String>(0)?)?,
            seq: row.get(1)?,
            turn: row.get(2)?,
            run: optional(row, 3)?,
            created_at: row.get(4)?,
        })
    }
}

impl Store {
    /// Rows of the run's turn and the turns before it that are not superseded: whole turns from the newest, at most
    /// `max_messages` rows and `max_bytes` bytes of stored bodies (the run's own turn is always whole).
    pub async fn history(&self, lease: &RunLease, max_messages: usize, max_bytes: usize) -> Result<History, LeaseError> {
        let mut tx = self.read().await?;
        let sql = "SELECT turn, superseded_by FROM runs WHERE key = $1 AND attempt = $2 AND status = 'running'";
        let run = tx.row(sql, &[lease.run.as_str().into(), lease.attempt.into()]).await?.ok_or(LeaseError::Fenced)?;
        let turn: i64 = run.get(0)?;
        let superseded = run.get::<Option<String>>(1)?.is_some();
        let window = window(&mut tx, &lease.thread, turn, max_messages, max_bytes).await?;
        let sql = concat!(
            "SELECT ",
            message_columns!(),
            " FROM messages WHERE thread_key = $1 AND turn >= $2 AND turn <= $3 AND superseded_by IS NULL ORDER BY turn, seq"
        );
        let last = if superseded { turn - 1 } else { turn };
        let rows = tx.rows(sql, &[lease.thread.as_str().into(), window.from.into(), last.into()]).await?;
        let mut messages = rows.iter().map(StoredMessage::read).collect::<Result<Vec<_>, _>>()?;
        if superseded {
            // The run was replaced while it runs: it still sees its own question and what it wrote itself.
            let sql = concat!(
                "SELECT ",
                message_columns!(),
                " FROM messages WHERE thread_key = $1 AND seq >= $2 AND turn = $2 AND (seq = $2 OR run_key = $3) ORDER BY seq"
            );
            let rows = tx.rows(sql, &[lease.thread.as_str().into(), turn.into(), lease.run.as_str().into()]).await?;
            for row in &rows {
                messages.push(StoredMessage::read(row)?);
            }
        }
        Ok(History { messages, truncated: window.truncated })
    }
}

struct Window {
    /// The oldest turn within the bounds.
    from: i64,
    truncated: bool,
}

/// Counts turns backwards from `turn` without reading a body; never more than `max_messages` rows and the turn's own.
async fn window(
    tx: &mut Tx,
    thread: &ThreadKey,
    turn: i64,
    max_messages: usize,
    max_bytes: usize,
) -> Result<Window, StorageError> {
    let own = "SELECT COUNT(*), COALESCE(CAST(SUM(bytes) AS BIGINT), 0) FROM messages
        WHERE thread_key = $1 AND turn = $2 AND superseded_by IS NULL";
    let own = tx.row(own, &[thread.as_str().into(), turn.into()]).await?;
    let (mut rows, mut bytes): (i64, i64) = match own {
        Some(row) => (row.get(0)?, row.get(1)?),
        None => (0, 0),
    };
    let max_rows = i64::try_from(max_messages).unwrap_or(i64::MAX - 1);
    let max_bytes = i64::try_from(max_bytes).unwrap_or(i64::MAX);
    let sql = "SELECT turn, bytes FROM messages WHERE thread_key = $1 AND turn < $2 AND superseded_by IS NULL
        ORDER BY turn DESC, seq DESC LIMIT $3";
    let limit = (max_rows - rows).max(0) + 1;
    let mut from = turn;
    // The turn being counted is only taken once a row of the one before it, or the thread's begin, is seen.
    let mut pending = turn;
    for row in tx.rows(sql, &[thread.as_str().into(), turn.into(), limit.into()]).await? {
        let (older, size): (i64, i64) = (row.get(0)?, row.get(1)?);
        if older != pending {
            from = pending;
            pending = older;
        }
        rows += 1;
        bytes = bytes.saturating_add(size);
        if rows > max_rows || bytes > max_bytes {
            return Ok(Window { from, truncated: true });
        }
    }
    Ok(Window { from: pending, truncated: false })
}

/// Where new rows go.
pub(crate) struct Place<'a> {
    pub(crate) thread: &'a ThreadKey,
    /// `seq` of the first row.
    pub(crate) seq: i64,
    pub(crate) turn: i64,
    pub(crate) run: &'a RunKey,
    pub(crate) step: u32,
    pub(crate) superseded_by: Option<String>,
    pub(crate) now: i64,
}

/// Takes `count` places of the thread, whose row stays locked until the transaction ends; gives the first.
/// `None`: no such thread.
pub(crate) async fn reserve(tx: &mut Tx, thread: &ThreadKey, count: usize, now: i64) -> Result<Option<i64>, StorageError> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let sql = "UPDATE threads SET next_seq = next_seq + $2, updated_at = CASE WHEN updated_at < $3 THEN $3 ELSE updated_at END
        WHERE key = $1 RETURNING next_seq";
    let row = tx.row(sql, &[thread.as_str().into(), count.into(), now.into()]).await?;
    row.map(|row| Ok(row.get::<i64>(0)? - count)).transpose()
}

pub(crate) async fn insert(tx: &mut Tx, place: &Place<'_>, messages: &[Message]) -> Result<(), StorageError> {
    let sql = "INSERT INTO messages
        (thread_key, seq, turn, id, role, run_key, step, superseded_by, bytes, created_at, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    for (seq, message) in (place.seq..).zip(messages) {
        let body = to_json(message)?;
        let params = [
            place.thread.as_str().into(),
            seq.into(),
            place.turn.into(),
            message.id().as_str().into(),
            message.role().into(),
            place.run.as_str().into(),
            place.step.into(),
            place.superseded_by.clone().into(),
            i64::try_from(body.len()).unwrap_or(i64::MAX).into(),
            place.now.into(),
            body.into(),
        ];
        tx.execute(sql, &params).await?;
    }
    Ok(())
}

/// Locks the thread's row until the transaction ends: comes before locking one of its runs.
pub(crate) async fn lock_thread(tx: &mut Tx, thread: &ThreadKey) -> Result<(), StorageError> {
    tx.row("SELECT key FROM threads WHERE key = $1 FOR UPDATE", &[thread.as_str().into()]).await?;
    Ok(())
}
