//! Hints between the tasks of one process, and the bridge from the database's own.

use std::sync::Arc;

use domain::{Signal, Signals};
use futures::{StreamExt, stream::BoxStream};
use storage::Store;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::{hub::Post, orchestrator::Inner};

/// Signals a listener may be behind before it is told [`Signal::Any`] instead.
const BACKLOG: usize = 1_024;

/// [`Signals`] for a process that works alone, or next to others on one database.
#[derive(Debug, Clone)]
pub struct InProcess {
    sender: broadcast::Sender<Signal>,
}

impl InProcess {
    pub fn new() -> Self {
        Self { sender: broadcast::Sender::new(BACKLOG) }
    }
}

impl Default for InProcess {
    fn default() -> Self {
        Self::new()
    }
}

impl Signals for InProcess {
    fn send(&self, signal: Signal) {
        // Nobody listens: nobody needs it.
        let _ = self.sender.send(signal);
    }

    fn listen(&self) -> BoxStream<'static, Signal> {
        // The stream holds a sender too, so that it never ends.
        let held = (self.sender.subscribe(), self.sender.clone());
        futures::stream::unfold(held, |(mut receiver, sender)| async move {
            let signal = match receiver.recv().await {
                Ok(signal) => signal,
                Err(broadcast::error::RecvError::Lagged(_)) => Signal::Any,
                Err(broadcast::error::RecvError::Closed) => return None,
            };
            Some((signal, (receiver, sender)))
        })
        .boxed()
    }
}

/// Turns what other processes did to the database into [`Signal::Any`], until `stop`.
pub(crate) async fn bridge(store: Store, signals: Arc<dyn Signals>, stop: CancellationToken) {
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = store.changed() => signals.send(Signal::Any),
        }
    }
}

/// Wakes whoever a signal is for: the worker pools, and the readers of a run.
pub(crate) async fn hear(inner: Arc<Inner>) {
    let stop = inner.stop.clone();
    let mut signals = inner.parts.signals.listen();
    loop {
        let signal = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            signal = signals.next() => signal,
        };
        match signal {
            None => return,
            Some(Signal::Ready) => inner.ready.notify_waiters(),
            Some(Signal::Run(run)) => {
                if let Some(post) = inner.hub.post(&run) {
                    look(&inner, &post);
                }
            }
            Some(Signal::Any) => {
                inner.ready.notify_waiters();
                inner.beat.notify_one();
                for post in inner.hub.posts() {
                    if post.local().is_none() {
                        post.changed();
                    }
                }
            }
        }
    }
}

/// A run of ours: its worker looks at the row. Another's: its readers do.
fn look(inner: &Arc<Inner>, post: &Post) {
    match post.local() {
        Some(local) if local.log.is_open() => inner.look_at(&local),
        _ => post.changed(),
    }
}

#[cfg(test)]
#[path = "signals/tests.rs"]
mod tests;
