//! `run`: one question, one answer.

mod ask;
mod local;
mod remote;
mod wire;

use std::time::Duration;

use domain::ThreadId;
use url::Url;

use super::{Person, threads::thread_id};
use crate::{Exit, Failure, program::Program};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What to ask; `-` reads standard input
    prompt: String,
    /// Print the run's events instead of the answer, one AG-UI event a line
    #[arg(long)]
    json: bool,
    /// Go on in this thread; a new one each start otherwise
    #[arg(long, value_name = "ID", value_parser = thread_id)]
    thread: Option<ThreadId>,
    /// Ask a running server with the token in FRONTDESK_TOKEN, instead of working on the store directly
    #[arg(long, value_name = "URL", value_parser = server_url, conflicts_with_all = ["user", "org"])]
    server: Option<Url>,
    #[command(flatten)]
    person: Person,
    /// Seconds to wait for the end; the run itself goes on after them
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    wait: u64,
}

pub(crate) async fn run(program: Program, arguments: Arguments) -> Result<Exit, Failure> {
    let Arguments { prompt, json, thread, server, person, wait } = arguments;
    let ask = ask::Ask::new(
        ask::prompt(prompt, program.config.limits.input_bytes).await?,
        thread,
        if json { ask::Show::Events } else { ask::Show::Answer },
        Duration::from_secs(wait),
    )?;
    match server {
        Some(url) => Box::pin(remote::run(&program, url, ask)).await,
        None => Box::pin(local::run(program, person, ask)).await,
    }
}

fn server_url(text: &str) -> Result<Url, &'static str> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        _ => Err("write an http or https URL, such as http://127.0.0.1:8080"),
    }
}
