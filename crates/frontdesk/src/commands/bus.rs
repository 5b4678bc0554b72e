//! `bus`: the queue as its operator sees it.

use serde_json::json;

use crate::{Exit, Failure, out, program::Program};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List runs nobody will try again, newest first, with the reason
    Dead {
        /// One JSON document
        #[arg(long)]
        json: bool,
        /// At most so many
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
}

pub(crate) async fn run(program: Program, arguments: Arguments) -> Result<Exit, Failure> {
    let Command::Dead { json, limit } = arguments.command;
    let store = program.store().await?;
    let dead = store.dead_runs(limit).await?;
    store.close().await;
    if json {
        let item = |run: &storage::DeadRun| {
            let (code, reason) = run.error.clone().unwrap_or_default();
            json!({
                "id": run.reference.id, "threadId": run.reference.thread_id, "organization": run.org, "user": run.user,
                "channel": run.channel, "attempt": run.attempt, "failures": run.failures, "code": code, "reason": reason,
                "createdAt": out::time(run.created_at), "endedAt": run.ended_at.map(out::time),
            })
        };
        out::json(&json!({"items": dead.iter().map(item).collect::<Vec<_>>()}))?;
        return Ok(Exit::Done);
    }
    if dead.is_empty() {
        out::note("there are no dead letters");
    }
    for run in dead {
        let reason = run.error.map(|(code, reason)| format!("{code}: {reason}")).unwrap_or_default();
        let ended = run.ended_at.map(out::time).unwrap_or_default();
        let line = format!(
            "{ended}  run {}  thread {}  {} of {}  {}  attempt {}  {reason}",
            run.reference.id, run.reference.thread_id, run.user, run.org, run.channel, run.attempt
        );
        out::line(&out::shown(&line))?;
    }
    Ok(Exit::Done)
}
