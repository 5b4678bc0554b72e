//! Renaming and deleting a thread.

use domain::{Principal, RunKey, ThreadId, ThreadKey};

use crate::retry::retry;
use crate::row::parsed;
use crate::{StorageError, Store, Tx};

/// A thread that is no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedThread {
    pub key: ThreadKey,
    /// Its runs that waited or ran: whoever runs or reads one wants to be told.
    pub active: Vec<RunKey>,
}

impl Store {
    /// `None` takes the title away; the thread keeps its place in the list. False: the person has no such thread.
    pub async fn rename_thread(
        &self,
        principal: &Principal,
        thread: &ThreadId,
        title: Option<&str>,
    ) -> Result<bool, StorageError> {
        retry!(async {
            let mut tx = self.begin().await?;
            let sql = "UPDATE threads SET title = $4 WHERE org_id = $1 AND owner_id = $2 AND id = $3";
            let params = [principal.org.as_str().into(), principal.user.as_str().into(), thread.as_str().into(), title.into()];
            let renamed = tx.execute(sql, &params).await? > 0;
            tx.commit().await?;
            Ok::<_, StorageError>(renamed)
        })
    }

    /// Deletes a thread with all that was said in it: messages, runs and their decisions, frames. A run in flight is
    /// fenced, as its row is gone. The ledger stays: it says what was spent, not what was said. `None`: the person has
    /// no such thread.
    pub async fn delete_thread(&self, principal: &Principal, thread: &ThreadId) -> Result<Option<DeletedThread>, StorageError> {
        retry!(async {
            let mut tx = self.begin().await?;
            let deleted = match lock(&mut tx, principal, thread).await? {
                None => None,
                Some(key) => Some(delete(&mut tx, key).await?),
            };
            tx.commit().await?;
            Ok::<_, StorageError>(deleted)
        })
    }
}

/// As a message that is being accepted does: of the two, one comes after the other.
async fn lock(tx: &mut Tx, principal: &Principal, thread: &ThreadId) -> Result<Option<ThreadKey>, StorageError> {
    let sql = "SELECT key FROM threads WHERE org_id = $1 AND owner_id = $2 AND id = $3 FOR UPDATE";
    let params = [principal.org.as_str().into(), principal.user.as_str().into(), thread.as_str().into()];
    tx.row(sql, &params).await?.map(|row| parsed(&row, 0)).transpose()
}

async fn delete(tx: &mut Tx, thread: ThreadKey) -> Result<DeletedThread, StorageError> {
    // Whoever writes for a run holds its row: after this, nobody does.
    let sql = "SELECT key, ended_at IS NULL FROM runs WHERE thread_key = $1 ORDER BY key FOR UPDATE";
    let mut active = Vec::new();
    for row in tx.rows(sql, &[thread.as_str().into()]).await? {
        if row.get::<bool>(1)? {
            active.push(parsed(&row, 0)?);
        }
    }
    // A table that keeps something of what was said gets its line here.
    for sql in [
        "DELETE FROM frames WHERE run_key IN (SELECT key FROM runs WHERE thread_key = $1)",
        "DELETE FROM interrupts WHERE thread_key = $1",
        "DELETE FROM runs WHERE thread_key = $1",
        "DELETE FROM messages WHERE thread_key = $1",
        "DELETE FROM threads WHERE key = $1",
    ] {
        tx.execute(sql, &[thread.as_str().into()]).await?;
    }
    Ok(DeletedThread { key: thread, active })
}
