//! What ends a run early from outside: a stop, or its deadline.

use tokio::time::{Duration, Instant};

use crate::control::{RunControl, Stop};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    Stop(Stop),
    Deadline,
    /// The database is away and the lease will run out: somebody claims the run again.
    Down,
}

/// Looks out for both.
#[derive(Clone, Copy)]
pub(super) struct Watch<'a> {
    pub(super) control: &'a RunControl,
    /// Counted from the claim.
    pub(super) deadline: Instant,
}

impl Watch<'_> {
    /// Resolves once the run must end.
    pub(super) async fn halt(&self) -> Halt {
        tokio::select! {
            biased;
            () = self.control.cancel().cancelled() => Halt::Stop(self.control.stop().unwrap_or(Stop::Shutdown)),
            () = tokio::time::sleep_until(self.deadline) => Halt::Deadline,
        }
    }

    /// Whether it must end now.
    pub(super) fn now(&self) -> Option<Halt> {
        self.control.stop().map(Halt::Stop).or_else(|| self.left().is_zero().then_some(Halt::Deadline))
    }

    pub(super) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}
