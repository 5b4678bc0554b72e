//! The turn's side of its writer: saying events, and storing them in time.

use domain::Event;
use storage::LeaseError;
use tokio::time::{Duration, Instant};

use super::halt::Halt;
use crate::{control::Stop, log::RunWriter};

/// After a failed flush the next one waits so long.
const HOLD: Duration = Duration::from_secs(1);

pub(super) struct Out {
    writer: RunWriter,
    hold: Option<Instant>,
}

impl Out {
    pub(super) fn new(writer: RunWriter) -> Self {
        Self { writer, hold: None }
    }

    /// Shows `event`. One that may not come now is a fault of ours: it is logged and not shown.
    pub(super) fn say(&mut self, event: Event) {
        if let Err(error) = self.writer.emit(event) {
            tracing::error!(%error, "an event was not allowed");
        }
    }

    /// Ends everything that is open.
    pub(super) fn close(&mut self) {
        for event in self.writer.closing() {
            self.say(event);
        }
    }

    /// Resolves when [`Out::flush`] should be called. Cheap to drop.
    pub(super) async fn due(&self) {
        if let Some(hold) = self.hold {
            tokio::time::sleep_until(hold).await;
        }
        self.writer.due().await;
    }

    /// Stores what is pending. A database that is away is tried again later, nothing is lost meanwhile.
    pub(super) async fn flush(&mut self) -> Result<(), Halt> {
        match self.writer.flush().await {
            Ok(()) => {
                self.hold = None;
                Ok(())
            }
            Err(LeaseError::Fenced) => Err(Halt::Stop(Stop::Fenced)),
            Err(LeaseError::Storage(error)) => {
                tracing::warn!(%error, "events could not be stored yet");
                self.hold = Some(Instant::now() + HOLD);
                Ok(())
            }
        }
    }

    pub(super) fn writer(&mut self) -> &mut RunWriter {
        &mut self.writer
    }

    pub(super) fn into_writer(self) -> RunWriter {
        self.writer
    }
}
