//! What a binary puts into the program: its name, tools, tables, roles.

use std::sync::Arc;

use domain::ChatModel;
use futures::future::BoxFuture;
use orchestrator::Roster;
use storage::{Migrations, StorageError, Store};

use crate::{
    App, Failure,
    app::Parts,
    config::Config,
    system::{SystemClock, Ulids},
};

type Tools = Box<dyn FnOnce(catalog::Builder) -> catalog::Builder + Send>;
type Fill = Box<dyn FnOnce(Store) -> BoxFuture<'static, Result<(), StorageError>> + Send>;

/// A program before it reads its command line. Made by [`App::builder`].
pub struct Builder {
    pub(crate) name: &'static str,
    tools: Vec<Tools>,
    pub(crate) application: Option<Migrations>,
    pub(crate) demo: Option<Fill>,
    roster: Option<Roster>,
    pub(crate) model: Option<Arc<dyn ChatModel>>,
}

impl App {
    /// A program called `frontdesk` with the built-in tools and roles.
    pub fn builder() -> Builder {
        Builder { name: "frontdesk", tools: Vec::new(), application: None, demo: None, roster: None, model: None }
    }
}

impl Builder {
    /// What help and errors call the program. The first line of `serve` stays the same.
    #[must_use]
    pub fn name(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Adds tools to the built-in ones.
    #[must_use]
    pub fn tools(mut self, add: impl FnOnce(catalog::Builder) -> catalog::Builder + Send + 'static) -> Self {
        self.tools.push(Box::new(add));
        self
    }

    /// The application's own tables. Every command that opens the store brings them up to date, and refuses a store
    /// that a newer build of the application has had.
    #[must_use]
    pub fn migrations(self, migrations: Migrations) -> Self {
        Self { application: Some(migrations), ..self }
    }

    /// What `serve` calls in demo mode before it listens, at every start, also of several processes at once: puts
    /// something into the application's tables if there is nothing for organization [`LOCAL`](crate::LOCAL).
    #[must_use]
    pub fn demo<F, R>(self, fill: F) -> Self
    where
        F: FnOnce(Store) -> R + Send + 'static,
        R: Future<Output = Result<(), StorageError>> + Send + 'static,
    {
        Self { demo: Some(Box::new(|store| Box::pin(fill(store)))), ..self }
    }

    /// Takes the place of the built-in roles; `roles.path` takes the place of these.
    #[must_use]
    pub fn roles(self, roster: Roster) -> Self {
        Self { roster: Some(roster), ..self }
    }

    /// Takes the place of the configured model. For test binaries: one that has it may run with `AI_TEST_PROVIDER`.
    #[must_use]
    pub fn model(self, model: Arc<dyn ChatModel>) -> Self {
        Self { model: Some(model), ..self }
    }

    pub(crate) fn parts(self, config: &Config) -> Result<Parts, Failure> {
        let catalog = self.tools.into_iter().fold(catalog::tools::builtin(), |catalog, add| add(catalog));
        let catalog = catalog.build().map_err(|error| Failure::failed(format!("the catalog of tools is not usable: {error}")))?;
        let roster = config.fit(&catalog, self.roster.unwrap_or_else(Roster::builtin))?;
        let model = match self.model {
            Some(model) => Some(model),
            None => crate::app::model(config)?,
        };
        Ok(Parts {
            catalog: Arc::new(catalog),
            application: self.application,
            roster: Arc::new(roster),
            model,
            ids: Arc::new(Ulids::default()),
            clock: Arc::new(SystemClock),
        })
    }
}
