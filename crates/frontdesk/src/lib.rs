//! The composition root and the command line: what a binary of this product, or of a team that builds on it, is made of.
//!
//! ```ignore
//! const MIGRATIONS: Migrations = Migrations {
//!     application: "shop",
//!     sqlite: &[include_str!("../migrations/sqlite/0001_init.sql")],
//!     postgres: &[include_str!("../migrations/postgres/0001_init.sql")],
//! };
//!
//! fn main() -> std::process::ExitCode {
//!     let app = frontdesk::App::builder().name("shop").migrations(MIGRATIONS);
//!     frontdesk::main(app.tools(|catalog| catalog.read(MyTool::default())))
//! }
//! ```
//!
//! `apps/garage` is such a binary, whole.
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
pub use server::LOCAL;
pub use signals::Stages;
pub use storage::Migrations;
pub use system::{SystemClock, Ulids};
