//! Numbered migrations per engine, under a lock that other processes see.

mod list;
pub(crate) mod postgres;
pub(crate) mod sqlite;

use crate::OpenError;

/// One step of the schema. `sql` may hold several statements; it runs in one transaction with its number.
pub(crate) struct Migration {
    /// Counted from 1, without gaps.
    pub(crate) version: i64,
    pub(crate) sql: &'static str,
}

const TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY)";
const VERSION: &str = "SELECT COALESCE(MAX(version), 0) FROM schema_migrations";

/// The next migration after `found`, if any.
fn next(migrations: &'static [Migration], found: i64) -> Result<Option<&'static Migration>, OpenError> {
    let known = migrations.last().map_or(0, |last| last.version);
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    Ok(migrations.iter().find(|migration| migration.version > found))
}

fn failed(migration: &Migration, error: impl std::fmt::Display) -> OpenError {
    // SQLite adds the whole migration to its message.
    let message = error.to_string();
    let message = message.split(" in \n").next().and_then(|message| message.lines().next()).unwrap_or_default();
    OpenError::Migration { version: migration.version, message: message.to_owned() }
}

#[cfg(test)]
mod tests;
