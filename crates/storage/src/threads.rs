//! Threads as their owner sees them.

mod change;

use domain::{ChannelName, Principal, RunId, RunKey, ThreadId, ThreadKey};

use crate::messages::message_columns;
use crate::row::parsed;
use crate::runs::run_columns;
use crate::{ModelCall, OpenInterrupt, Row, RunRecord, StorageError, Store, StoredMessage, Tx, interrupts, runs};

pub use change::DeletedThread;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSummary {
    pub id: ThreadId,
    pub key: ThreadKey,
    pub channel: ChannelName,
    pub title: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
    /// Rows a client would see.
    pub messages: i64,
}

/// A thread and what is going on in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadStatus {
    pub summary: ThreadSummary,
    pub active_run: Option<RunId>,
}

/// What reopening a thread shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hydrated {
    /// In transcript order, not superseded. While a run is active: up to that run's user message, and what the runs it
    /// goes on from said after it.
    pub messages: Vec<StoredMessage>,
    pub active_run: Option<RunId>,
    /// What the thread waits for, oldest first.
    pub interrupts: Vec<OpenInterrupt>,
    /// Older messages exist; pass the first message's id as `before`.
    pub truncated: bool,
}

/// One run of a thread with its ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnView {
    pub run: RunRecord,
    pub calls: Vec<ModelCall>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ThreadView {
    pub summary: ThreadSummary,
    pub messages: Vec<StoredMessage>,
    pub runs: Vec<TurnView>,
}

macro_rules! summary {
    ($rest:literal) => {
        concat!(
            "SELECT t.id, t.key, t.channel, t.title, t.created_at, t.updated_at, (SELECT COUNT(*) FROM messages m
                WHERE m.thread_key = t.key AND m.superseded_by IS NULL AND m.role <> 'note')
            FROM threads t WHERE t.org_id = $1 AND t.owner_id = $2 ",
            $rest
        )
    };
}

impl ThreadSummary {
    fn read(row: &Row) -> Result<Self, StorageError> {
        Ok(Self {
            id: parsed(row, 0)?,
            key: parsed(row, 1)?,
            channel: parsed(row, 2)?,
            title: row.get(3)?,
            created_at: row.get(4)?,
            updated_at: row.get(5)?,
            messages: row.get(6)?,
        })
    }
}

impl Store {
    /// Unknown or foreign: empty. `before`: a message id; `limit`: messages of people and assistants at most, each call
    /// with its result. Notes are left out.
    pub async fn hydrate(
        &self,
        principal: &Principal,
        thread: &ThreadId,
        limit: Option<u32>,
        before: Option<&str>,
    ) -> Result<Hydrated, StorageError> {
        let mut tx = self.read().await?;
        let Some(key) = find(&mut tx, principal, thread).await? else { return Ok(Hydrated::default()) };
        let active = active(&mut tx, &key).await?;
        let interrupts = interrupts::open(&mut tx, &key).await?.into_iter().map(|waiting| waiting.open).collect();
        let (active_run, running, last) = match active {
            Some(active) => (Some(active.id), active.key.to_string(), active.turn),
            None => (None, String::new(), i64::MAX),
        };
        let (before_turn, before_seq) = match before {
            None => (i64::MAX, i64::MAX),
            Some(id) => match place(&mut tx, &key, id).await? {
                Some(place) => place,
                None => return Ok(Hydrated { active_run, interrupts, ..Hydrated::default() }),
            },
        };
        let end = End { active: last, running: &running, before: (before_turn, before_seq) };
        let start = match limit {
            None => None,
            Some(limit) => page_start(&mut tx, &key, end, limit).await?,
        };
        let (from_turn, from_seq) = start.unwrap_or((0, 0));
        let sql = concat!(
            "SELECT ",
            message_columns!(),
            " FROM messages WHERE thread_key = $1 AND superseded_by IS NULL AND role <> 'note'
                AND turn <= $2 AND (turn < $2 OR role = 'user' OR run_key <> $7)
                AND turn <= $3 AND (turn < $3 OR seq < $4)
                AND turn >= $5 AND (turn > $5 OR seq >= $6)
              ORDER BY turn, seq"
        );
        let params = [
            key.as_str().into(),
            last.into(),
            before_turn.into(),
            before_seq.into(),
            from_turn.into(),
            from_seq.into(),
            running.as_str().into(),
        ];
        let rows = tx.rows(sql, &params).await?;
        let messages = rows.iter().map(StoredMessage::read).collect::<Result<Vec<_>, _>>()?;
        Ok(Hydrated { messages, active_run, interrupts, truncated: start.is_some() })
    }

    /// Newest first; `after` is the last item's `updated_at` and key of the page before.
    pub async fn threads(
        &self,
        principal: &Principal,
        limit: u32,
        after: Option<(i64, ThreadKey)>,
    ) -> Result<Vec<ThreadSummary>, StorageError> {
        let mut tx = self.read().await?;
        let (org, user) = (principal.org.as_str().into(), principal.user.as_str().into());
        let rows = match after {
            None => tx.rows(summary!("ORDER BY t.updated_at DESC, t.key DESC LIMIT $3"), &[org, user, limit.into()]).await?,
            Some((at, key)) => {
                let sql = summary!(
                    "AND t.updated_at <= $3 AND (t.updated_at < $3 OR t.key < $4) ORDER BY t.updated_at DESC, t.key DESC LIMIT $5"
                );
                tx.rows(sql, &[org, user, at.into(), key.as_str().into(), limit.into()]).await?
            }
        };
        rows.iter().map(ThreadSummary::read).collect()
    }

