//! An application's own tables, beside the product's.

use super::{Migration, Owner, Schema};
use crate::OpenError;

/// Longest name: with it a table's name stays within the 63 bytes PostgreSQL keeps.
const MAX_NAME: usize = 24;

/// The tables of an application that is built on the product: they live in the product's database, are versioned apart
/// from the product's, and are brought up to date with them, by every command that opens the store.
///
/// Steps are counted from 1 by their place in the list. One that was released is never edited; a new one goes to the
/// end of both lists. Each runs in one transaction with its number. What it makes, tables and indexes, begins with
/// `<application>_`; it leaves the product's tables alone: they change without notice, and what a program needs of
/// them is an operation of [`Store`](crate::Store). Column types are TEXT, BIGINT, BOOLEAN and BLOB or BYTEA, so that
/// one statement reads them on both engines ([`Tx`](crate::Tx)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrations {
    /// Whose tables they are, whatever the program is called: `[a-z][a-z0-9]{0,23}`. It is stored with the versions,
    /// so that it never changes.
    pub application: &'static str,
    pub sqlite: &'static [&'static str],
    /// As many as there are for SQLite.
    pub postgres: &'static [&'static str],
}

impl Migrations {
    pub(super) fn schema(&self, steps: &'static [&'static str]) -> Result<Schema, OpenError> {
        self.check().map_err(OpenError::Migrations)?;
        let steps = (1..).zip(steps).map(|(version, sql)| Migration { version, sql }).collect();
        Ok(Schema { owner: Owner::Application(self.application), steps })
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let name = self.application;
        let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if !plain || !name.starts_with(|first: char| first.is_ascii_lowercase()) || name.len() > MAX_NAME {
            return Err(format!("the application's name \"{name}\" does not fit [a-z][a-z0-9]{{0,{}}}", MAX_NAME - 1));
        }
        if self.sqlite.len() != self.postgres.len() {
            let (sqlite, postgres) = (self.sqlite.len(), self.postgres.len());
            return Err(format!("there are {sqlite} steps for SQLite and {postgres} for PostgreSQL"));
        }
        Ok(())
    }
}
