//! The contract of [`storage::Store`]: every operation, on SQLite and on PostgreSQL.
//!
//! `FRONTDESK_TEST_POSTGRES` names a PostgreSQL database; each test makes a schema of its own in it. Without it that
//! half is skipped with a printed line.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

mod accept;
mod accounts;
mod cancel;
mod fence;
mod frames;
mod interrupts;
mod load;
mod queue;
mod steps;
mod supersede;
mod sweep;
mod threads;
mod transcript;
