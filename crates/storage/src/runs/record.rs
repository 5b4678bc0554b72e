//! A row of `runs` as [`RunRecord`].

use domain::{CancelReason, RUN_VERSION, RunStatus};

use crate::row::{count, optional, parsed, word};
use crate::{Row, RunLease, RunRecord, RunRef, StorageError};

/// The columns [`RunRecord::read`] takes, in its order.
macro_rules! run_columns {
    () => {
        "key, id, thread_key, thread_id, org_id, user_id, channel, parent_run_id, version, input, status, attempt, failures, \
         turn, message_id, steps, decision, model, cancel, unattended_since, error_code, error_message, created_at, \
         started_at, ended_at, leg, continues"
    };
}
pub(crate) use run_columns;

impl RunRecord {
    /// Input and decision that this build cannot read are `None`: one such row may not keep others from being claimed.
    pub(crate) fn read(row: &Row) -> Result<Self, StorageError> {
        let version = row.get(8)?;
        let input: String = row.get(9)?;
        let decision: Option<String> = row.get(16)?;
        let cancel: Option<String> = row.get(18)?;
        let code: Option<String> = row.get(20)?;
        let message: Option<String> = row.get(21)?;
        Ok(Self {
            reference: RunRef { key: parsed(row, 0)?, id: parsed(row, 1)?, thread: parsed(row, 2)?, thread_id: parsed(row, 3)? },
            org: parsed(row, 4)?,
            user: parsed(row, 5)?,
            channel: parsed(row, 6)?,
            parent_run: optional(row, 7)?,
            version,
            input: if version > RUN_VERSION { None } else { serde_json::from_str(&input).ok() },
            status: word(&row.get::<String>(10)?, RunStatus::parse)?,
            attempt: row.get(11)?,
            failures: row.get(12)?,
            turn: row.get(13)?,
            message: parsed(row, 14)?,
            steps: u32::try_from(count(row.get(15)?)?).unwrap_or(u32::MAX),
            decision: decision.and_then(|text| serde_json::from_str(&text).ok()),
            model: row.get(17)?,
            cancel: cancel.map(|text| word(&text, CancelReason::parse)).transpose()?,
            unattended_since: row.get(19)?,
            error: code.map(|code| (code, message.unwrap_or_default())),
            created_at: row.get(22)?,
            started_at: row.get(23)?,
            ended_at: row.get(24)?,
            leg: u32::try_from(count(row.get(25)?)?).unwrap_or(u32::MAX),
            continues: optional(row, 26)?,
        })
    }

    pub(crate) fn lease(&self) -> RunLease {
        RunLease { run: self.reference.key.clone(), thread: self.reference.thread.clone(), attempt: self.attempt }
    }
}
