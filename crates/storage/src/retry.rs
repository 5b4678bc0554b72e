//! Running a whole operation again when its transaction met another one.

use crate::{LeaseError, StorageError};

/// How often an operation is tried before [`StorageError::Conflict`] is the caller's.
pub(crate) const TRIES: u32 = 5;

pub(crate) trait Conflicting {
    fn is_conflict(&self) -> bool;
}

impl Conflicting for StorageError {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict(_))
    }
}

impl Conflicting for LeaseError {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Storage(StorageError::Conflict(_)))
    }
}

/// Awaits `$operation`, made anew for each try, until it is no conflict.
macro_rules! retry {
    ($operation:expr) => {{
        let mut tries = 1;
        loop {
            match $operation.await {
                Err(error) if tries < $crate::retry::TRIES && $crate::retry::Conflicting::is_conflict(&error) => tries += 1,
                done => break done,
            }
        }
    }};
}
pub(crate) use retry;
