//! Ending a run that no worker ends: its row, its terminal event and the fence in one.

use domain::{CancelReason, Code, Event, Message, MessageId, Outcome, RunId, RunKey, RunStatus, ThreadId, ThreadKey};

use crate::{StorageError, Tx, frames, messages};

/// A run to end, whose row is locked and found active. Raising its attempt fences whoever still holds it.
pub(crate) struct Ending<'a> {
    pub(crate) run: &'a RunKey,
    pub(crate) kind: EndKind<'a>,
    pub(crate) now: i64,
}

pub(crate) enum EndKind<'a> {
    Cancelled {
        reason: CancelReason,
        run: &'a RunId,
        thread: &'a ThreadId,
    },
    /// The thread's row is locked too: a note goes into the transcript.
    Abandoned {
        thread: &'a ThreadKey,
        reason: &'a str,
        /// What the model reads of the turn later.
        note: &'a str,
        /// Failures to add.
        failures: i64,
    },
}

pub(crate) async fn end(tx: &mut Tx, ending: Ending<'_>) -> Result<(), StorageError> {
    let (status, cancel, error, failures) = match &ending.kind {
        EndKind::Cancelled { reason, .. } => (RunStatus::Cancelled, Some(reason.as_str()), None, 0),
        EndKind::Abandoned { reason, failures, .. } => (RunStatus::Abandoned, None, Some(*reason), *failures),
    };
    let sql = "UPDATE runs SET status = $2, attempt = attempt + 1, failures = failures + $3, cancel = COALESCE(cancel, $4),
            error_code = $5, error_message = $6, ended_at = $7, lease_owner = NULL, lease_until = NULL
        WHERE key = $1 AND status IN ('queued', 'running')
        RETURNING attempt, turn, superseded_by, steps";
    let params = [
        ending.run.as_str().into(),
        status.as_str().into(),
        failures.into(),
        cancel.into(),
        error.map(|_| Code::Abandoned.as_str()).into(),
        error.into(),
        ending.now.into(),
    ];
    let row = tx.row(sql, &params).await?;
    let row = row.ok_or_else(|| StorageError::Conflict("the run ended meanwhile".to_owned()))?;
    let event = match &ending.kind {
        EndKind::Cancelled { reason, run, thread } => Event::RunFinished {
            thread_id: (*thread).clone(),
            run_id: (*run).clone(),
            outcome: Some(Outcome::Cancelled),
            usage: Vec::new(),
            metadata: Some(reason.metadata()),
        },
        EndKind::Abandoned { reason, .. } => Event::error(Code::Abandoned, *reason),
    };
    frames::insert_terminal(tx, ending.run, row.get(0)?, &event).await?;
    if let EndKind::Abandoned { thread, note, .. } = ending.kind {
        let id = MessageId::parse(format!("note_{}", ending.run)).map_err(|error| StorageError::Corrupt(error.to_string()))?;
        let note = Message::Note { id, text: note.to_owned() };
        let Some(seq) = messages::reserve(tx, thread, 1, ending.now).await? else { return Ok(()) };
        let place = messages::Place {
            thread,
            seq,
            turn: row.get(1)?,
            run: ending.run,
            step: u32::try_from(row.get::<i64>(3)?).unwrap_or(u32::MAX),
            superseded_by: row.get(2)?,
            now: ending.now,
        };
        messages::insert(tx, &place, &[note]).await?;
    }
    Ok(())
}
