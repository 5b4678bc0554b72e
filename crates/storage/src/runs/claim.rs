//! Taking runs from the queue.

use std::collections::BTreeMap;

use domain::{Decision, crash};

use super::record::run_columns;
use crate::retry::retry;
use crate::row::{millis, to_json};
use crate::{Claim, Claimed, Engine, RunRecord, StorageError, Store, Tx, Value};

/// How often one claim looks again when others were quicker.
const ROUNDS: u32 = 8;

/// The first active run of its thread, of an organization that may run more: what a claim may take. `$1`: how many
/// an organization may run. The organizations at their limit are found once a statement, not once a row.
macro_rules! candidates {
    ($rest:expr) => {
        concat!(
            "SELECT r.key, r.org_id FROM runs r WHERE r.status = 'queued'
                AND NOT EXISTS (SELECT 1 FROM runs e WHERE e.thread_key = r.thread_key AND e.status = 'running')
                AND NOT EXISTS (SELECT 1 FROM runs e WHERE e.thread_key = r.thread_key
                    AND e.status IN ('queued', 'running') AND e.position < r.position)
                AND r.org_id NOT IN (SELECT o.org_id FROM runs o WHERE o.status = 'running'
                    GROUP BY o.org_id HAVING COUNT(*) >= $1) ",
            $rest
        )
    };
}

macro_rules! of_thread {
    ($lock:literal) => {
        candidates!(concat!("AND r.thread_key = $3 AND r.status IN ('queued', 'running') ORDER BY r.position LIMIT $2 ", $lock))
    };
}

/// Takes one run. On PostgreSQL it looks at the thread again, now that nobody else of the organization claims; on SQLite
/// the writer is alone, and the candidates are of this very transaction.
macro_rules! take {
    ($again:literal) => {
        concat!(
            "UPDATE runs SET status = 'running', attempt = attempt + 1, lease_owner = $2, lease_until = $3,
                started_at = COALESCE(started_at, $4)
            WHERE key = $1 AND status = 'queued' ",
            $again,
            " RETURNING ",
            run_columns!()
        )
    };
}

