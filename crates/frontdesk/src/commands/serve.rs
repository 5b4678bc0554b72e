//! `serve`: HTTP and the queue's workers in one process.

use std::net::SocketAddr;

use server::AuthMode;

use crate::{Exit, Failure, config::Config, out, program::Program, signals::Stages};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Where to listen, such as 127.0.0.1:8080; port 0 picks one
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Runs at once in this process; 0 leaves the queue to `worker` processes
    #[arg(long, value_name = "N")]
    concurrency: Option<String>,
}

impl Arguments {
    pub(crate) fn settings(&self) -> Vec<(&'static str, [&'static str; 2], String)> {
        let listen = self.listen.iter().map(|listen| ("--listen", ["server", "listen"], listen.clone()));
        let concurrency = self.concurrency.iter().map(|count| ("--concurrency", ["worker", "concurrency"], count.clone()));
        listen.chain(concurrency).collect()
    }
}

pub(crate) async fn run(mut program: Program, _arguments: Arguments) -> Result<Exit, Failure> {
    program.config.check_listening()?;
    let name = program.name;
    let fill = program.builder.demo.take();
    let stages = Stages::on_signals()?;
    let (app, config) = program.app().await?;
    if let Some(fill) = fill.filter(|_| config.auth.is_demo()) {
        fill(app.store().clone()).await?;
    }
    let answers = app.orchestrator.model_configured();
    app.serve(stages.clone(), |address| {
        out::line(&format!("frontdesk listening on http://{address}"))?;
        greet(name, address, &config, answers);
        Ok(())
    })
    .await?;
    Ok(if stages.cut.is_cancelled() { Exit::Interrupted } else { Exit::Done })
}

/// On standard error: how to talk to it, and what is missing.
fn greet(name: &str, address: SocketAddr, config: &Config, answers: bool) {
    out::note(&format!("{name}: store {}, {} runs at once", config.store.shown(), config.worker.concurrency));
    // As it was started: the program need not be where the shell looks.
    let program = std::env::args().next().unwrap_or_else(|| name.to_owned());
    let token = match &config.auth.settings.mode {
        AuthMode::Demo => format!("$({program} token --sub {0} --org {0})", server::LOCAL),
        AuthMode::Secret(_) => format!("$({program} token --sub SUB --org ORG)"),
        AuthMode::Jwks(_) => "TOKEN".to_owned(),
    };
    out::note(&format!("{name}: talk to it with any AG-UI client at http://{address}/v1/agui, or from a terminal:"));
    out::note(&format!("  FRONTDESK_TOKEN={token} {program} run --server http://{address} \"Hello\""));
    if config.worker.concurrency == 0 {
        out::note(&format!("{name}: this process works nothing; start `{name} worker` beside it"));
    }
    if !answers {
        out::note(&no_model(name));
    }
}

/// How to name a model.
pub(super) fn no_model(name: &str) -> String {
    format!(
        "{name}: no model is configured, so messages are refused with model-unconfigured; start with \
         AI_PROVIDER=openai OPENAI_API_KEY=…, or set model.base_url to an OpenAI-compatible server"
    )
}
