//! From a command line to an exit code.

use std::{ffi::OsString, process::ExitCode, time::Duration};

use clap::{CommandFactory, FromArgMatches};
use storage::Store;
use tokio::runtime;

use crate::{
    App, Builder, Exit, Failure, app,
    cli::Cli,
    config::{Config, Environment},
    logging::{self, Level},
    out,
};

/// Threads for blocking work: files, name lookups, commits.
const BLOCKING_THREADS: usize = 32;

/// What every command is given.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) environment: Environment,
    pub(crate) config: Config,
    pub(crate) builder: Builder,
}

impl Program {
    pub(crate) async fn store(&self) -> Result<Store, Failure> {
        app::open_store(&self.config, self.builder.application).await
    }

    /// The whole product, and its configuration.
    pub(crate) async fn app(self) -> Result<(App, Config), Failure> {
        let parts = self.builder.parts(&self.config)?;
        let app = app::build(&self.config, parts).await?;
        Ok((app, self.config))
    }
}

/// Reads the command line of the process, does what it says and gives the exit code.
pub fn main(builder: Builder) -> ExitCode {
    let name = builder.name;
    match start(builder, std::env::args_os().collect(), Environment::of_process()) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            out::failure(name, &failure);
            failure.exit.into()
        }
    }
}

fn start(builder: Builder, arguments: Vec<OsString>, environment: Environment) -> Result<Exit, Failure> {
    let name = builder.name;
    let command = Cli::command().name(name).bin_name(name);
    let parsed = command.try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output and are no failure.
            let _ = error.print();
            return Ok(if error.use_stderr() { Exit::Usage } else { Exit::Done });
        }
    };
    refuse_test_provider(&builder, &environment)?;
    let config = cli.config(&environment)?;
    logging::start(&environment, cli.level());
    if cli.level() == Level::Info {
        config.warnings.iter().for_each(|warning| out::note(&warning.to_string()));
    }
    let runtime = runtime()?;
    let program = Program { name, environment, config, builder };
    let result = runtime.block_on(Box::pin(cli.command.run(program)));
    // A read of standard input may never end.
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

/// The scripted model answers only in test binaries: a product that is told to use it must not answer with another.
fn refuse_test_provider(builder: &Builder, environment: &Environment) -> Result<(), Failure> {
    let asked = environment.get("AI_TEST_PROVIDER").is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
    if asked && builder.model.is_none() {
        return Err(Failure::usage(
            "AI_TEST_PROVIDER=true asks for the scripted test model, which this program does not contain; unset it",
        ));
    }
    Ok(())
}

fn runtime() -> Result<runtime::Runtime, Failure> {
    let threads = std::thread::available_parallelism().map_or(2, |threads| threads.get().clamp(2, 16));
    runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start: {error}")))
}
