//! The one door every channel goes through.

use std::{
    sync::{Arc, Once},
    time::Instant,
};

use catalog::Catalog;
use domain::{CancelReason, ChatModel, Clock, Ids, Principal, RoleName, RunId, Signal, Signals, ThreadId};
use storage::{Beat, CancelOutcome, RunRef, StorageError, Store};
use tokio::sync::Notify;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Enlisted, Follow, From, NotListed, Reader, Roster, Settings, Submission, SubmitError, Ticket, ToolList, WorkScope,
    control::Stop,
    follow,
    hub::{Hub, Local, lock},
    intake, signals, worker,
};

/// What an orchestrator is made of.
pub struct Parts {
    pub store: Store,
    /// `None`: every message is refused with `model-unconfigured`.
    pub model: Option<Arc<dyn ChatModel>>,
    pub catalog: Arc<Catalog>,
    pub roster: Arc<Roster>,
    pub signals: Arc<dyn Signals>,
    pub ids: Arc<dyn Ids>,
    pub clock: Arc<dyn Clock>,
    pub settings: Settings,
}

/// Intake, workers and readers over one store. Cheap to clone.
#[derive(Clone)]
pub struct Orchestrator(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) parts: Parts,
    pub(crate) hub: Hub,
    /// Owner of every task that outlives a call.
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
    /// The stop of every [`Orchestrator::work`]: once one is cancelled, a closed socket says nothing of its reader.
    pub(crate) stops: std::sync::Mutex<Vec<CancellationToken>>,
    started: Once,
    /// Some run may be claimed.
    pub(crate) ready: Notify,
    /// Some run's row may have changed.
    pub(crate) beat: Notify,
}

impl Orchestrator {
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(Inner {
            parts,
            hub: Hub::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            stops: std::sync::Mutex::default(),
            started: Once::new(),
            ready: Notify::new(),
            beat: Notify::new(),
        }))
    }

    pub fn store(&self) -> &Store {
        &self.0.parts.store
    }

    pub fn settings(&self) -> &Settings {
        &self.0.parts.settings
    }

    pub fn model_configured(&self) -> bool {
        self.0.parts.model.is_some()
    }

    /// What a role may be offered on the principal's channel; the default role if none is named.
    pub async fn tools(&self, principal: &Principal, role: Option<&RoleName>) -> Result<ToolList, NotListed> {
        let parts = &self.0.parts;
        let role = match role {
            Some(name) => parts.roster.get(name).ok_or(NotListed::Role)?,
            None => parts.roster.default_role(),
        };
        let channel = parts.settings.channels.get(&principal.channel).ok_or(NotListed::Channel)?;
        let tools = parts.catalog.mount(principal).await;
        Ok(ToolList::of(&tools, channel, &parts.settings, role, principal))
    }

    /// Stores a turn and queues it, or says why not: then nothing was stored. The same run id in the same thread
    /// with the same last user row joins what is there.
    pub async fn submit(&self, principal: &Principal, submission: Submission) -> Result<Ticket, SubmitError> {
        intake::submit(&self.0, principal, submission).await
    }

    /// One reader's view of a run. Dropping it is that reader's socket closing. The run must be the principal's own:
    /// take it from a [`Ticket`] or from [`Store::run`].
    pub fn follow(&self, principal: &Principal, run: RunRef, from: From, reader: Reader) -> Follow {
        self.0.start();
        Follow::new(self.0.clone(), principal.clone(), run, from, reader)
    }

    /// Asks a run to stop. A waiting one is ended at once; one that runs here is told within this call.
    pub async fn cancel(&self, principal: &Principal, run: &RunId) -> Result<CancelOutcome, StorageError> {
        self.0.cancel(principal, run, CancelReason::Asked).await
    }

    /// Deletes a thread with all that was said in it. Its runs stop: those here within this call, those elsewhere with
    /// their next write or heartbeat; whoever reads one gets RUN_ERROR. False: the person has no such thread.
    pub async fn delete_thread(&self, principal: &Principal, thread: &ThreadId) -> Result<bool, StorageError> {
        self.0.delete_thread(principal, thread).await
    }

    /// Works the queue until `stop` is cancelled, lets runs in flight go on for `settings.grace`, hands the rest back.
    pub async fn work(&self, scope: WorkScope, stop: CancellationToken) {
        if let Some(enlisted) = self.enlist(scope).await {
            enlisted.work(stop).await;
        }
    }

    /// A pool of workers that messages may count on from now on: [`Refusal::NoWorker`](storage::Refusal::NoWorker) is
    /// over once this returned.
    pub async fn enlist(&self, scope: WorkScope) -> Option<Enlisted> {
        self.0.start();
        Box::pin(worker::enlist(self.0.clone(), scope)).await
    }

    /// Ends the tasks that listen for signals and tell rows who reads. Call it after [`Orchestrator::work`] returned.
    pub async fn shutdown(&self) {
        self.0.stop.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }
}

