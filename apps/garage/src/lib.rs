//! The sample application: somebody's cars and what there is to do about them, with an assistant in front.
//!
//! It is built as a team builds its own: a binary on `frontdesk`, its own tables beside the product's, one file a tool.
//!
//! * Tenancy by construction: each table is one module, and each of its functions takes the [`Principal`] it asks for.
//!   A tool has no SQL of its own.
//! * It touches only its own tables, which begin with `garage_`.
//!
//! To add a tool: one file in `tools/`, its line in [`tools::add`], its case in `tests/it`.
//! To add a table: the next number in both folders of `migrations/`, its line in [`MIGRATIONS`], a module here.
//!
//! [`Principal`]: domain::Principal

mod cars;
mod money;
mod organizations;
mod page;
mod todos;

pub mod demo;
pub mod tools;

use frontdesk::{App, Builder, Migrations};

/// The garage's tables.
pub const MIGRATIONS: Migrations = Migrations {
    application: "garage",
    sqlite: &[include_str!("../migrations/sqlite/0001_init.sql")],
    postgres: &[include_str!("../migrations/postgres/0001_init.sql")],
};

/// The program before it reads its command line.
pub fn app() -> Builder {
    App::builder().name("garage").migrations(MIGRATIONS).tools(tools::add).demo(demo::fill)
}