    /// One thread of theirs.
    pub async fn thread(&self, principal: &Principal, thread: &ThreadId) -> Result<Option<ThreadStatus>, StorageError> {
        let mut tx = self.read().await?;
        let params = [principal.org.as_str().into(), principal.user.as_str().into(), thread.as_str().into()];
        let Some(row) = tx.row(summary!("AND t.id = $3"), &params).await? else { return Ok(None) };
        let summary = ThreadSummary::read(&row)?;
        let active_run = active(&mut tx, &summary.key).await?.map(|active| active.id);
        Ok(Some(ThreadStatus { summary, active_run }))
    }

    /// Everything of one thread that stands, notes and ledger too, for `threads show`.
    pub async fn thread_view(&self, principal: &Principal, thread: &ThreadId) -> Result<Option<ThreadView>, StorageError> {
        let mut tx = self.read().await?;
        let params = [principal.org.as_str().into(), principal.user.as_str().into(), thread.as_str().into()];
        let Some(row) = tx.row(summary!("AND t.id = $3"), &params).await? else { return Ok(None) };
        let summary = ThreadSummary::read(&row)?;
        let key = summary.key.as_str();
        let sql = concat!(
            "SELECT ",
            message_columns!(),
            " FROM messages WHERE thread_key = $1 AND superseded_by IS NULL ORDER BY turn, seq"
        );
        let rows = tx.rows(sql, &[key.into()]).await?;
        let messages = rows.iter().map(StoredMessage::read).collect::<Result<Vec<_>, _>>()?;
        let sql = concat!("SELECT ", run_columns!(), " FROM runs WHERE thread_key = $1 ORDER BY created_at, key");
        let mut runs = Vec::new();
        for row in tx.rows(sql, &[key.into()]).await? {
            let run = RunRecord::read(&row)?;
            let calls = runs::ledger(&mut tx, &run.reference.key).await?;
            runs.push(TurnView { run, calls });
        }
        Ok(Some(ThreadView { summary, messages, runs }))
    }

    /// The thread's key, if the person has one of that id.
    pub async fn thread_key(&self, principal: &Principal, thread: &ThreadId) -> Result<Option<ThreadKey>, StorageError> {
        let mut tx = self.read().await?;
        find(&mut tx, principal, thread).await
    }
}

async fn find(tx: &mut Tx, principal: &Principal, thread: &ThreadId) -> Result<Option<ThreadKey>, StorageError> {
    let sql = "SELECT key FROM threads WHERE org_id = $1 AND owner_id = $2 AND id = $3";
    let params = [principal.org.as_str().into(), principal.user.as_str().into(), thread.as_str().into()];
    tx.row(sql, &params).await?.map(|row| parsed(&row, 0)).transpose()
}

/// A run whose stream a reader joins.
struct Active {
    key: RunKey,
    id: RunId,
    turn: i64,
}

/// The running run (always the first in its thread), else the oldest queued one; a run whose answer is replaced already
/// does not count.
async fn active(tx: &mut Tx, thread: &ThreadKey) -> Result<Option<Active>, StorageError> {
    let sql = "SELECT id, turn, key FROM runs
        WHERE thread_key = $1 AND status IN ('queued', 'running') AND superseded_by IS NULL
        ORDER BY position LIMIT 1";
    let row = tx.row(sql, &[thread.as_str().into()]).await?;
    row.map(|row| Ok(Active { id: parsed(&row, 0)?, turn: row.get(1)?, key: parsed(&row, 2)? })).transpose()
}

/// What a page of a transcript ends with: the user row of the turn that is active, or the row before a message.
#[derive(Clone, Copy)]
struct End<'a> {
    active: i64,
    /// Key of the run that is active; its own rows come with its stream.
    running: &'a str,
    before: (i64, i64),
}

/// Where a page of `limit` messages begins, if there are older ones. Tools' results count for nothing: they go with
/// their call.
async fn page_start(tx: &mut Tx, thread: &ThreadKey, end: End<'_>, limit: u32) -> Result<Option<(i64, i64)>, StorageError> {
    let sql = "SELECT turn, seq FROM messages WHERE thread_key = $1 AND superseded_by IS NULL AND role IN ('user', 'assistant')
            AND turn <= $2 AND (turn < $2 OR role = 'user' OR run_key <> $6)
            AND turn <= $3 AND (turn < $3 OR seq < $4)
          ORDER BY turn DESC, seq DESC LIMIT $5";
    let (turn, seq) = end.before;
    let wanted = i64::from(limit) + 1;
    let rows = tx
        .rows(sql, &[thread.as_str().into(), end.active.into(), turn.into(), seq.into(), wanted.into(), end.running.into()])
        .await?;
    match rows.as_slice() {
        [.., first, _] if rows.len() > limit as usize => Ok(Some((first.get(0)?, first.get(1)?))),
        _ => Ok(None),
    }
}

/// Where a message is in the transcript's order.
async fn place(tx: &mut Tx, thread: &ThreadKey, message: &str) -> Result<Option<(i64, i64)>, StorageError> {
    let sql = "SELECT turn, seq FROM messages WHERE thread_key = $1 AND id = $2";
    let row = tx.row(sql, &[thread.as_str().into(), message.into()]).await?;
    row.map(|row| Ok((row.get(0)?, row.get(1)?))).transpose()
}
