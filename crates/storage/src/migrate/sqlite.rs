//! SQLite: each step takes the write lock before it reads the version.

use rusqlite::{Connection, TransactionBehavior};

use super::{Migrations, Schema, list};
use crate::OpenError;

/// Refuses a file that holds somebody else's tables, in words. Nothing is written.
pub(crate) fn is_ours(connection: &Connection) -> Result<(), String> {
    let sql = "SELECT COUNT(*), COUNT(*) FILTER (WHERE name = 'schema_migrations') FROM sqlite_master WHERE type = 'table'";
    let counted: rusqlite::Result<(i64, i64)> = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
    match counted {
        Ok((tables, 0)) if tables > 0 => Err("it is another program's database; name another file".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Blocks, at most for the connection's busy timeout a step.
pub(crate) fn run(connection: &mut Connection, application: Option<Migrations>) -> Result<(), OpenError> {
    let application = application.map(|application| application.schema(application.sqlite)).transpose()?;
    run_schema(connection, &Schema::product(list::SQLITE))?;
    application.map_or(Ok(()), |application| run_schema(connection, &application))
}

pub(super) fn run_schema(connection: &mut Connection, schema: &Schema) -> Result<(), OpenError> {
    let open = |error: rusqlite::Error| OpenError::Open(error.to_string());
    let version = schema.owner.version();
    // The usual start finds nothing to do and asks no other process for the lock.
    let found = connection.query_row(&version, [], |row| row.get(0));
    if let Ok(found) = found
        && schema.next(found)?.is_none()
    {
        return Ok(());
    }
    loop {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(open)?;
        transaction.execute_batch(schema.owner.table()).map_err(open)?;
        let found = transaction.query_row(&version, [], |row| row.get(0)).map_err(open)?;
        let Some(step) = schema.next(found)? else {
            // The table of versions stays, also without any step.
            return transaction.commit().map_err(open);
        };
        let before = names(&transaction).map_err(open)?;
        transaction.execute_batch(step.sql).map_err(|error| schema.failed(step, error))?;
        let after = names(&transaction).map_err(open)?;
        schema.owner.check_names(&before, &after).map_err(|why| schema.failed(step, why))?;
        transaction
            .execute_batch(&schema.owner.record(step.version))
            .and_then(|()| transaction.commit())
            .map_err(|error| schema.failed(step, error))?;
    }
}

/// Tables, indexes, views and triggers, but those SQLite makes itself.
fn names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}
