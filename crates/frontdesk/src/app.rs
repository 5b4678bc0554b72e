//! The composition: settings and parts in, a running product out. Binaries and tests call the same functions.

use std::{net::SocketAddr, sync::Arc};

use catalog::Catalog;
use domain::{ChannelName, ChatModel, Clock, Ids};
use egress::{Client, Reach};
use models::ConfigError;
use orchestrator::{ChannelDefinition, Channels, Enlisted, InProcess, Orchestrator, Roster, WorkScope};
use server::AuthError;
use storage::{Migrations, OpenError, Store, StoreOptions};
use tokio::net::TcpListener;

use crate::{Failure, config::Config, keys, signals::Stages};

/// What configuration does not decide.
pub struct Parts {
    pub catalog: Arc<Catalog>,
    /// Tables beside the product's.
    pub application: Option<Migrations>,
    pub roster: Arc<Roster>,
    /// `None`: messages are refused with `model-unconfigured`.
    pub model: Option<Arc<dyn ChatModel>>,
    pub ids: Arc<dyn Ids>,
    pub clock: Arc<dyn Clock>,
}

/// The product with its database open, doing nothing yet.
pub struct App {
    pub(crate) orchestrator: Orchestrator,
    pub(crate) ids: Arc<dyn Ids>,
    clock: Arc<dyn Clock>,
    server: server::Settings,
    listen: SocketAddr,
    concurrency: u32,
}

/// Channels this build brings; runs of others are dead-lettered.
pub(crate) const CHANNELS: [&str; 2] = ["web", "cli"];

/// Opens and migrates the store and puts everything together. Starts no task.
pub async fn build(config: &Config, parts: Parts) -> Result<App, Failure> {
    let Parts { catalog, application, roster, model, ids, clock } = parts;
    let store = open_store(config, application).await?;
    let settings = orchestrator::Settings {
        limits: config.limits.clone(),
        when_busy: config.threads.when_busy,
        on_disconnect: config.threads.on_disconnect,
        retention: config.streams.retention,
        grace: config.worker.grace,
        ..turns(config)
    };
    let orchestrator = Orchestrator::new(orchestrator::Parts {
        store,
        model,
        catalog,
        roster,
        signals: Arc::new(InProcess::new()),
        ids: ids.clone(),
        clock: clock.clone(),
        settings,
    });
    let server = server::Settings {
        body_bytes: config.limits.body_bytes,
        allowed_hosts: config.server.allowed_hosts.clone(),
        allowed_origins: config.server.allowed_origins.clone(),
        public_url: config.server.public_url.clone(),
        grace: config.worker.grace,
        auth: config.auth.settings.clone(),
        client_tools: config.channels.web.client_tools,
    };
    Ok(App { orchestrator, ids, clock, server, listen: config.server.listen, concurrency: config.worker.concurrency })
}

/// What configuration says of tools and channels, which needs no database.
pub(crate) fn turns(config: &Config) -> orchestrator::Settings {
    let known = CHANNELS.iter().filter_map(|name| Some((ChannelName::parse(name).ok()?, Arc::<ChannelDefinition>::default())));
    orchestrator::Settings {
        channels: Channels::Only(known.collect()),
        categories: config.categories.data.clone(),
        commands: config.commands.manifest(config.channels.web.untagged()),
        ..orchestrator::Settings::default()
    }
}

/// Opens the database, creating and migrating it if need be.
pub async fn open_store(config: &Config, application: Option<Migrations>) -> Result<Store, Failure> {
    let (url, durability) = (config.store.url.clone(), config.store.durability);
    let options = StoreOptions { url, durability, connections: 0, application };
    Store::open(options).await.map_err(|error| match error {
        OpenError::Url(_) => Failure::usage("store.url must be sqlite:PATH or postgres://USER@HOST/DATABASE"),
        other => Failure::failed(format!("{other} (store.url is {})", config.store.shown())),
    })
}

/// The configured model. A named provider without its key is no model: the start said so.
pub fn model(config: &Config) -> Result<Option<Arc<dyn ChatModel>>, Failure> {
    // An operator's own address may be on loopback or in a private network.
    match models::build(config.model.settings.clone(), Client::new(Reach::Anywhere)) {
        Ok(model) => Ok(model),
        Err(ConfigError::MissingKey { .. }) => Ok(None),
        Err(error) => Err(Failure::usage(error.to_string())),
    }
}

impl App {
    /// Listens, serves and works the queue until told to stop. `listening` is called once the socket accepts.
    pub async fn serve(self, stages: Stages, listening: impl FnOnce(SocketAddr) -> Result<(), Failure>) -> Result<(), Failure> {
        let listener = TcpListener::bind(self.listen)
            .await
            .map_err(|error| Failure::failed(format!("cannot listen on {}: {error}; choose another --listen", self.listen)))?;
        let address = listener.local_addr().map_err(|error| Failure::failed(format!("cannot listen: {error}")))?;
        let parts = server::ServerParts {
            orchestrator: self.orchestrator.clone(),
            ids: self.ids.clone(),
            clock: self.clock.clone(),
            fetch_keys: keys::fetch(),
            settings: self.server.clone(),
        };
        let app = server::App::open(parts).await.map_err(refused)?;
        // Before the first line: who reads it may send a message at once.
        let workers = self.enlist().await;
        listening(address)?;
        let shutdown = server::Shutdown { stop: stages.stop.clone(), cut: stages.cut.clone() };
        let serving = Box::pin(server::serve(listener, app, shutdown));
        stages.until_cut(async { tokio::join!(serving, work(workers, &stages)) }).await;
        self.close(&stages).await;
        Ok(())
    }

    /// Works the queue until told to stop.
    pub async fn work(self, stages: Stages) {
        let workers = self.enlist().await;
        stages.until_cut(work(workers, &stages)).await;
        self.close(&stages).await;
    }

    /// `None`: this process has no workers.
    async fn enlist(&self) -> Option<Enlisted> {
        if self.concurrency == 0 {
            return None;
        }
        Box::pin(self.orchestrator.enlist(WorkScope::All { concurrency: self.concurrency })).await
    }

    pub(crate) fn store(&self) -> &Store {
        self.orchestrator.store()
    }

    pub(crate) async fn close(&self, stages: &Stages) {
        stages
            .until_cut(async {
                Box::pin(self.orchestrator.shutdown()).await;
                self.store().close().await;
            })
            .await;
    }
}

/// What a person can put right in the configuration ends with another code than what broke.
fn refused(error: AuthError) -> Failure {
    match error {
        AuthError::ShortSecret { .. } | AuthError::Keys { .. } | AuthError::CannotSign => Failure::usage(error.to_string()),
        AuthError::Random | AuthError::Storage(_) => Failure::failed(error.to_string()),
    }
}

async fn work(workers: Option<Enlisted>, stages: &Stages) {
    if let Some(workers) = workers {
        workers.work(stages.stop.clone()).await;
    }
}
