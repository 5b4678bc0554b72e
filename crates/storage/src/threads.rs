//! Threads as their owner sees them.

use domain::{ChannelName, Principal, RunId, ThreadId, ThreadKey};

use crate::{ModelCall, RunRecord, StorageError, Store, StoredMessage};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSummary {
    pub id: ThreadId,
    pub key: ThreadKey,
    pub channel: ChannelName,
    pub title: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
    pub messages: i64,
}

/// What reopening a thread shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hydrated {
    /// In transcript order, not superseded. While a run is active: up to that run's user message.
    pub messages: Vec<StoredMessage>,
    pub active_run: Option<RunId>,
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

impl Store {
    /// Unknown or foreign: empty. `before`: a message id; `limit` messages at most.
    pub async fn hydrate(
        &self,
        _principal: &Principal,
        _thread: &ThreadId,
        _limit: Option<u32>,
        _before: Option<&str>,
    ) -> Result<Hydrated, StorageError> {
        todo!()
    }
    /// Newest first; `after` is the last item's `updated_at` and key of the page before.
    pub async fn threads(
        &self,
        _principal: &Principal,
        _limit: u32,
        _after: Option<(i64, ThreadKey)>,
    ) -> Result<Vec<ThreadSummary>, StorageError> {
        todo!()
    }
    /// Everything of one thread, for `threads show`.
    pub async fn thread_view(&self, _principal: &Principal, _thread: &ThreadId) -> Result<Option<ThreadView>, StorageError> {
        todo!()
    }
    /// The thread's key, if the person has one of that id.
    pub async fn thread_key(&self, _principal: &Principal, _thread: &ThreadId) -> Result<Option<ThreadKey>, StorageError> {
        todo!()
    }
}
