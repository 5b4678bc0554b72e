//! What is known of a model's health, shared by all who ask it.
//!
//! An open breaker never forbids: it puts the model behind the others, so that with one model alone nothing is refused
//! that might have worked. When its time is over one caller tries, the others keep away a little longer.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::ModelError;
use tokio::time::Instant;

/// Failures in a row that open it.
const FAILURES: u32 = 3;
/// How long it stays open.
const OPEN: Duration = Duration::from_secs(30);
/// The longest that a provider's own word keeps it open.
const MOST: Duration = Duration::from_secs(300);
/// How long the others wait for the one who tries.
const PROBE: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    open_until: Option<Instant>,
}

impl Breaker {
    /// Whether the model takes its place in the order. It does for one caller when its time is over.
    pub(crate) fn admits(&self, now: Instant) -> bool {
        let mut state = self.state();
        match state.open_until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                state.open_until = Some(now + PROBE);
                true
            }
        }
    }

    pub(crate) fn succeeded(&self) {
        *self.state() = State::default();
    }

    pub(crate) fn failed(&self, error: &ModelError, now: Instant) {
        let mut state = self.state();
        state.failures = state.failures.saturating_add(1);
        let told = match error {
            ModelError::RateLimited { retry_after } | ModelError::Overloaded { retry_after } => *retry_after,
            _ => None,
        };
        let open = match told {
            Some(wait) => Some(wait.min(MOST)),
            None if state.failures >= FAILURES => Some(OPEN),
            None => None,
        };
        if let Some(open) = open {
            state.open_until = Some(now + open);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_three_and_lets_one_try() {
        let (breaker, start) = (Breaker::default(), Instant::now());
        for _ in 0..FAILURES {
            assert!(breaker.admits(start));
            breaker.failed(&ModelError::Idle, start);
        }
        assert!(!breaker.admits(start));
        let later = start + OPEN;
        assert!(breaker.admits(later) && !breaker.admits(later), "one tries");
        assert!(breaker.admits(later + PROBE), "whoever tried never said what came of it");
        breaker.failed(&ModelError::Idle, later);
        assert!(!breaker.admits(later + OPEN / 2), "one failure more opens it again");
        breaker.succeeded();
        assert!(breaker.admits(later) && breaker.admits(later));
    }

    #[test]
    fn a_provider_that_names_its_wait_is_believed() {
        let (breaker, start) = (Breaker::default(), Instant::now());
        breaker.failed(&ModelError::RateLimited { retry_after: Some(Duration::from_secs(7)) }, start);
        assert!(!breaker.admits(start + Duration::from_secs(6)));
        assert!(breaker.admits(start + Duration::from_secs(7)));
        breaker.failed(&ModelError::Overloaded { retry_after: Some(MOST * 9) }, start);
        assert!(breaker.admits(start + MOST));
    }
}
