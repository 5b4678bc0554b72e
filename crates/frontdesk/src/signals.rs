//! Stopping in two stages, and the signals of the operating system that ask for it.

use std::time::Duration;

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

use crate::Failure;

/// A shell or a supervisor that signals both the process and its group means one request.
const SAME: Duration = Duration::from_millis(100);

/// `stop`: take nothing new, let what runs come to its end. `cut`: leave at once.
#[derive(Debug, Clone, Default)]
pub struct Stages {
    pub stop: CancellationToken,
    pub cut: CancellationToken,
}

impl Stages {
    /// Runs `work` to its end, or until `cut`, which drops it.
    pub(crate) async fn until_cut(&self, work: impl Future) {
        tokio::select! {
            _ = work => {}
            () = self.cut.cancelled() => {}
        }
    }

    /// SIGTERM or SIGINT stops, a later one cuts. The task ends with the runtime.
    pub(crate) fn on_signals() -> Result<Self, Failure> {
        let listen = |kind| signal(kind).map_err(|error| Failure::failed(format!("cannot listen for signals: {error}")));
        let (mut terminate, mut interrupt) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
        let stages = Self::default();
        let (stop, cut) = (stages.stop.clone(), stages.cut.clone());
        tokio::spawn(async move {
            either(&mut terminate, &mut interrupt).await;
            stop.cancel();
            let same = Instant::now() + SAME;
            while timeout_at(same, either(&mut terminate, &mut interrupt)).await.is_ok() {}
            either(&mut terminate, &mut interrupt).await;
            cut.cancel();
        });
        Ok(stages)
    }
}

async fn either(terminate: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
