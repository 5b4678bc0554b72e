//! Chat models behind [`domain::ChatModel`].
//!
//! One wire so far: OpenAI-compatible chat completions, our own from the bytes up, because what comes back is untrusted
//! and every part of it is bounded. This crate decides nothing about roles, tools or which model is asked next; it sends
//! one request (a second one before the first byte, see `chat`) and reports what came as typed events and errors.
//! No provider's body, no key and no person's text is ever in an error or a log line.
//!
//! To add a provider that speaks the wire: one row in [`PROVIDERS`]. To add a wire: a module beside `chat` and a branch
//! in [`build`].

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod chat;
mod config;
mod provider;
pub mod sse;

pub use config::{Config, ConfigError, DEFAULT_IDLE_TIMEOUT, build};
pub use provider::{PROVIDERS, Provider, Wire, provider};
