//! End-to-end tests on the real binary, with a scripted provider in its own process, on both engines.
//!
//! They need `cargo build -p frontdesk -p testkit --bins` first; PostgreSQL is the server `FRONTDESK_TEST_POSTGRES` names.
#![allow(clippy::unwrap_used)]

/// Each function is a test on SQLite and one on PostgreSQL.
macro_rules! on_both_engines {
    ($($name:ident)*) => {$(
        mod $name {
            use testkit::{Engine, World};

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                super::$name(World::new(Engine::Sqlite).expect("SQLite is always there")).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                if let Some(world) = World::new(Engine::Postgres) {
                    super::$name(world).await;
                }
            }
        }
    )*};
}

mod architecture;
mod catalog;
mod cli;
mod client_tools;
mod context;
mod copilotkit;
mod durable;
mod faults;
mod limits;
mod policy;
mod provider;
mod refusals;
mod streams;
mod threads;
mod tools;
mod turns;
