//! The real clock and the real source of ids.

use std::{
    sync::{Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use domain::{Clock, Ids};
use ulid::Ulid;

/// The system's wall clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }
}

/// ULIDs in order within this process, also when the clock steps back.
#[derive(Debug, Default)]
pub struct Ulids(Mutex<Ulid>);

impl Ids for Ulids {
    fn ulid(&self) -> String {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = Ulid::new();
        *last = if fresh > *last { fresh } else { last.increment().unwrap_or(fresh) };
        last.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_in_order() {
        let ids = Ulids::default();
        let made: Vec<String> = (0..1_000).map(|_| ids.ulid()).collect();
        assert!(made.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(made.iter().all(|id| id.len() == 26));
    }
}
