//! Log lines on standard error: `FRONTDESK_LOG`, else `RUST_LOG`, else our own at `info` and the rest at `warn`;
//! commands that answer say only errors.
//! No line holds a person's or a model's text, a key or a token.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;

use crate::config::Environment;

/// What a command says unless told otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// Long-running processes.
    Info,
    /// Commands whose output is their answer.
    Error,
}

/// Starts logging once; a second call, as tests in one process make, changes nothing.
pub(crate) fn start(environment: &Environment, level: Level) {
    let directives = ["FRONTDESK_LOG", "RUST_LOG"]
        .iter()
        .find_map(|name| environment.get(name).filter(|value| !value.trim().is_empty()))
        .unwrap_or(match level {
            Level::Info => "warn,frontdesk=info,server=info,orchestrator=info,storage=info,catalog=info,models=info,egress=info",
            Level::Error => "error",
        });
    let filter = EnvFilter::builder().parse_lossy(directives);
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr).with_ansi(stderr().is_terminal()).try_init();
}
