//! Notices that another process committed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::writer::Writer;
use crate::changes::Changes;

const PERIOD: Duration = Duration::from_millis(200);

/// Asks on the writer's own connection: only there our own commits do not count.
pub(super) async fn run(writer: Arc<Mutex<Writer>>, changes: Arc<Changes>, stop: CancellationToken) {
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut known = None;
    loop {
        let version = tokio::select! {
            () = stop.cancelled() => return,
            version = async {
                ticks.tick().await;
                writer.lock().await.data_version()
            } => version,
        };
        match version {
            Ok(version) if known.replace(version).is_some_and(|known| known != version) => changes.mark(),
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "failed to ask for changes"),
        }
    }
}
