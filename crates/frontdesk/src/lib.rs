//! The composition root and the command line: what a binary of this product, or of a team that builds on it, is made of.
//!
//! ```ignore
//! fn main() -> std::process::ExitCode {
//!     frontdesk::main(frontdesk::App::builder().tools(|catalog| catalog.read(MyTool::default())))
//! }
//! ```
//!
//! It wires; it decides nothing about turns. No globals: everything is made in [`app::build`] and handed down.
//! To add a setting: `config/<section>.rs`. To add a command: a file under `commands/`, a variant in `cli.rs`.

pub mod app;
pub mod config;

mod builder;
mod cli;
mod commands;
mod exit;
mod keys;
mod logging;
mod out;
mod program;
mod signals;
mod system;

pub use app::App;
pub use builder::Builder;
pub use exit::{Exit, Failure, Message};
pub use program::main;
pub use signals::Stages;
pub use system::{SystemClock, Ulids};
