//! A store, a provider and the settings for the binary between them.

use tempfile::TempDir;

use crate::{postgres::Postgres, process::Setup, provider::Provider, token};

/// Everything a test of the real binary needs; dropped whole.
pub struct World {
    pub provider: Provider,
    /// Signs with the tests' key, memberships by claims, workers in the server.
    pub setup: Setup,
    postgres: Option<Postgres>,
    _folder: TempDir,
}

/// Which engine a test runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

impl World {
    /// `None`: there is no PostgreSQL to run on.
    ///
    /// # Panics
    /// If the parts do not come up.
    pub fn new(engine: Engine) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let postgres = match engine {
            Engine::Sqlite => None,
            Engine::Postgres => Some(Postgres::fresh()?),
        };
        let url = match &postgres {
            Some(postgres) => postgres.url.clone(),
            None => format!("sqlite:{}", folder.path().join("frontdesk.db").display()),
        };
        let provider = Provider::start();
        let setup = Setup::new(folder.path(), &url)
            .with("auth.jwt_secret", token::SECRET)
            .with("auth.memberships", "claims")
            .with("limits.turns_per_minute", "1000")
            .with("model.base_url", &provider.url())
            .with("model.name", "scripted");
        Some(Self { provider, setup, postgres, _folder: folder })
    }

    pub fn engine(&self) -> Engine {
        if self.postgres.is_some() { Engine::Postgres } else { Engine::Sqlite }
    }
}
