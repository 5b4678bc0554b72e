//! Chat models behind [`domain::ChatModel`].
//!
//! Four wires, our own from the bytes up, because what comes back is untrusted and every part of it is bounded: `chat`
//! (OpenAI-compatible), `responses`, `anthropic`, `gemini`. A wire is pure: it builds a request and reads frames
//! (`wire`). What they share is in one place each: `sse` and `decoding` (bounded frames to events), `reading` (timers, the one end),
//! `answer` and `calls` (bounded text and tool calls), `seal` (reasoning that goes back), `failure` and `retry` (errors by
//! what a caller can do), `endpoint` (one request), `failover` (which model, and when again).
//! This crate decides nothing about roles, tools or what is left out of a conversation. No provider's body, no key and
//! no person's text is ever in an error or a log line.
//!
//! To add a provider that speaks one of the wires: one row in [`PROVIDERS`]. To add a wire: a folder beside `chat` and a
//! branch in [`Api`]; then its column in the suite of broken streams (`tests/it`).

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod config;
mod provider;

mod breaker;
mod failover;

mod anthropic;
mod chat;
mod gemini;
mod responses;
mod wire;

mod history;
mod thinking;

mod answer;
mod calls;
mod seal;
mod shape;

mod decoding;
mod endpoint;
mod failure;
mod reading;
mod retry;
pub mod sse;

#[cfg(test)]
mod example;
// The suite's own way of speaking each wire, shared with `tests/it`.
#[cfg(test)]
extern crate self as models;
#[cfg(test)]
#[path = "../tests/it/speech.rs"]
mod speech;

pub use config::{Config, ConfigError, DEFAULT_IDLE_TIMEOUT, Fallback, MAX_FALLBACKS, build};
pub use decoding::read;

pub use provider::{Api, PROVIDERS, Provider, provider};
