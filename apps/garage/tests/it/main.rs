//! The garage's tools on both engines, its tables, and its binary.
//!
//! The binary's tests need `cargo build -p testkit --bins` first; PostgreSQL is the server `FRONTDESK_TEST_POSTGRES` names.
#![allow(clippy::unwrap_used)]

/// Each function is a test on SQLite and one on PostgreSQL.
macro_rules! on_both_engines {
    ($($name:ident)*) => {$(
        mod $name {
            use crate::support::Place;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                super::$name(Place::sqlite()).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                if let Some(place) = Place::postgres() {
                    super::$name(place).await;
                }
            }
        }
    )*};
}

mod support;

mod binary;
mod cars;
mod demo;
mod migrations;
mod organization;
mod sql;
mod todos;
