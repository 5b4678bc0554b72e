//! `make bench`: every figure beside its target. Machines differ and are noisy: compare ratios and counts, and run twice.
//!
//! Needs the release binary `target/release/frontdesk`; PostgreSQL figures when `FRONTDESK_TEST_POSTGRES` names a server.
#![allow(clippy::print_stdout, reason = "it prints a table")]
#![allow(clippy::unwrap_used, reason = "a bench stops at the first surprise")]

mod http;
mod process;
mod provider;
mod queue;
mod turns;
mod waiting;
mod wires;

use std::path::PathBuf;

/// One line of the table.
struct Figure {
    name: String,
    value: String,
    target: &'static str,
}

fn figure(name: impl Into<String>, value: impl Into<String>, target: &'static str) -> Figure {
    Figure { name: name.into(), value: value.into(), target }
}

fn binary() -> PathBuf {
    let path = std::env::var("FRONTDESK_BINARY").unwrap_or_else(|_| "target/release/frontdesk".to_owned());
    std::path::absolute(path).unwrap()
}

#[tokio::main]
async fn main() {
    let binary = binary();
    assert!(binary.exists(), "{} is missing: run make bench, which builds it", binary.display());
    let postgres = std::env::var("FRONTDESK_TEST_POSTGRES").ok();
    let mut figures = Vec::new();

    let megabytes = binary.metadata().unwrap().len() as f64 / 1e6;
    figures.push(figure("binary size", format!("{megabytes:.1} MB"), "<= 30 MB"));
    // `bench process`, `queue`, `turns`, `waiting` and `wires` measure that part alone.
    let part = std::env::args().nth(1);
    let wanted = |name: &str| part.as_deref().is_none_or(|part| part == name);
    if wanted("process") {
        figures.extend(process::start_and_idle(&binary).await);
    }
    if wanted("queue") {
        figures.extend(queue::claim_and_ack().await);
    }
    if wanted("turns") {
        figures.extend(turns::measure(&binary, "SQLite, durability full", None, "full").await);
        figures.extend(turns::measure(&binary, "SQLite, durability normal", None, "normal").await);
        if let Some(url) = postgres {
            figures.extend(turns::measure(&binary, "PostgreSQL", Some(&url), "full").await);
        }
    }
    if wanted("waiting") {
        figures.extend(waiting::measure(&binary).await);
    }
    if wanted("wires") {
        figures.extend(wires::measure());
    }

    let width = figures.iter().map(|figure| figure.name.chars().count()).max().unwrap_or(0);
    println!("{:<width$}  {:>22}  target", "figure", "measured");
    for Figure { name, value, target } in figures {
        println!("{name:<width$}  {value:>22}  {target}");
    }
}
