//! What PostgreSQL's codes mean to a caller.

use crate::StorageError;

impl From<sqlx::Error> for StorageError {
    fn from(error: sqlx::Error) -> Self {
        let message = error.to_string();
        match &error {
            sqlx::Error::Database(database) => of_code(database.code().as_deref().unwrap_or(""), database.message()),
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::ColumnIndexOutOfBounds { .. } => {
                Self::Corrupt(message)
            }
            sqlx::Error::PoolTimedOut => Self::Unavailable("no connection was free in time".to_owned()),
            sqlx::Error::PoolClosed => Self::Unavailable("the store is closed".to_owned()),
            sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => {
                Self::Unavailable(message)
            }
            _ => Self::Statement(message),
        }
    }
}

/// By SQLSTATE. The server's message names constraints and columns; values stand in its detail, which is left out.
fn of_code(code: &str, message: &str) -> StorageError {
    let message = message.to_owned();
    match code {
        "40001" | "40P01" => StorageError::Conflict(message),
        // Cut off by a timeout, a lock not given in time, a server that has become read-only.
        "57014" | "55P03" | "25006" | "25P03" => StorageError::Unavailable(message),
        // Too few or too many parameters.
        "08P01" => StorageError::Statement(message),
        _ => match code.get(..2) {
            Some("23") => StorageError::Constraint(message),
            // Connections, resources, an operator's intervention, the system.
            Some("08" | "53" | "57" | "58") => StorageError::Unavailable(message),
            Some("XX") => StorageError::Corrupt(message),
            _ => StorageError::Statement(message),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_say_what_to_do() {
        let of = |code| of_code(code, "m");
        let m = || "m".to_owned();
        assert_eq!(of("40001"), StorageError::Conflict(m()));
        assert_eq!(of("40P01"), StorageError::Conflict(m()));
        assert_eq!(of("23505"), StorageError::Constraint(m()));
        assert_eq!(of("57P01"), StorageError::Unavailable(m()));
        assert_eq!(of("55P03"), StorageError::Unavailable(m()));
        assert_eq!(of("42601"), StorageError::Statement(m()));
        assert_eq!(of(""), StorageError::Statement(m()));
    }
}
