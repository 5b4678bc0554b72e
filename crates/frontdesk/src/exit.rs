//! How a command ends.

use std::process::ExitCode;

use domain::Code;

/// The exit codes scripts may rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    /// The run or command failed.
    Failed,
    /// Usage or configuration.
    Usage,
    /// Refused: authentication, gate, limit, busy, no worker.
    Refused,
    /// Ended waiting for a person.
    Waiting,
    Interrupted,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Waiting => 4,
            Self::Interrupted => 130,
        }
    }

    /// What a refusal before anything was stored ends a command with, by its HTTP status.
    pub fn of_status(status: u16) -> Self {
        match status {
            400 | 404 | 405 | 415 | 422 => Self::Usage,
            401 | 403 | 409 | 413 | 429 | 503 => Self::Refused,
            _ => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// What standard error is told, and the code to end with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub exit: Exit,
    pub message: Message,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Lower-case, without a full stop; it says what to do next. Written after the program's name.
    Sentence(String),
    /// Findings of a configuration, one a line, each with its place: written as they are.
    Findings(String),
}

impl Failure {
    pub fn failed(message: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, message: Message::Sentence(message.into()) }
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: Message::Sentence(message.into()) }
    }

    /// A refusal with its code.
    pub fn refused(code: Code, detail: &str) -> Self {
        Self { exit: Exit::of_status(code.status()), message: Message::Sentence(format!("{code}: {detail}")) }
    }
}

impl From<crate::config::Invalid> for Failure {
    fn from(invalid: crate::config::Invalid) -> Self {
        Self { exit: Exit::Usage, message: Message::Findings(invalid.to_string()) }
    }
}

impl From<storage::StorageError> for Failure {
    fn from(error: storage::StorageError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::failed(format!("cannot write the output: {error}"))
    }
}