impl Store {
    /// Takes up to `max` runs, oldest first, one running run a thread, in the thread's order. Crash point `claim`
    /// (once the claim is committed).
    pub async fn claim(&self, claim: Claim<'_>) -> Result<Vec<Claimed>, StorageError> {
        let mut claimed: Vec<Claimed> = Vec::new();
        for _ in 0..ROUNDS {
            let wanted = claim.max.saturating_sub(u32::try_from(claimed.len()).unwrap_or(u32::MAX));
            if wanted == 0 {
                break;
            }
            match retry!(self.claim_round(&claim, wanted)) {
                Ok(round) => {
                    claimed.extend(round.claimed);
                    if round.all_taken {
                        break;
                    }
                }
                // What is claimed already is the caller's to run.
                Err(error) if claimed.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(claimed)
    }

    /// One transaction: claimers lock different runs, then their organizations in one order.
    async fn claim_round(&self, claim: &Claim<'_>, wanted: u32) -> Result<Round, StorageError> {
        let mut tx = self.begin().await?;
        let now = tx.now().await?;
        let mut candidates = candidates(&mut tx, claim, wanted, Held::Skip).await?;
        if candidates.is_empty() && self.engine() == Engine::Postgres {
            // Somebody may hold the run for a moment: a reader who comes or goes, a second message of its thread.
            // Waiting for that one row, with nothing else locked yet, is sooner over than the time to the next poll.
            candidates = self::candidates(&mut tx, claim, 1, Held::Seen).await?;
            for (run, _) in &candidates {
                tx.row("SELECT key FROM runs WHERE key = $1 FOR UPDATE", &[run.into()]).await?;
            }
        }
        let seen = candidates.len();
        let mut room = self.room(&mut tx, claim, &candidates).await?;
        let mut claimed = Vec::new();
        for (run, org) in candidates {
            let Some(room) = room.get_mut(&org).filter(|room| **room > 0) else { continue };
            // Two claimers without an organization's row to wait for may both find the thread free.
            let taken = self.take(&mut tx, claim, run, now).await.map_err(meeting)?;
            if let Some(mut record) = taken {
                *room -= 1;
                if record.decision.is_none()
                    && let Some(decision) = claim.decide.and_then(|decide| decide(&record))
                {
                    decide(&mut tx, &mut record, decision).await?;
                }
                claimed.push(Claimed { lease: record.lease(), record });
            }
        }
        tx.commit().await?;
        if !claimed.is_empty() {
            crash::point("claim");
        }
        Ok(Round { all_taken: claimed.len() == seen, claimed })
    }

    /// How many more runs each organization may run. Claimers of one organization go one after the other: each counts
    /// what runs only after the one before committed.
    async fn room(
        &self,
        tx: &mut Tx,
        claim: &Claim<'_>,
        candidates: &[(String, String)],
    ) -> Result<BTreeMap<String, i64>, StorageError> {
        let mut room: BTreeMap<String, i64> = candidates.iter().map(|(_, org)| (org.clone(), 0)).collect();
        for (org, room) in &mut room {
            if self.engine() == Engine::Postgres {
                tx.row("SELECT id FROM organizations WHERE id = $1 FOR UPDATE", &[org.as_str().into()]).await?;
            }
            let sql = "SELECT COUNT(*) FROM runs WHERE org_id = $1 AND status = 'running'";
            let row = tx.row(sql, &[org.as_str().into()]).await?;
            let running: i64 = row.map(|row| row.get(0)).transpose()?.unwrap_or(0);
            *room = i64::from(claim.org_runs) - running;
        }
        Ok(room)
    }

    /// `None`: somebody was quicker.
    async fn take(&self, tx: &mut Tx, claim: &Claim<'_>, run: String, now: i64) -> Result<Option<RunRecord>, StorageError> {
        let sql = match self.engine() {
            Engine::Sqlite => take!(""),
            Engine::Postgres => take!(
                "AND NOT EXISTS (SELECT 1 FROM runs e WHERE e.thread_key = runs.thread_key AND e.status = 'running')
                AND NOT EXISTS (SELECT 1 FROM runs e WHERE e.thread_key = runs.thread_key
                    AND e.status IN ('queued', 'running') AND e.position < runs.position)"
            ),
        };
        let params = [run.into(), claim.worker.as_str().into(), (now + millis(claim.lease)).into(), now.into()];
        tx.row(sql, &params).await?.as_ref().map(RunRecord::read).transpose()
    }
}

/// One commit less before the model is asked.
async fn decide(tx: &mut Tx, record: &mut RunRecord, decision: Decision) -> Result<(), StorageError> {
    let sql = "UPDATE runs SET decision = $2 WHERE key = $1";
    tx.execute(sql, &[record.reference.key.as_str().into(), to_json(&decision)?.into()]).await?;
    record.decision = Some(decision);
    Ok(())
}

struct Round {
    claimed: Vec<Claimed>,
    /// Otherwise an organization was full meanwhile, and runs of others may wait behind its.
    all_taken: bool,
}

/// What to do with a run whose row another transaction holds.
enum Held {
    Skip,
    /// Seen, and nothing is locked.
    Seen,
}

async fn candidates(tx: &mut Tx, claim: &Claim<'_>, wanted: u32, held: Held) -> Result<Vec<(String, String)>, StorageError> {
    let mut params = vec![Value::from(claim.org_runs), wanted.into()];
    let sql = match (claim.thread, held) {
        (None, Held::Skip) => candidates!("ORDER BY r.position, r.key LIMIT $2 FOR UPDATE SKIP LOCKED"),
        (None, Held::Seen) => candidates!("ORDER BY r.position, r.key LIMIT $2"),
        (Some(_), Held::Skip) => of_thread!("FOR UPDATE SKIP LOCKED"),
        (Some(_), Held::Seen) => of_thread!(""),
    };
    params.extend(claim.thread.map(|thread| thread.as_str().into()));
    let rows = tx.rows(sql, &params).await?;
    rows.iter().map(|row| Ok((row.get(0)?, row.get(1)?))).collect()
}

fn meeting(error: StorageError) -> StorageError {
    match error {
        StorageError::Constraint(text) => StorageError::Conflict(text),
        other => other,
    }
}
