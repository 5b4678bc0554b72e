//! The runs one worker process has taken.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use domain::{RunKey, ThreadKey, WorkerId};
use storage::{Claim, RunLease, RunRecord};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{CLAIM, HAND_BACK, LEASE, WorkScope, run};
use crate::{
    control::Stop,
    hub::{Local, lock},
    orchestrator::Inner,
    turn,
};

pub(super) struct Pool {
    pub(super) inner: Arc<Inner>,
    id: WorkerId,
    /// `None`: it has no row.
    capacity: Option<u32>,
    thread: Option<ThreadKey>,
    slots: Arc<Semaphore>,
    live: Mutex<HashMap<RunKey, Local>>,
    runs: TaskTracker,
    /// Ends runs that do not hand themselves back.
    pub(super) kill: CancellationToken,
}

/// What a claim brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claims {
    /// As many as were asked for: there may be more.
    Full,
    /// All there were.
    Rest,
}

impl Pool {
    /// `None` if there is no id to be had.
    pub(super) fn new(inner: Arc<Inner>, scope: WorkScope) -> Option<Arc<Self>> {
        let id = match WorkerId::parse(format!("worker_{}", inner.parts.ids.ulid())) {
            Ok(id) => id,
            Err(error) => {
                tracing::error!(%error, "the source of ids gave no id");
                return None;
            }
        };
        let (capacity, slots, thread) = match scope {
            WorkScope::All { concurrency } => (Some(concurrency), concurrency, None),
            WorkScope::Thread(thread) => (None, 1, Some(thread)),
        };
        Some(Arc::new(Self {
            inner,
            id,
            capacity,
            thread,
            slots: Arc::new(Semaphore::new(usize::try_from(slots).unwrap_or(1).min(Semaphore::MAX_PERMITS))),
            live: Mutex::default(),
            runs: TaskTracker::new(),
            kill: CancellationToken::new(),
        }))
    }

    /// A place for one more run, once there is one.
    pub(super) async fn slot(&self) -> Option<OwnedSemaphorePermit> {
        self.slots.clone().acquire_owned().await.ok()
    }

    /// Takes what waits, as far as there are places. Never dropped half-way: a run once claimed is run.
    pub(super) async fn claim(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> Claims {
        let free = u32::try_from(self.slots.available_permits()).unwrap_or(u32::MAX).saturating_add(1);
        let max = free.min(CLAIM);
        let asked = Instant::now();
        let org_runs = self.inner.parts.settings.limits.concurrent_runs;
        let parts = &self.inner.parts;
        let decide = |record: &RunRecord| turn::decide_ahead(parts, record);
        let thread = self.thread.as_ref();
        let claim = Claim { worker: &self.id, max, thread, org_runs, lease: LEASE, decide: Some(&decide) };
        let claimed = match Box::pin(self.inner.parts.store.claim(claim)).await {
            Ok(claimed) => claimed,
            Err(error) => {
                tracing::warn!(%error, "failed to claim runs");
                return Claims::Rest;
            }
        };
        let full = claimed.len() >= usize::try_from(max).unwrap_or(usize::MAX);
        let mut permit = Some(permit);
        for claimed in claimed {
            let permit = permit.take().or_else(|| self.slots.clone().try_acquire_owned().ok());
            self.runs.spawn(run::launch(self.clone(), claimed, asked, permit));
        }
        if full { Claims::Full } else { Claims::Rest }
    }

    pub(super) fn add(&self, local: Local) {
        lock(&self.live).insert(local.lease.run.clone(), local);
    }

    pub(super) fn remove(&self, lease: &RunLease) {
        let mut live = lock(&self.live);
        if live.get(&lease.run).is_some_and(|local| local.lease == *lease) {
            live.remove(&lease.run);
        }
    }

    pub(super) fn live(&self) -> Vec<Local> {
        lock(&self.live).values().cloned().collect()
    }

    /// Renews the leases, with `row` the worker's own too, and does what the runs' rows ask for.
    pub(super) async fn beat(&self, row: bool) {
        let store = &self.inner.parts.store;
        if let Some(capacity) = self.capacity.filter(|_| row)
            && let Err(error) = Box::pin(store.worker_beat(&self.id, capacity, LEASE)).await
        {
            tracing::warn!(%error, "failed to renew the worker's row");
        }
        let live = self.live();
        if live.is_empty() {
            return;
        }
        let leases: Vec<RunLease> = live.iter().map(|local| local.lease.clone()).collect();
        let asked = Instant::now();
        let beats = match Box::pin(store.renew(&leases, LEASE)).await {
            Ok(beats) => beats,
            Err(error) => {
                tracing::warn!(%error, "failed to renew leases");
                return;
            }
        };
        for (local, beat) in live.iter().zip(&beats) {
            self.inner.beaten(local, beat, asked);
        }
    }

    /// Takes no more: whoever asks is told that this worker is gone.
    pub(super) async fn leave(&self) {
        self.slots.close();
        if self.capacity.is_none() {
            return;
        }
        let gone = tokio::time::timeout(HAND_BACK, Box::pin(self.inner.parts.store.worker_gone(&self.id))).await;
        if !matches!(gone, Ok(Ok(()))) {
            tracing::warn!("failed to remove the worker's row; it runs out by itself");
        }
    }

    /// Waits for the runs in flight, then has them handed back, then drops them.
    pub(super) async fn drain(&self, grace: Duration) {
        self.runs.close();
        if tokio::time::timeout(grace, self.runs.wait()).await.is_ok() {
            return;
        }
        for local in self.live() {
            local.control.stop_for(Stop::Shutdown);
        }
        if tokio::time::timeout(HAND_BACK, self.runs.wait()).await.is_err() {
            tracing::warn!("runs did not hand themselves back in time; their leases run out by themselves");
            self.kill.cancel();
            self.runs.wait().await;
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.kill.cancel();
    }
}
