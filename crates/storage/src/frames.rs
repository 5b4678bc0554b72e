//! Frames: the events of a run stored together; snapshot and resumable stream in one.

use domain::{Event, Offset, RunKey};

use crate::retry::retry;
use crate::runs::fence;
use crate::{LeaseError, RunLease, StorageError, Store, Tx};

/// Most frames one read returns; a reader asks again from the last one's end.
const FRAMES_A_READ: i64 = 32;

/// Events to append: one JSON object a line, LF after each, `first..=last` their places in the attempt (from 1).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrameBatch {
    pub first: i64,
    pub last: i64,
    pub body: Vec<u8>,
}

impl FrameBatch {
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }
}

/// A stored frame. `committed`: the step it belongs to has ended, it stands even if its attempt is superseded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub attempt: i64,
    pub first: i64,
    pub last: i64,
    pub committed: bool,
    pub body: Vec<u8>,
}

impl Store {
    /// Appends under the fence, uncommitted until the step ends ([`Store::commit_step`], [`Store::finish`]).
    /// Appending a batch again that begins at the same place takes the place of the first.
    pub async fn append_frames(&self, lease: &RunLease, frames: &FrameBatch) -> Result<(), LeaseError> {
        retry!(async {
            let mut tx = self.begin().await?;
            fence(&mut tx, lease).await?;
            insert(&mut tx, &lease.run, lease.attempt, frames, false).await?;
            tx.commit().await?;
            Ok::<_, LeaseError>(())
        })
    }

    /// Frames holding events after `after`, in order, about `max_bytes` at a time (at least one frame). With
    /// `standing` only those that stand: of attempts before the run's current one, committed frames.
    pub async fn frames(
        &self,
        run: &RunKey,
        after: Offset,
        standing: bool,
        max_bytes: usize,
    ) -> Result<Vec<Frame>, StorageError> {
        let sql = "SELECT f.attempt, f.first_seq, f.last_seq, f.committed, f.body
            FROM frames f JOIN runs r ON r.key = f.run_key
            WHERE f.run_key = $1 AND f.attempt >= $2 AND (f.attempt > $2 OR f.last_seq > $3)
              AND ($4 = FALSE OR f.committed = TRUE OR f.attempt = r.attempt)
            ORDER BY f.attempt, f.first_seq LIMIT $5";
        let mut tx = self.read().await?;
        let params = [run.as_str().into(), after.attempt.into(), after.seq.into(), standing.into(), FRAMES_A_READ.into()];
        let mut frames = Vec::new();
        let mut bytes = 0;
        for row in tx.rows(sql, &params).await? {
            let body: Vec<u8> = row.get(4)?;
            bytes += body.len();
            if !frames.is_empty() && bytes > max_bytes {
                break;
            }
            frames.push(Frame { attempt: row.get(0)?, first: row.get(1)?, last: row.get(2)?, committed: row.get(3)?, body });
        }
        Ok(frames)
    }
}

pub(crate) async fn insert(
    tx: &mut Tx,
    run: &RunKey,
    attempt: i64,
    frames: &FrameBatch,
    committed: bool,
) -> Result<(), StorageError> {
    if frames.is_empty() {
        return Ok(());
    }
    // A caller whose commit was answered by an error may come again with the same events and more.
    let sql = "INSERT INTO frames (run_key, attempt, first_seq, last_seq, committed, body) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (run_key, attempt, first_seq)
        DO UPDATE SET last_seq = excluded.last_seq, committed = excluded.committed, body = excluded.body";
    let params = [
        run.as_str().into(),
        attempt.into(),
        frames.first.into(),
        frames.last.into(),
        committed.into(),
        frames.body.as_slice().into(),
    ];
    tx.execute(sql, &params).await?;
    Ok(())
}

/// What the attempt has appended so far stands from now on.
pub(crate) async fn commit(tx: &mut Tx, run: &RunKey, attempt: i64) -> Result<(), StorageError> {
    let sql = "UPDATE frames SET committed = TRUE WHERE run_key = $1 AND attempt = $2 AND committed = FALSE";
    tx.execute(sql, &[run.as_str().into(), attempt.into()]).await?;
    Ok(())
}

/// The one frame of an attempt that nobody ran: its terminal event.
pub(crate) async fn insert_terminal(tx: &mut Tx, run: &RunKey, attempt: i64, event: &Event) -> Result<(), StorageError> {
    let mut body = crate::row::to_json(event)?.into_bytes();
    body.push(b'\n');
    insert(tx, run, attempt, &FrameBatch { first: 1, last: 1, body }, true).await
}
