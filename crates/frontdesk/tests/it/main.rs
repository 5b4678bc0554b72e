//! The binary from outside: exit codes, output, starting and stopping. Conversations are tested in `testkit`.
#![allow(clippy::unwrap_used)]

mod accounts;
mod desk;
mod keys;
mod peers;
mod refusals;
mod serving;
