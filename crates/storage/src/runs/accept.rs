//! Taking a message in: after the commit it is never lost, and before it nothing was stored.

use std::time::Duration;

use domain::{
    InterruptFault, Message, MessageId, Principal, RUN_VERSION, RunId, RunInput, RunKey, RunStatus, ThreadId, ThreadKey, crash,
};

use super::settle;
use super::supersede::{Anew, Other, active, next_position, supersede_rows, supersede_run};
use crate::retry::retry;
use crate::row::{parsed, to_json};
use crate::{Accept, Accepted, NewMessage, Refusal, RunRef, StorageError, Store, Tx, WhenBusy, interrupts, messages};

/// When a client may try again while the queue is full.
const FULL_RETRY: Duration = Duration::from_secs(5);

/// Why the way ends early; the transaction is rolled back.
pub(super) enum Halt {
    Refused(Refusal),
    Faulty(Vec<InterruptFault>),
    Storage(StorageError),
}

impl From<StorageError> for Halt {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Store {
    /// One transaction: thread (lazily), message (idempotent by id), answers, run, rate row. Crash points
    /// `accept.before_commit`, `accept.after_commit`.
    pub async fn accept(&self, accept: Accept<'_>) -> Result<Accepted, StorageError> {
        retry!(self.accept_once(&accept))
    }

    async fn accept_once(&self, accept: &Accept<'_>) -> Result<Accepted, StorageError> {
        let mut tx = self.begin().await?;
        match store(&mut tx, accept).await {
            Ok(accepted) => {
                if matches!(accepted, Accepted::Fresh(_)) {
                    crash::point("accept.before_commit");
                }
                tx.commit().await?;
                if matches!(accepted, Accepted::Fresh(_)) {
                    crash::point("accept.after_commit");
                }
                Ok(accepted)
            }
            Err(Halt::Storage(error)) => Err(error),
            Err(Halt::Faulty(faults)) => self.existing_or(accept, tx, Accepted::Faulty(faults)).await,
            Err(Halt::Refused(refusal)) => self.existing_or(accept, tx, Accepted::Refused(refusal)).await,
        }
    }

    /// The same run may have been accepted while this one was looked at: then it counts against nothing.
    async fn existing_or(&self, accept: &Accept<'_>, tried: Tx, otherwise: Accepted) -> Result<Accepted, StorageError> {
        drop(tried);
        let mut tx = self.begin().await?;
        let existing = existing(&mut tx, accept).await?;
        tx.commit().await?;
        Ok(existing.unwrap_or(otherwise))
    }

