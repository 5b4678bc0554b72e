//! What SQLite's codes mean to a caller.

use rusqlite::ErrorCode;

use crate::StorageError;

/// Another process holds the lock.
pub(super) fn is_busy(error: &StorageError) -> bool {
    matches!(error, StorageError::Unavailable(message) if message == BUSY)
}

const BUSY: &str = "another process holds the database's lock";

impl From<rusqlite::Error> for StorageError {
    fn from(error: rusqlite::Error) -> Self {
        let message = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Unavailable(BUSY.to_owned()),
            Some(ErrorCode::ConstraintViolation) => Self::Constraint(message),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt(message),
            Some(
                ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::OutOfMemory
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::OperationInterrupted,
            ) => Self::Unavailable(message),
            _ => Self::Statement(message),
        }
    }
}
