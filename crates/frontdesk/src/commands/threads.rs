//! `threads`: a person's conversations, with what each run cost.

mod show;

use domain::ThreadId;
use serde_json::json;

use super::Person;
use crate::{Exit, Failure, out, program::Program};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List threads, the last used first
    List {
        #[command(flatten)]
        person: Person,
        /// One JSON document
        #[arg(long)]
        json: bool,
        /// At most so many
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000))]
        limit: u32,
    },
    /// Show messages, runs and model calls of one thread
    Show {
        #[arg(value_parser = thread_id)]
        thread: ThreadId,
        #[command(flatten)]
        person: Person,
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn thread_id(text: &str) -> Result<ThreadId, domain::IdError> {
    ThreadId::parse(text)
}

pub(crate) async fn run(program: Program, arguments: Arguments) -> Result<Exit, Failure> {
    let store = program.store().await?;
    match arguments.command {
        Command::List { person, json, limit } => {
            let threads = store.threads(&person.principal()?, limit, None).await?;
            if json {
                let items: Vec<_> = threads.iter().map(show::summary).collect();
                out::json(&json!({"items": items}))?;
            } else {
                for thread in threads {
                    let title = thread.title.map(|title| format!("  {title}")).unwrap_or_default();
                    let line = format!(
                        "{}  {}  {}  {} messages{title}",
                        thread.id,
                        out::time(thread.updated_at),
                        thread.channel,
                        thread.messages
                    );
                    out::line(&out::shown(&line))?;
                }
            }
        }
        Command::Show { thread, person, json } => {
            let Some(view) = store.thread_view(&person.principal()?, &thread).await? else {
                store.close().await;
                return Err(Failure::failed(format!(
                    "{} of {} has no thread {thread}; `threads list` shows those there are",
                    person.user, person.org
                )));
            };
            if json {
                out::json(&show::document(&view))?;
            } else {
                out::line(&out::shown(&show::page(&view)))?;
            }
        }
    }
    store.close().await;
    Ok(Exit::Done)
}
