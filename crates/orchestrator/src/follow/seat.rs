//! A reader's place at a run's post. Leaving it is the reader's socket closing.

use std::sync::Arc;

use domain::{CancelReason, Principal, Signal};
use storage::{RunRef, StorageError};

use super::Reader;
use crate::{
    OnDisconnect,
    hub::{Post, lock},
    orchestrator::Inner,
};

pub(super) struct Seat {
    pub(super) inner: Arc<Inner>,
    pub(super) post: Arc<Post>,
    pub(super) run: RunRef,
    principal: Principal,
    reader: Reader,
    /// It has seen the end: leaving says nothing.
    pub(super) done: bool,
}

impl Seat {
    pub(super) fn take(inner: Arc<Inner>, principal: Principal, run: RunRef, reader: Reader) -> Self {
        let post = inner.hub.enter(&run.key);
        let seat = Self { inner, post, run, principal, reader, done: false };
        if seat.counts() {
            lock(&seat.post.attendance).persons += 1;
            seat.tell();
        }
        seat
    }

    /// The run's row says that nobody reads it.
    pub(super) fn found_unattended(&self) {
        if self.counts() {
            lock(&self.post.attendance).unattended = true;
            self.tell();
        }
    }

    /// As long as it is here the run is attended.
    fn counts(&self) -> bool {
        match self.reader {
            Reader::Person | Reader::Detached => true,
            Reader::Observer => false,
        }
    }

    fn tell(&self) {
        tell(&self.inner, &self.post, Some((&self.principal, &self.run)));
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if self.counts() {
            lock(&self.post.attendance).persons -= 1;
        }
        if self.reader == Reader::Person && !self.done {
            self.tell();
        }
        self.inner.hub.leave(&self.run.key);
    }
}

/// Makes the run's row say whether anybody reads it here, if it says otherwise; one task a run at a time. `whose`:
/// for whom the run is cancelled if a closed socket means that.
pub(crate) fn tell(inner: &Arc<Inner>, post: &Arc<Post>, whose: Option<(&Principal, &RunRef)>) {
    let unattended = {
        let mut attendance = lock(&post.attendance);
        let unattended = attendance.persons == 0;
        if attendance.telling || attendance.unattended == unattended || (unattended && inner.is_closing()) {
            return;
        }
        attendance.telling = true;
        unattended
    };
    if let Some(local) = post.local() {
        local.control.set_unattended(unattended);
    }
    // The task has its own place, so that who comes meanwhile finds what it found.
    let (inner, post) = (inner.clone(), inner.hub.enter(&post.run));
    let whose = whose.map(|(principal, run)| (principal.clone(), run.clone()));
    inner.tasks.clone().spawn(async move {
        while let Some(unattended) = untold(&inner, &post) {
            if let Some(local) = post.local() {
                local.control.set_unattended(unattended);
            }
            if let Err(error) = Box::pin(tell_row(&inner, &post, unattended, whose.as_ref())).await {
                tracing::warn!(%error, "failed to say who reads a run");
                lock(&post.attendance).telling = false;
                break;
            }
            lock(&post.attendance).unattended = unattended;
        }
        inner.hub.leave(&post.run);
    });
}

/// What the row has to be told; `None`: it says so already, the task is over.
fn untold(inner: &Inner, post: &Post) -> Option<bool> {
    let mut attendance = lock(&post.attendance);
    let unattended = attendance.persons == 0;
    if attendance.unattended == unattended || (unattended && inner.is_closing()) {
        attendance.telling = false;
        return None;
    }
    Some(unattended)
}

async fn tell_row(
    inner: &Arc<Inner>,
    post: &Post,
    unattended: bool,
    whose: Option<&(Principal, RunRef)>,
) -> Result<(), StorageError> {
    let store = &inner.parts.store;
    if !unattended {
        return store.attend(&post.run, None).await;
    }
    if !store.unattend(&post.run).await? {
        return Ok(());
    }
    // Whoever runs it looks at its row: a next message of the same person may have taken its place.
    inner.parts.signals.send(Signal::Run(post.run.clone()));
    store.announce().await;
    if inner.parts.settings.on_disconnect == OnDisconnect::Abort
        && let Some((principal, run)) = whose
    {
        inner.cancel(principal, &run.id, CancelReason::Unattended).await?;
    }
    Ok(())
}
