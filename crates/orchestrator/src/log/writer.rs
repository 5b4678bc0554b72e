//! The one hand that writes a run's events.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use domain::{Event, EventError, Signal, Signals, Verifier};
use storage::{FrameBatch, LeaseError, RunLease, Store};
use tokio::time::Instant;

use super::{PRESSING_BYTES, RunLog};
use crate::control::RunControl;

/// Longest time an event waits before it is stored; while another process reads; how often that is looked at.
const FLUSH: Duration = Duration::from_secs(1);
const FLUSH_REMOTE: Duration = Duration::from_millis(250);

/// Checks, serialises once, shows and stores the events of one attempt. Dropped without [`RunWriter::publish`], it
/// leaves its readers to look at the run's row.
pub(crate) struct RunWriter {
    store: Store,
    signals: Arc<dyn Signals>,
    lease: RunLease,
    control: Arc<RunControl>,
    log: Arc<RunLog>,
    verifier: Verifier,
    /// When the oldest event that is not stored came.
    waiting: Option<Instant>,
    taken: i64,
}

impl RunWriter {
    pub(crate) fn new(
        store: Store,
        signals: Arc<dyn Signals>,
        lease: RunLease,
        control: Arc<RunControl>,
        log: Arc<RunLog>,
    ) -> Self {
        Self { store, signals, lease, control, log, verifier: Verifier::started(), waiting: None, taken: 0 }
    }

    /// Shows `event` to every reader. A terminal event is for [`RunWriter::seal`].
    pub(crate) fn emit(&mut self, event: Event) -> Result<(), EventError> {
        if event.is_terminal() {
            return Err(EventError::AfterEnd("a terminal event outside the run's end"));
        }
        self.push(&event, true)
    }

    /// Returns when a flush is due; waits for ever if there is nothing to store.
    pub(crate) async fn due(&self) {
        let Some(since) = self.waiting else { return std::future::pending().await };
        if self.log.pending_bytes() >= PRESSING_BYTES {
            return;
        }
        loop {
            let waited = since.elapsed();
            if waited >= FLUSH || (waited >= FLUSH_REMOTE && self.control.remote_reader()) {
                return;
            }
            // Whether somebody else reads may change meanwhile.
            let slice = u32::try_from(waited.as_millis() / FLUSH_REMOTE.as_millis()).unwrap_or(0) + 1;
            tokio::time::sleep_until(since + FLUSH_REMOTE * slice).await;
        }
    }

    /// Stores what is pending.
    pub(crate) async fn flush(&mut self) -> Result<(), LeaseError> {
        let batch = self.take();
        if batch.is_empty() {
            self.kept();
            return Ok(());
        }
        Box::pin(self.store.append_frames(&self.lease, &batch)).await?;
        self.kept();
        if self.control.remote_reader() {
            self.signals.send(Signal::Run(self.lease.run.clone()));
            Box::pin(self.store.announce()).await;
        }
        Ok(())
    }

    /// What is pending, to be stored with a step. [`RunWriter::kept`] says that it was.
    pub(crate) fn take(&mut self) -> FrameBatch {
        let batch = self.log.pending();
        self.taken = batch.last;
        if batch.body.is_empty() { FrameBatch::default() } else { batch }
    }

    /// What was taken is stored.
    pub(crate) fn kept(&mut self) {
        self.log.kept(self.taken);
        self.waiting = (self.log.pending_bytes() > 0).then(Instant::now);
    }

    /// The ends of everything open; to be emitted before a terminal event.
    pub(crate) fn closing(&self) -> Vec<Event> {
        self.verifier.closing()
    }

    /// Pending events, `last` and the terminal one; no reader sees the latter two before [`RunWriter::publish`].
    pub(crate) fn seal(&mut self, last: &[Event], terminal: &Event) -> Result<FrameBatch, EventError> {
        for event in last.iter().chain([terminal]) {
            self.push(event, false)?;
        }
        Ok(self.take())
    }

    /// The end is stored: readers get it.
    pub(crate) fn publish(mut self) {
        self.kept();
        self.log.publish();
        self.signals.send(Signal::Run(self.lease.run.clone()));
    }

    fn push(&mut self, event: &Event, shown: bool) -> Result<(), EventError> {
        self.verifier.accept(event)?;
        self.log.push(json(event), shown);
        self.waiting.get_or_insert_with(Instant::now);
        Ok(())
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        self.log.gone();
    }
}

/// An event as one line.
pub(crate) fn json(event: &Event) -> Bytes {
    // Strings, numbers and values with string keys: nothing that JSON cannot say.
    serde_json::to_vec(event).map(Bytes::from).unwrap_or_default()
}
