//! The server as its clients see it: router or socket in front, a real store behind, a scripted model at the end.

#![allow(clippy::unwrap_used)]

mod access;
mod client_tools;
mod connections;
mod copilotkit;
mod cors;
mod reads;
mod threads;
mod turns;
mod world;