impl Inner {
    /// Listens for signals, once.
    pub(crate) fn start(self: &Arc<Self>) {
        self.started.call_once(|| {
            let parts = &self.parts;
            self.tasks.spawn(signals::bridge(parts.store.clone(), parts.signals.clone(), self.stop.clone()));
            self.tasks.spawn(signals::hear(self.clone()));
        });
    }

    /// The process goes down: a closed socket says nothing of its reader any more.
    pub(crate) fn is_closing(&self) -> bool {
        self.stop.is_cancelled() || lock(&self.stops).iter().any(CancellationToken::is_cancelled)
    }

    /// Learns from a run's row whether it should stop, without waiting for it.
    pub(crate) fn look_at(self: &Arc<Self>, local: &Local) {
        if !local.control.begin_look() {
            return;
        }
        let (inner, local) = (self.clone(), local.clone());
        self.tasks.spawn(async move {
            local.control.end_look();
            match inner.parts.store.run_by_key(&local.lease.run).await {
                Ok(Some(record)) => local.learn(&record),
                Ok(None) => local.control.stop_for(Stop::Fenced),
                // The heartbeat asks again.
                Err(error) => tracing::warn!(%error, "failed to look at a run"),
            }
        });
    }

    /// Does what a heartbeat found. `asked`: the moment before it.
    pub(crate) fn beaten(self: &Arc<Self>, local: &Local, beat: &Beat, asked: Instant) {
        if !beat.held {
            local.control.stop_for(Stop::Fenced);
            local.log.gone();
            return;
        }
        local.control.lease().renew(asked, worker::LEASE);
        local.log.renewed();
        local.control.set_remote_reader(beat.remote_reader);
        local.control.set_unattended(beat.unattended);
        if let Some(reason) = beat.cancel {
            local.control.stop_for(Stop::Cancel(reason));
        }
        if beat.unattended
            && let Some(post) = self.hub.post(&local.lease.run)
        {
            // Another process saw its last reader go; there may be one here.
            lock(&post.attendance).unattended = true;
            follow::tell(self, &post, None);
        }
    }

    /// Tells this process and others, without waiting for it.
    pub(crate) fn tell(self: &Arc<Self>, signal: Signal) {
        self.parts.signals.send(signal);
        let store = self.parts.store.clone();
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = store.announce() => {}
            }
        });
    }

    pub(crate) async fn cancel(
        self: &Arc<Self>,
        principal: &Principal,
        run: &RunId,
        reason: CancelReason,
    ) -> Result<CancelOutcome, StorageError> {
        let store = &self.parts.store;
        let Some(record) = store.run(principal, run).await? else { return Ok(CancelOutcome::Unknown) };
        let outcome = store.cancel(principal, run, reason, &intake::cut_off()).await?;
        let key = record.reference.key;
        if outcome == CancelOutcome::Requested
            && let Some(local) = self.hub.local(&key)
        {
            local.control.stop_for(Stop::Cancel(reason));
        }
        self.tell(Signal::Run(key));
        Ok(outcome)
    }

    async fn delete_thread(self: &Arc<Self>, principal: &Principal, thread: &ThreadId) -> Result<bool, StorageError> {
        let Some(deleted) = self.parts.store.delete_thread(principal, thread).await? else { return Ok(false) };
        for run in deleted.active {
            if let Some(post) = self.hub.post(&run) {
                if let Some(local) = post.local() {
                    local.control.stop_for(Stop::Fenced);
                    local.log.gone();
                }
                post.changed();
            }
            self.parts.signals.send(Signal::Run(run));
        }
        // Runs of others may go, now that its own do not.
        self.tell(Signal::Ready);
        Ok(true)
    }
}