    /// The run of this id, if the person has one in this thread that answers `last_user` (if that is given): what a
    /// request joins whatever else it says.
    pub async fn joined(
        &self,
        principal: &Principal,
        thread: &ThreadId,
        run: &RunId,
        last_user: Option<&MessageId>,
    ) -> Result<Option<RunRef>, StorageError> {
        let mut tx = self.read().await?;
        match same(&mut tx, principal, thread, run, last_user).await? {
            Some(Accepted::Joined(run)) => Ok(Some(run)),
            _ => Ok(None),
        }
    }
}

async fn store(tx: &mut Tx, accept: &Accept<'_>) -> Result<Accepted, Halt> {
    let now = tx.now().await?;
    if let Some(existing) = existing(tx, accept).await? {
        return Ok(existing);
    }
    gate(tx, accept, now).await?;
    let Some(message) = accept.message else { return settle::go_on(tx, accept, now).await };
    let thread = lock_thread(tx, accept, now).await?;
    let others = if thread.is_new { Vec::new() } else { active(tx, &thread.key).await? };
    let waiting = if thread.is_new { Vec::new() } else { interrupts::open(tx, &thread.key).await? };
    let known = if thread.is_new { None } else { find_user_row(tx, &thread.key, &message.id).await? };
    // Who answers an interrupt has the person's row at the end if nothing else was said: that asks for nothing anew.
    if known.is_some() && accept.replaces.is_none() && accept.answers.iter().any(settle::is_resume) {
        return settle::go_on(tx, accept, now).await;
    }
    settle::check(tx, &thread.key, &waiting, accept.answers).await?;
    if accept.when_busy == WhenBusy::Reject && others.iter().any(Other::is_busy) {
        return Err(Refusal::ThreadBusy.into());
    }
    let replaced = match accept.replaces {
        None => None,
        Some(id) => Some(find_user_row(tx, &thread.key, id).await?.ok_or(Refusal::UnknownMessage)?),
    };
    count(tx, accept, Rate { kind: "turns", a_minute: accept.limits.turns_per_minute }, now).await?;

    let anew = replaced.into_iter().chain(known).min().map(|from| Anew { from, keep: known });
    for other in &others {
        let superseded = anew.is_some_and(|anew| other.turn >= anew.from);
        if superseded {
            supersede_run(tx, other, &accept.run_key).await?;
        }
        let left = other.is_left_by(accept.principal.user.as_str());
        if superseded || left || accept.when_busy == WhenBusy::Interrupt {
            other.stop(tx).await?;
        }
    }
    if let Some(anew) = anew {
        supersede_rows(tx, &thread.key, &accept.run_key, anew).await?;
    }
    settle::close(tx, accept, &thread.key, &waiting, anew.map(|anew| anew.from), now).await?;
    let turn = match known {
        Some(turn) => turn,
        None => insert_message(tx, accept, message, &thread.key, now).await?,
    };
    let reference =
        RunRef { key: accept.run_key.clone(), id: accept.run.clone(), thread: thread.key, thread_id: accept.thread.clone() };
    let new = NewRun {
        status: RunStatus::Queued,
        turn,
        message: &message.id,
        position: next_position(&others, now),
        parent: accept.parent_run,
        leg: 1,
        continues: None,
        decision: None,
        input: accept.input,
    };
    insert_run(tx, accept, &reference, new, now).await?;
    Ok(Accepted::Fresh(reference))
}

/// The run of that id, if the person has one.
async fn existing(tx: &mut Tx, accept: &Accept<'_>) -> Result<Option<Accepted>, StorageError> {
    let last_user = accept.message.map(|message| &message.id).or(accept.last_user);
    same(tx, accept.principal, accept.thread, accept.run, last_user).await
}

async fn same(
    tx: &mut Tx,
    principal: &Principal,
    thread: &ThreadId,
    run: &RunId,
    last_user: Option<&MessageId>,
) -> Result<Option<Accepted>, StorageError> {
    let sql = "SELECT key, thread_key, thread_id, message_id FROM runs WHERE org_id = $1 AND user_id = $2 AND id = $3";
    let params = [principal.org.as_str().into(), principal.user.as_str().into(), run.as_str().into()];
    let Some(row) = tx.row(sql, &params).await? else { return Ok(None) };
    let message: String = row.get(3)?;
    let same = row.get::<String>(2)? == thread.as_str() && last_user.is_none_or(|last| last.as_str() == message);
    if !same {
        return Ok(Some(Accepted::Refused(Refusal::RunIdInUse)));
    }
    let reference = RunRef { key: parsed(&row, 0)?, id: run.clone(), thread: parsed(&row, 1)?, thread_id: thread.clone() };
    Ok(Some(Accepted::Joined(reference)))
}

/// What needs no thread: membership, room in the queue, a worker.
async fn gate(tx: &mut Tx, accept: &Accept<'_>, now: i64) -> Result<(), Halt> {
    let sql = "SELECT
        EXISTS (SELECT 1 FROM memberships WHERE org_id = $1 AND user_id = $2 AND (expires_at IS NULL OR expires_at > $3)),
        (SELECT COUNT(*) FROM (SELECT 1 FROM runs WHERE status = 'queued' LIMIT $4) AS waiting),
        EXISTS (SELECT 1 FROM workers WHERE lease_until > $3)";
    let principal = accept.principal;
    let most = i64::from(accept.limits.queued_runs);
    let params = [principal.org.as_str().into(), principal.user.as_str().into(), now.into(), most.into()];
    let row = tx.row(sql, &params).await?.ok_or_else(|| StorageError::Corrupt("no row".to_owned()))?;
    if !row.get::<bool>(0)? {
        return Err(Refusal::NotAMember.into());
    }
    if row.get::<i64>(1)? >= most {
        return Err(Refusal::Overloaded { retry_after: FULL_RETRY }.into());
    }
    if accept.need_worker && !row.get::<bool>(2)? {
        return Err(Refusal::NoWorker.into());
    }
    Ok(())
}

struct Thread {
    key: ThreadKey,
    is_new: bool,
}

/// The thread's row, locked until the end: accepts of one thread go one after the other.
async fn lock_thread(tx: &mut Tx, accept: &Accept<'_>, now: i64) -> Result<Thread, StorageError> {
    let (org, owner, id) = (accept.principal.org.as_str(), accept.principal.user.as_str(), accept.thread.as_str());
    let find = "SELECT key FROM threads WHERE org_id = $1 AND owner_id = $2 AND id = $3 FOR UPDATE";
    if let Some(row) = tx.row(find, &[org.into(), owner.into(), id.into()]).await? {
        return Ok(Thread { key: parsed(&row, 0)?, is_new: false });
    }
    let sql = "INSERT INTO threads (key, org_id, owner_id, kind, id, channel, created_at, updated_at)
        VALUES ($1, $2, $3, 'personal', $4, $5, $6, $6) ON CONFLICT (org_id, owner_id, id) DO NOTHING";
    let params = [
        accept.thread_key.as_str().into(),
        org.into(),
        owner.into(),
        id.into(),
        accept.principal.channel.as_str().into(),
        now.into(),
    ];
    if tx.execute(sql, &params).await? > 0 {
        return Ok(Thread { key: accept.thread_key.clone(), is_new: true });
    }
    let row = tx.row(find, &[org.into(), owner.into(), id.into()]).await?;
    let row = row.ok_or_else(|| StorageError::Conflict("the thread was removed meanwhile".to_owned()))?;
    Ok(Thread { key: parsed(&row, 0)?, is_new: false })
}

/// The place of a user row; `None`: no such row. A row of another role is nobody's message to answer.
async fn find_user_row(tx: &mut Tx, thread: &ThreadKey, id: &MessageId) -> Result<Option<i64>, Halt> {
    let sql = "SELECT seq, role FROM messages WHERE thread_key = $1 AND id = $2";
    let Some(row) = tx.row(sql, &[thread.as_str().into(), id.as_str().into()]).await? else { return Ok(None) };
    if row.get::<String>(1)? != "user" {
        return Err(Refusal::UnknownMessage.into());
    }
    Ok(Some(row.get(0)?))
}

/// How many of a kind a person may have in a minute.
pub(super) struct Rate {
    pub(super) kind: &'static str,
    pub(super) a_minute: u32,
}

/// The generic cell rate algorithm: a burst of `a_minute`, then one every 60 s divided by it. One statement, so that
/// turns of two threads at once both count.
pub(super) async fn count(tx: &mut Tx, accept: &Accept<'_>, rate: Rate, now: i64) -> Result<(), Halt> {
    const PERIOD: i64 = 60_000;
    let interval = PERIOD / i64::from(rate.a_minute.max(1));
    let sql = "INSERT INTO rates (org_id, user_id, kind, tat) VALUES ($1, $2, $6, $3)
        ON CONFLICT (org_id, user_id, kind)
        DO UPDATE SET tat = CASE WHEN rates.tat > $4 THEN rates.tat + $5 ELSE excluded.tat END
        RETURNING tat";
    let principal = accept.principal;
    let params = [
        principal.org.as_str().into(),
        principal.user.as_str().into(),
        (now + interval).into(),
        now.into(),
        interval.into(),
        rate.kind.into(),
    ];
    let row = tx.row(sql, &params).await?.ok_or_else(|| StorageError::Corrupt("no row".to_owned()))?;
    let over = row.get::<i64>(0)? - now - PERIOD;
    if over > 0 {
        let retry_after = Duration::from_millis(u64::try_from(over).unwrap_or(0));
        return Err(Refusal::RateLimited { retry_after }.into());
    }
    Ok(())
}

async fn insert_message(
    tx: &mut Tx,
    accept: &Accept<'_>,
    message: &NewMessage,
    thread: &ThreadKey,
    now: i64,
) -> Result<i64, StorageError> {
    let seq = messages::reserve(tx, thread, 1, now).await?;
    let seq = seq.ok_or_else(|| StorageError::Conflict("the thread was removed meanwhile".to_owned()))?;
    let message = Message::User { id: message.id.clone(), parts: message.parts.clone() };
    let place = messages::Place { thread, seq, turn: seq, run: &accept.run_key, step: 0, superseded_by: None, now };
    messages::insert(tx, &place, &[message]).await?;
    Ok(seq)
}

/// A row of `runs` as it begins.
pub(super) struct NewRun<'a> {
    /// `Queued`, or an end that needs no worker.
    pub(super) status: RunStatus,
    pub(super) turn: i64,
    pub(super) message: &'a MessageId,
    pub(super) position: i64,
    pub(super) parent: Option<&'a RunId>,
    pub(super) leg: i64,
    pub(super) continues: Option<&'a RunKey>,
    /// Of the run it goes on from, as it is stored.
    pub(super) decision: Option<&'a str>,
    pub(super) input: &'a RunInput,
}

