//! Writes and reads of a run, tried again while the database is away.

use futures::future::BoxFuture;
use storage::{LeaseError, StorageError};
use tokio::time::Duration;

use super::halt::Halt;
use crate::control::Stop;

/// Waits between tries of a write that the database could not take; together well within a lease.
const BACKOFF: [Duration; 4] =
    [Duration::from_millis(100), Duration::from_millis(400), Duration::from_millis(1_500), Duration::from_secs(4)];

/// Tries a write or read of the run again while the database is away. What cannot be helped by waiting ends at once.
/// Never raced against a stop: a commit that was begun is waited for.
/// The operation is boxed as `dyn`, so that nobody has to look through it to see that a run may be spawned.
pub(super) async fn persist<'a, T>(operation: impl Fn() -> BoxFuture<'a, Result<T, LeaseError>>) -> Result<T, Halt> {
    let mut waits = BACKOFF.into_iter();
    loop {
        let error = match operation().await {
            Ok(value) => return Ok(value),
            Err(LeaseError::Fenced) => return Err(Halt::Stop(Stop::Fenced)),
            Err(LeaseError::Storage(error)) => error,
        };
        let wait = matches!(error, StorageError::Unavailable(_) | StorageError::Conflict(_)).then(|| waits.next()).flatten();
        let Some(wait) = wait else {
            tracing::error!(%error, "the database did not take it");
            return Err(Halt::Down);
        };
        tracing::warn!(%error, "the database is away, trying again");
        tokio::time::sleep(wait).await;
    }
}
