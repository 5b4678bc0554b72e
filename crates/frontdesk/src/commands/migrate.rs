//! `migrate`: opening a store brings it to this version; the command does that and nothing else.

use crate::{Exit, Failure, out, program::Program};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) async fn run(program: Program, _arguments: Arguments) -> Result<Exit, Failure> {
    let store = program.store().await?;
    let mut versions = store.version().await?.to_string();
    if let Some(application) = &program.builder.application {
        let version = store.application_version(application).await?;
        versions.push_str(&format!(", its tables of {} at {version}", application.application));
    }
    store.close().await;
    out::line(&format!("{} is at version {versions}", program.config.store.shown()))?;
    Ok(Exit::Done)
}