pub(super) async fn insert_run(
    tx: &mut Tx,
    accept: &Accept<'_>,
    run: &RunRef,
    new: NewRun<'_>,
    now: i64,
) -> Result<(), StorageError> {
    let sql = "INSERT INTO runs (key, org_id, user_id, id, thread_key, thread_id, parent_run_id, channel, version, status,
            turn, message_id, position, created_at, input, leg, continues, decision, attempt, ended_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
        ON CONFLICT (org_id, user_id, id) DO NOTHING";
    let principal = accept.principal;
    let is_active = new.status.is_active();
    let params = [
        run.key.as_str().into(),
        principal.org.as_str().into(),
        principal.user.as_str().into(),
        run.id.as_str().into(),
        run.thread.as_str().into(),
        run.thread_id.as_str().into(),
        new.parent.map(RunId::as_str).into(),
        principal.channel.as_str().into(),
        RUN_VERSION.into(),
        new.status.as_str().into(),
        new.turn.into(),
        new.message.as_str().into(),
        new.position.into(),
        now.into(),
        to_json(new.input)?.into(),
        new.leg.into(),
        new.continues.map(RunKey::as_str).into(),
        new.decision.into(),
        i64::from(!is_active).into(),
        (!is_active).then_some(now).into(),
    ];
    if tx.execute(sql, &params).await? == 0 {
        // Somebody was quicker with this id: the next try joins that run or refuses the id.
        return Err(StorageError::Conflict("the run was accepted meanwhile".to_owned()));
    }
    Ok(())
}
