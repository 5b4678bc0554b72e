//! Numbered migrations per engine, under a lock that other processes see: the product's first, then the application's.

mod application;
mod list;
pub(crate) mod postgres;
pub(crate) mod sqlite;

use crate::OpenError;

pub use application::Migrations;

/// One step of a schema. `sql` may hold several statements; it runs in one transaction with its number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    /// Counted from 1, without gaps.
    pub(crate) version: i64,
    pub(crate) sql: &'static str,
}

/// Whose tables a step makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Product,
    /// A name [`Migrations::check`] has passed, so that it may stand in a statement.
    Application(&'static str),
}

/// The steps of one owner, on one engine.
pub(crate) struct Schema {
    owner: Owner,
    steps: Vec<Migration>,
}

impl Schema {
    fn product(steps: &[Migration]) -> Self {
        Self { owner: Owner::Product, steps: steps.to_vec() }
    }

    /// The step after `found`, if any.
    fn next(&self, found: i64) -> Result<Option<&Migration>, OpenError> {
        let known = self.steps.last().map_or(0, |last| last.version);
        if found > known {
            return Err(match self.owner {
                Owner::Product => OpenError::Newer { found, known },
                Owner::Application(application) => OpenError::ApplicationNewer { application, found, known },
            });
        }
        Ok(self.steps.iter().find(|step| step.version > found))
    }

    fn failed(&self, step: &Migration, error: impl std::fmt::Display) -> OpenError {
        // SQLite adds the whole migration to its message.
        let message = error.to_string();
        let message = message.split(" in \n").next().and_then(|message| message.lines().next()).unwrap_or_default();
        let (version, message) = (step.version, message.to_owned());
        match self.owner {
            Owner::Product => OpenError::Migration { version, message },
            Owner::Application(application) => OpenError::ApplicationMigration { application, version, message },
        }
    }
}

impl Owner {
    /// Makes the table its versions are kept in.
    fn table(self) -> &'static str {
        match self {
            Self::Product => "CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY)",
            Self::Application(_) => {
                "CREATE TABLE IF NOT EXISTS app_migrations
                 (application TEXT NOT NULL, version BIGINT NOT NULL, PRIMARY KEY (application, version))"
            }
        }
    }

    /// Reads the number of the last step that ran.
    fn version(self) -> String {
        match self {
            Self::Product => "SELECT COALESCE(MAX(version), 0) FROM schema_migrations".to_owned(),
            Self::Application(name) => {
                format!("SELECT COALESCE(MAX(version), 0) FROM app_migrations WHERE application = '{name}'")
            }
        }
    }

    /// Notes that a step ran.
    fn record(self, version: i64) -> String {
        match self {
            Self::Product => format!("INSERT INTO schema_migrations (version) VALUES ({version})"),
            Self::Application(name) => {
                format!("INSERT INTO app_migrations (application, version) VALUES ('{name}', {version})")
            }
        }
    }

    /// An application makes and drops only what begins with its name: what the product calls its own, today or in a
    /// later version, is never in its way. `before` and `after` are the names there are around a step.
    fn check_names(self, before: &[String], after: &[String]) -> Result<(), String> {
        let Self::Application(application) = self else { return Ok(()) };
        let prefix = format!("{application}_");
        let foreign = |name: &&String| !name.starts_with(&prefix);
        let made = after.iter().filter(foreign).find(|name| !before.contains(name));
        let dropped = before.iter().filter(foreign).find(|name| !after.contains(name));
        match (made, dropped) {
            (Some(name), _) => Err(format!("\"{name}\" must begin with \"{prefix}\", as all its tables and indexes must")),
            (None, Some(name)) => Err(format!("\"{name}\" is not the application's: only what begins with \"{prefix}\" is")),
            (None, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
