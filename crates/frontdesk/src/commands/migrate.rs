//! `migrate`: opening a store brings it to this version; the command does that and nothing else.

use crate::{Exit, Failure, out, program::Program};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) async fn run(program: Program, _arguments: Arguments) -> Result<Exit, Failure> {
    let store = program.store().await?;
    let version = store.version().await?;
    store.close().await;
    out::line(&format!("{} is at version {version}", program.config.store.shown()))?;
    Ok(Exit::Done)
}
