//! Configuration: defaults, then the model variables, the file, the environment and the flags; later wins.
//!
//! To add a setting: one accessor call in its section's file under `config/`, which makes it known, typed and bounded.
//! To add a section: one file with a struct and `read`, one line in [`Config::load`].

mod auth;
mod categories;
mod channels;
mod commands;
mod environment;
mod file;
mod fit;
mod folder;
mod later;
mod limits;
mod model;
mod problem;
mod reader;
mod roles;
mod server;
mod store;
mod streams;
mod threads;
mod value;
mod worker;
mod yaml;

#[cfg(test)]
mod tests;

use std::{fmt, path::PathBuf};

pub use auth::Auth;
pub use categories::Categories;
pub use channels::{Channels, Web};
pub use commands::Commands;
pub use domain::Secret;
pub use environment::Environment;
pub use model::Model;
pub use problem::{Place, Problem, Problems};
pub use roles::Roles;
pub use server::Server;
pub use store::Store;
pub use streams::Streams;
pub use threads::Threads;
pub use worker::Worker;

use folder::Folder;
use problem::nearest;
use reader::Reader;
use value::{Node, Table, Value};

/// Everything a process is told at its start.
#[derive(Debug)]
pub struct Config {
    pub server: Server,
    pub store: Store,
    pub worker: Worker,
    pub model: Model,
    pub auth: Auth,
    pub threads: Threads,
    pub streams: Streams,
    pub channels: Channels,
    pub categories: Categories,
    pub commands: Commands,
    pub roles: Roles,
    pub limits: domain::Limits,
    /// Settings that are known but have no effect yet; to be said on standard error.
    pub warnings: Vec<Problem>,
}

/// What flags say: the path of `--config`, and settings with the flag that gave them.
#[derive(Debug, Default)]
pub struct Flags {
    pub config: Option<PathBuf>,
    pub settings: Vec<(&'static str, [&'static str; 2], String)>,
}

/// All that is wrong, one finding a line.
#[derive(Debug)]
pub struct Invalid(pub Vec<Problem>);

impl std::error::Error for Invalid {}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Problem::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl Config {
    pub fn load(environment: &Environment, flags: &Flags) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        let mut table = environment.model_layer();
        let path = file::locate(environment, flags.config.as_deref(), &mut problems);
        if let Some(path) = &path {
            table.merge(file::layer(environment, path, &mut problems));
        }
        table.merge(environment.layer(&mut problems));
        let mut given = Table::default();
        for (flag, path, value) in &flags.settings {
            given.insert(path, &Place::Flag(flag), Value::Raw(value.clone()));
        }
        table.merge(given);

        let mut sections = Sections { table, path, known: Vec::new(), environment, problems: &mut problems };
        let server = sections.read("server", Server::read);
        let store = sections.read("store", Store::read);
        let worker = sections.read("worker", Worker::read);
        let model = sections.read("model", Model::read);
        let auth = sections.read("auth", Auth::read);
        let threads = sections.read("threads", Threads::read);
        let streams = sections.read("streams", Streams::read);
        let limits = sections.read("limits", limits::read);
        let channels = Channels::read(&mut sections);
        let categories = Categories::read(&mut sections);
        let commands = Commands::read(&mut sections, &categories);
        let roles = Roles::read(&mut sections, &categories);
        later::read(&mut sections);
        sections.finish();

        if let Some(untagged) = channels.web.untagged.as_ref().filter(|_| commands.declared.is_some()) {
            let message =
                "channels.web.untagged has no effect where commands are declared: an undeclared tool is a person's to run";
            problems.warn(&untagged.at, "no-effect", message);
        }
        problems.sort();
        if !problems.errors.is_empty() {
            return Err(Invalid(problems.errors));
        }
        let warnings = problems.warnings;
        Ok(Self { server, store, worker, model, auth, threads, streams, channels, categories, commands, roles, limits, warnings })
    }

    /// What only a process that listens must keep to: demo mode signs tokens for everybody who asks.
    pub fn check_listening(&self) -> Result<(), Invalid> {
        if self.auth.is_demo() && !self.server.listen.ip().is_loopback() {
            let message = format!(
                "auth.mode is demo, in which everybody may get a token, and {} is not a loopback address; \
                 set auth.jwt_secret or auth.jwks, or listen on 127.0.0.1",
                self.server.listen
            );
            return Err(Invalid(vec![Problem {
                at: self.server.listen_at.clone(),
                code: "demo-exposed",
                message,
                nearest: None,
            }]));
        }
        Ok(())
    }
}

/// The sections still to be read, and the names of those that were.
struct Sections<'a> {
    table: Table,
    /// The configuration file, as the user named it.
    path: Option<PathBuf>,
    known: Vec<&'static str>,
    environment: &'a Environment,
    problems: &'a mut Problems,
}

impl Sections<'_> {
    fn read<T>(&mut self, name: &'static str, read: impl FnOnce(&mut Reader<'_>) -> T) -> T {
        let table = self.take(name).map_or_else(Table::default, |node| self.table(name, node));
        let mut reader = Reader::new(name, table, self.environment, self.problems);
        let value = read(&mut reader);
        reader.finish();
        value
    }

    /// The tables of a section that holds nothing else, by their names.
    fn named(&mut self, name: &'static str) -> Vec<(String, Node)> {
        let Some(node) = self.take(name) else { return Vec::new() };
        self.table(name, node).0.into_iter().collect()
    }

    fn table(&mut self, name: &str, node: Node) -> Table {
        match node.value {
            Value::Table(table) => table,
            other => {
                let message = format!("{name} must be a table of settings, not {}", other.kind());
                self.problems.error(&node.at, "wrong-type", message);
                Table::default()
            }
        }
    }

    /// A folder of this name beside the configuration file, if there are both.
    fn beside_file(&self, name: &str) -> Option<Folder> {
        let shown = self.path.as_ref()?.parent()?.join(name);
        let full = self.environment.directory.join(&shown);
        full.is_dir().then_some(Folder { full, shown, at: Place::Configuration })
    }

    fn take(&mut self, name: &'static str) -> Option<Node> {
        self.known.push(name);
        self.table.0.remove(name)
    }

    fn finish(self) {
        for (name, node) in self.table.0 {
            let near = nearest(&name, self.known.iter().copied()).map(|near| match &node.key {
                Place::Variable(variable) => variable.replacen(&name.to_uppercase(), &near.to_uppercase(), 1),
                _ => near.to_owned(),
            });
            self.problems.error_near(&node.key, "unknown-key", format!("there is no section {name}"), near);
        }
    }
}
