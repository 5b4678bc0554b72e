//! Waiting for something another process does, bounded.

use std::{future::Future, time::Duration};

/// Longest a test waits for anything; generous, since it is only ever reached by a fault.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Asks again until `check` answers.
///
/// # Panics
/// After [`PATIENCE`], naming `what` was waited for.
pub async fn until<T>(what: &str, mut check: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(found) = check().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    bounded(what, asking).await
}

/// # Panics
/// After [`PATIENCE`], naming `what` was waited for.
pub async fn bounded<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("waited {} s for {what}", PATIENCE.as_secs()),
    }
}
