//! The command line's grammar. One variant and one file under `commands/` for each command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::{
    Exit, Failure,
    commands::{bus, migrate, org, run, serve, threads, token, tools, user, worker},
    config::{Config, Environment, Flags},
    logging::Level,
    program::Program,
};

/// An assistant server for your application.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, arg_required_else_help = true, after_help = AFTER)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER: &str = "Settings come from frontdesk.toml, FRONTDESK__SECTION__KEY variables and flags; later wins.
Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 refused, 4 waiting for a person, 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Configuration file [default: FRONTDESK_CONFIG, ./frontdesk.toml or ~/.frontdesk/config.toml]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve clients over HTTP, and work the queue
    Serve(serve::Arguments),
    /// Work the queue without serving HTTP
    Worker(worker::Arguments),
    /// Ask once and print the answer
    Run(run::Arguments),
    /// Print a token for a person of an organization
    Token(token::Arguments),
    /// Add, list or remove organizations
    Org(org::Arguments),
    /// Add, list or remove the people of an organization
    User(user::Arguments),
    /// List a person's threads, or show one with its runs and model calls
    Threads(threads::Arguments),
    /// List tools: what a role may be offered, why not, and what a call does
    Tools(tools::Arguments),
    /// Look into the queue
    Bus(bus::Arguments),
    /// Create the database, or bring it to this version
    Migrate(migrate::Arguments),
}

impl Command {
    fn level(&self) -> Level {
        match self {
            Self::Serve(_) | Self::Worker(_) => Level::Info,
            _ => Level::Error,
        }
    }

    /// Settings given by flags.
    fn settings(&self) -> Vec<(&'static str, [&'static str; 2], String)> {
        match self {
            Self::Serve(arguments) => arguments.settings(),
            Self::Worker(arguments) => arguments.settings(),
            _ => Vec::new(),
        }
    }

    pub(crate) async fn run(self, program: Program) -> Result<Exit, Failure> {
        match self {
            Self::Serve(arguments) => Box::pin(serve::run(program, arguments)).await,
            Self::Worker(arguments) => Box::pin(worker::run(program, arguments)).await,
            Self::Run(arguments) => Box::pin(run::run(program, arguments)).await,
            Self::Token(arguments) => Box::pin(token::run(program, arguments)).await,
            Self::Org(arguments) => Box::pin(org::run(program, arguments)).await,
            Self::User(arguments) => Box::pin(user::run(program, arguments)).await,
            Self::Threads(arguments) => Box::pin(threads::run(program, arguments)).await,
            Self::Tools(arguments) => Box::pin(tools::run(program, arguments)).await,
            Self::Bus(arguments) => Box::pin(bus::run(program, arguments)).await,
            Self::Migrate(arguments) => Box::pin(migrate::run(program, arguments)).await,
        }
    }
}

impl Cli {
    pub(crate) fn level(&self) -> Level {
        self.command.level()
    }

    /// The configuration this command line asks for.
    pub(crate) fn config(&self, environment: &Environment) -> Result<Config, Failure> {
        let flags = Flags { config: self.common.config.clone(), settings: self.command.settings() };
        Ok(Config::load(environment, &flags)?)
    }
}
