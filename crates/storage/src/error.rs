//! What can go wrong on the floor, by what a caller can do about it.

/// A statement or transaction failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// The database cannot be reached or did not answer in time: try again.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// A deadlock or serialization conflict: run the whole transaction again.
    #[error("the transaction met another one: {0}")]
    Conflict(String),
    /// A unique, foreign-key or check constraint refused a row.
    #[error("a constraint refused the row: {0}")]
    Constraint(String),
    /// A stored value is not what this build expects.
    #[error("a stored value cannot be read: {0}")]
    Corrupt(String),
    #[error("the database refused the statement: {0}")]
    Statement(String),
}

impl StorageError {
    /// The text without what [`std::fmt::Display`] puts before it.
    pub(crate) fn into_message(self) -> String {
        match self {
            Self::Unavailable(text)
            | Self::Conflict(text)
            | Self::Constraint(text)
            | Self::Corrupt(text)
            | Self::Statement(text) => text,
        }
    }
}

/// A run-scoped write failed.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Another attempt holds the run, or it has ended: stop, write nothing more.
    #[error("the run belongs to another attempt")]
    Fenced,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("store.url \"{0}\" is neither sqlite:PATH nor postgres://…")]
    Url(String),
    #[error("failed to open the database: {0}")]
    Open(String),
    #[error("failed to migrate the database to version {version}: {message}")]
    Migration { version: i64, message: String },
    /// The database was written by a newer build.
    #[error("the database has version {found}, this build knows {known}; use the newer build")]
    Newer { found: i64, known: i64 },
    #[error("failed to migrate the tables of {application} to version {version}: {message}")]
    ApplicationMigration { application: &'static str, version: i64, message: String },
    /// The application's tables were made by a newer build of it.
    #[error("the tables of {application} have version {found}, this build knows {known}; use the newer build")]
    ApplicationNewer { application: &'static str, found: i64, known: i64 },
    /// The application's list of migrations is none.
    #[error("the application's migrations cannot be used: {0}")]
    Migrations(String),
}
