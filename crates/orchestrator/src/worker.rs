//! Working the queue: claim, run, keep the leases, stop in two stages.

mod heartbeat;
mod pool;
mod run;

use std::{sync::Arc, time::Duration};

use domain::ThreadKey;
use tokio_util::sync::CancellationToken;

use crate::{hub::lock, orchestrator::Inner, sweeper};

use pool::Pool;

/// How long a claim is good, and a worker's row.
pub(crate) const LEASE: Duration = Duration::from_secs(15);

/// Most runs taken with one claim.
const CLAIM: u32 = 32;

/// How often the queue is looked at without a hint, and how long a database that is away is left alone.
const POLL: Duration = Duration::from_secs(1);

/// How long runs have to hand themselves back once the grace is over.
const HAND_BACK: Duration = Duration::from_secs(5);

/// Which runs a pool of workers takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkScope {
    /// Any, at most so many at once. The pool has a row in `workers`.
    All { concurrency: u32 },
    /// One at a time, of one thread only; nobody else counts on this pool.
    Thread(ThreadKey),
}

/// A pool of workers others count on already: its row is written. It takes no run before [`Enlisted::work`].
pub struct Enlisted {
    inner: Arc<Inner>,
    pool: Arc<Pool>,
}

/// `None` if there is no id to be had for it.
pub(crate) async fn enlist(inner: Arc<Inner>, scope: WorkScope) -> Option<Enlisted> {
    let pool = Pool::new(inner.clone(), scope)?;
    pool.beat(true).await;
    Some(Enlisted { inner, pool })
}

impl Enlisted {
    /// Works until `stop`; then takes no more, lets runs go on for `settings.grace`, and has the rest handed back.
    pub async fn work(self, stop: CancellationToken) {
        Box::pin(work(self, stop)).await;
    }
}

async fn work(Enlisted { inner, pool }: Enlisted, stop: CancellationToken) {
    {
        let mut stops = lock(&inner.stops);
        stops.retain(|stop| !stop.is_cancelled());
        stops.push(stop.clone());
    }
    let over = CancellationToken::new();
    // A caller that drops this call ends its tasks too.
    let _guard = over.clone().drop_guard();
    let heartbeat = inner.tasks.spawn(heartbeat::keep(pool.clone(), over.clone()));
    let sweeper = inner.tasks.spawn(sweeper::sweep(inner.clone(), over.clone()));
    claim(&pool, &stop).await;
    pool.leave().await;
    pool.drain(inner.parts.settings.grace).await;
    over.cancel();
    for task in [heartbeat, sweeper] {
        if let Err(error) = task.await {
            tracing::error!(%error, "a worker's task failed");
        }
    }
}

async fn claim(pool: &Arc<Pool>, stop: &CancellationToken) {
    loop {
        let permit = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            permit = pool.slot() => permit,
        };
        let Some(permit) = permit else { return };
        // Listening before looking: a hint that comes meanwhile makes it look again.
        let ready = pool.inner.ready.notified();
        tokio::pin!(ready);
        ready.as_mut().enable();
        if pool.claim(permit).await == pool::Claims::Full {
            continue;
        }
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = ready => {}
            () = tokio::time::sleep(POLL) => {}
        }
    }
}
