//! Every second: finds what nobody was told of, and tells.

use std::{sync::Arc, time::Duration};

use domain::Signal;
use storage::SweepPolicy;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::{OnDisconnect, Settings, orchestrator::Inner, turn::Note};

const PERIOD: Duration = Duration::from_secs(1);

/// Leases that ran out before a run is a dead letter.
const FAILURES: i64 = 3;

/// Sweeps until `stop`.
pub(crate) async fn sweep(inner: Arc<Inner>, stop: CancellationToken) {
    let policy = policy(&inner.parts.settings);
    let mut tick = tokio::time::interval(PERIOD);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            _ = tick.tick() => {}
        }
        once(&inner, &policy).await;
    }
}

fn policy(settings: &Settings) -> SweepPolicy {
    let linger = match settings.on_disconnect {
        OnDisconnect::Linger(linger) => Some(linger),
        OnDisconnect::Detach => None,
        OnDisconnect::Abort => Some(Duration::ZERO),
    };
    SweepPolicy { linger, failures: FAILURES, retention: settings.retention, lost_note: Note::Lost.text() }
}

async fn once(inner: &Arc<Inner>, policy: &SweepPolicy) {
    let swept = match Box::pin(inner.parts.store.sweep(policy)).await {
        Ok(swept) => swept,
        Err(error) => {
            tracing::warn!(%error, "failed to sweep");
            return;
        }
    };
    for run in &swept.abandoned {
        tracing::error!(%run, "a run's lease ran out for the last time; it is a dead letter");
    }
    let mut changed = false;
    for run in swept.requeued.into_iter().chain(swept.abandoned).chain(swept.cancelled) {
        inner.parts.signals.send(Signal::Run(run));
        changed = true;
    }
    if changed {
        inner.tell(Signal::Ready);
    }
}
