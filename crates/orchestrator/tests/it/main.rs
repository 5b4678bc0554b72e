//! Intake, workers and readers together, on a real database and a model that says what the test tells it to.
#![allow(clippy::unwrap_used, unreachable_pub)]

mod adversary;
mod attendance;
mod intake;
mod readers;
mod support;
mod takeover;
mod workers;
