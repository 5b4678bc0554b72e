//! One claimed run, from the claim to whatever end.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Instant};

use domain::{Code, Event, Message, MessageId, RUN_VERSION, RunStatus, Signal};
use futures::FutureExt;
use storage::{Claimed, Finish, LeaseError, RunRecord, StepCommit};
use tokio::sync::OwnedSemaphorePermit;

use super::{LEASE, pool::Pool};
use crate::{
    Channels,
    control::{RunControl, Stop},
    follow,
    hub::{Local, Post, lock},
    log::{RunLog, RunWriter, json},
    turn::{self, Note},
};

/// What a person reads of a turn that broke in our own hands.
const BROKEN: &str = "something went wrong on our side; send the message again";

/// Runs it, unless this build cannot read it. `asked`: the moment before it was claimed.
pub(super) async fn launch(pool: Arc<Pool>, claimed: Claimed, asked: Instant, permit: Option<OwnedSemaphorePermit>) {
    let inner = pool.inner.clone();
    let run = claimed.lease.run.clone();
    match unreadable(&claimed.record, &inner.parts.settings.channels) {
        Some(reason) => {
            tracing::error!(%run, reason, "a run cannot be read; it is a dead letter");
            if let Err(error) = Box::pin(inner.parts.store.abandon(&claimed.lease, &reason, &Note::Lost.text())).await {
                tracing::warn!(%run, %error, "failed to put a run away; its lease runs out by itself");
            }
            inner.parts.signals.send(Signal::Run(run));
        }
        None => Place::take(pool, &claimed, asked).run(claimed).await,
    }
    drop(permit);
    // The thread's next run may go.
    inner.tell(Signal::Ready);
}

/// Why nobody here may guess what a run asks for.
fn unreadable(record: &RunRecord, channels: &Channels) -> Option<String> {
    if record.version > RUN_VERSION || record.input.is_none() {
        let version = record.version;
        return Some(format!("the message has format {version}, this build reads up to {RUN_VERSION}; run the newer build"));
    }
    if channels.get(&record.channel).is_none() {
        return Some(format!("the message came through the channel \"{}\", which this build does not know", record.channel));
    }
    None
}

/// A run's place in this process, given back however it ends.
struct Place {
    pool: Arc<Pool>,
    post: Arc<Post>,
    local: Local,
}

impl Place {
    fn take(pool: Arc<Pool>, claimed: &Claimed, asked: Instant) -> Self {
        let Claimed { lease, record } = claimed;
        let post = pool.inner.hub.enter(&lease.run);
        let control = Arc::new(RunControl::new(asked, LEASE));
        control.set_unattended(record.unattended_since.is_some());
        if record.continues.is_some() {
            control.exempt();
        }
        if let Some(reason) = record.cancel {
            control.stop_for(Stop::Cancel(reason));
        }
        let log = RunLog::new(lease.attempt, record.parent_run.clone(), control.clone(), post.clone());
        let local = Local { lease: lease.clone(), control, log };
        if record.unattended_since.is_some() {
            lock(&post.attendance).unattended = true;
            follow::tell(&pool.inner, &post, None);
        }
        pool.add(local.clone());
        pool.inner.hub.begin(&post, local.clone());
        Self { pool, post, local }
    }

    async fn run(self, claimed: Claimed) {
        let parts = &self.pool.inner.parts;
        let Local { lease, control, log } = self.local.clone();
        let writer = RunWriter::new(parts.store.clone(), parts.signals.clone(), lease, control.clone(), log);
        let turn = AssertUnwindSafe(Box::pin(turn::run(parts, claimed, writer, control))).catch_unwind();
        let broken = tokio::select! {
            ended = turn => ended.is_err(),
            // Dropped in mid-run: the lease runs out.
            () = self.pool.kill.cancelled() => false,
        };
        if broken {
            tracing::error!(run = %self.local.lease.run, "a turn panicked");
            self.fail().await;
        }
    }

    /// Ends a run whose turn cannot do so itself any more.
    async fn fail(&self) {
        let Local { lease, control, log } = &self.local;
        if control.stop() == Some(Stop::Fenced) {
            return;
        }
        let id = MessageId::parse(format!("note_{}", lease.run));
        let messages = id.map(|id| Message::Note { id, text: Note::Broken.text() }).into_iter().collect();
        let frames = log.last_words(&json(&Event::error(Code::Internal, BROKEN)));
        let finish = Finish {
            status: RunStatus::Failed,
            error: Some((Code::Internal, BROKEN.to_owned())),
            model: None,
            interrupts: Vec::new(),
            step: StepCommit { step: 0, messages, calls: Vec::new(), frames },
        };
        match Box::pin(self.pool.inner.parts.store.finish(lease, &finish)).await {
            Ok(()) | Err(LeaseError::Fenced) => {}
            Err(error) => tracing::warn!(run = %lease.run, %error, "failed to end a run; its lease runs out by itself"),
        }
        self.pool.inner.parts.signals.send(Signal::Run(lease.run.clone()));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Local { lease, log, .. } = &self.local;
        log.gone();
        self.pool.remove(lease);
        self.pool.inner.hub.end(&self.post, lease.attempt);
        self.pool.inner.hub.leave(&lease.run);
    }
}

#[cfg(test)]
#[path = "run/tests.rs"]
mod tests;
