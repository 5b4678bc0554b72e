//! AG-UI, REST and health over HTTP: bytes in, one orchestrator call, bytes out.
//!
//! [`serve()`] owns the accept loop and every connection's task; [`App`] is what they serve. It decides nothing about
//! turns and builds no client. The caller binds the listener and says when to stop.
//! To add an endpoint: one file with its doc, request, response and handler, one line in `app.rs`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod app;
mod auth;
mod body;
mod cors;
mod dialect;
mod host;
mod offset;
mod page;
mod problem;
mod serve;
mod sse;
mod wire;

mod agui;
mod auth_demo;
mod cancel;
mod copilotkit;
mod health;
mod root;
mod run;
mod threads;
mod tools;

pub use app::{App, ServerParts, Settings};
pub use auth::{
    AuthError, AuthMode, AuthSettings, FetchKeys, KeySource, LOCAL, MAX_KEY_SET_BYTES, Memberships, Signer, Token, ensure_local,
};
pub use serve::{MAX_CONNECTIONS, Shutdown, serve};
