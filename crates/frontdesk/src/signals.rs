//! Stopping in two stages, and the signals of the operating system that ask for it.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::Failure;

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

    /// SIGTERM or SIGINT stops, a second one cuts. The task ends with the runtime.
    pub(crate) fn on_signals() -> Result<Self, Failure> {
        let listen = |kind| signal(kind).map_err(|error| Failure::failed(format!("cannot listen for signals: {error}")));
        let (mut terminate, mut interrupt) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
        let stages = Self::default();
        let (stop, cut) = (stages.stop.clone(), stages.cut.clone());
        tokio::spawn(async move {
            for stage in [stop, cut] {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                stage.cancel();
            }
        });
        Ok(stages)
    }
}
