//! `worker`: the queue without HTTP.

use crate::{Exit, Failure, out, program::Program, signals::Stages};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Runs at once
    #[arg(long, value_name = "N")]
    concurrency: Option<String>,
}

impl Arguments {
    pub(crate) fn settings(&self) -> Vec<(&'static str, [&'static str; 2], String)> {
        self.concurrency.iter().map(|count| ("--concurrency", ["worker", "concurrency"], count.clone())).collect()
    }
}

pub(crate) async fn run(program: Program, _arguments: Arguments) -> Result<Exit, Failure> {
    let name = program.name;
    if program.config.worker.concurrency == 0 {
        return Err(Failure::usage("worker.concurrency is 0: a worker that works nothing; set it to 1 or more"));
    }
    let stages = Stages::on_signals()?;
    let (app, config) = program.app().await?;
    if !app.orchestrator.model_configured() {
        out::note(&super::serve::no_model(name));
    }
    out::note(&format!("{name}: working the queue of {}, {} runs at once", config.store.shown(), config.worker.concurrency));
    app.work(stages.clone()).await;
    Ok(if stages.cut.is_cancelled() { Exit::Interrupted } else { Exit::Done })
}
