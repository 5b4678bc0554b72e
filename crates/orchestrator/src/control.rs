//! What a worker pool and the turn it runs share about one run: whether to stop, who reads it, how long the lease is good.

use std::{
    sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use domain::CancelReason;
use tokio_util::sync::CancellationToken;

/// Why a turn must end early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Cancel(CancelReason),
    /// Another attempt holds the run: write and show nothing more.
    Fenced,
    /// The process goes down: hand the run back.
    Shutdown,
}

impl Stop {
    const CODES: [(u8, Self); 5] = [
        (1, Self::Cancel(CancelReason::Asked)),
        (2, Self::Cancel(CancelReason::Unattended)),
        (3, Self::Cancel(CancelReason::Replaced)),
        (4, Self::Shutdown),
        (5, Self::Fenced),
    ];

    fn code(self) -> u8 {
        Self::CODES.iter().find(|(_, stop)| *stop == self).map_or(0, |(code, _)| *code)
    }

    fn of(code: u8) -> Option<Self> {
        Self::CODES.iter().find(|(known, _)| *known == code).map(|(_, stop)| *stop)
    }
}

#[derive(Debug)]
pub(crate) struct RunControl {
    cancel: CancellationToken,
    stop: AtomicU8,
    unattended: AtomicBool,
    exempt: AtomicBool,
    remote_reader: AtomicBool,
    looking: AtomicBool,
    lease: LeaseClock,
}

impl RunControl {
    /// `asked` is the moment before the run was claimed, `lease` how long the claim is good.
    pub(crate) fn new(asked: Instant, lease: Duration) -> Self {
        Self {
            cancel: CancellationToken::new(),
            stop: AtomicU8::new(0),
            unattended: AtomicBool::new(false),
            exempt: AtomicBool::new(false),
            remote_reader: AtomicBool::new(false),
            looking: AtomicBool::new(false),
            lease: LeaseClock::new(asked, lease),
        }
    }

    /// Cancelled once there is a [`RunControl::stop`].
    pub(crate) fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    pub(crate) fn stop(&self) -> Option<Stop> {
        Stop::of(self.stop.load(Ordering::SeqCst))
    }

    /// The first reason stays, except that a fence overrides all: nothing may be written any more.
    pub(crate) fn stop_for(&self, stop: Stop) {
        if stop == Stop::Fenced {
            self.stop.store(stop.code(), Ordering::SeqCst);
        } else {
            // Losing against an earlier reason is what is meant.
            let _ = self.stop.compare_exchange(0, stop.code(), Ordering::SeqCst, Ordering::SeqCst);
        }
        self.cancel.cancel();
    }

    /// Its last reader's socket closed: start no tool above `read`.
    pub(crate) fn unattended(&self) -> bool {
        self.unattended.load(Ordering::Relaxed) && !self.exempt.load(Ordering::Relaxed)
    }

    /// It goes on from another run: nobody has to read it.
    pub(crate) fn exempt(&self) {
        self.exempt.store(true, Ordering::Relaxed);
    }

    pub(crate) fn set_unattended(&self, value: bool) {
        self.unattended.store(value, Ordering::Relaxed);
    }

    /// Another process reads it: flush frames every 250 ms.
    pub(crate) fn remote_reader(&self) -> bool {
        self.remote_reader.load(Ordering::Relaxed)
    }

    pub(crate) fn set_remote_reader(&self, value: bool) {
        self.remote_reader.store(value, Ordering::Relaxed);
    }

    /// True if nobody is about to look at the row; [`RunControl::end_look`] before the row is read.
    pub(crate) fn begin_look(&self) -> bool {
        !self.looking.swap(true, Ordering::SeqCst)
    }

    pub(crate) fn end_look(&self) {
        self.looking.store(false, Ordering::SeqCst);
    }

    pub(crate) fn lease(&self) -> &LeaseClock {
        &self.lease
    }
}

/// Until when a lease is surely ours, by this process's own monotonic clock, which goes on while the process is
/// stopped: what wakes after a long stop shows nothing before the lease was renewed.
#[derive(Debug)]
pub(crate) struct LeaseClock {
    base: Instant,
    /// Milliseconds after `base`.
    until: AtomicU64,
}

impl LeaseClock {
    fn new(asked: Instant, lease: Duration) -> Self {
        let clock = Self { base: asked, until: AtomicU64::new(0) };
        clock.renew(asked, lease);
        clock
    }

    /// `asked` is the moment before the database was asked to renew.
    pub(crate) fn renew(&self, asked: Instant, lease: Duration) {
        let until = asked.saturating_duration_since(self.base).saturating_add(lease);
        self.until.fetch_max(u64::try_from(until.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }

    pub(crate) fn is_good(&self) -> bool {
        let now = u64::try_from(self.base.elapsed().as_millis()).unwrap_or(u64::MAX);
        now < self.until.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
#[path = "control/tests.rs"]
mod tests;
