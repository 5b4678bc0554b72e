//! SQLite: each step takes the write lock before it reads the version.

use rusqlite::{Connection, TransactionBehavior};

use super::{Migration, TABLE, VERSION, failed, list, next};
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
pub(crate) fn run(connection: &mut Connection) -> Result<(), OpenError> {
    run_list(connection, list::SQLITE)
}

pub(super) fn run_list(connection: &mut Connection, migrations: &'static [Migration]) -> Result<(), OpenError> {
    let open = |error: rusqlite::Error| OpenError::Open(error.to_string());
    // The usual start finds nothing to do and asks no other process for the lock.
    let found = connection.query_row(VERSION, [], |row| row.get(0));
    if let Ok(found) = found
        && next(migrations, found)?.is_none()
    {
        return Ok(());
    }
    loop {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(open)?;
        transaction.execute_batch(TABLE).map_err(open)?;
        let found = transaction.query_row(VERSION, [], |row| row.get(0)).map_err(open)?;
        let Some(migration) = next(migrations, found)? else {
            return Ok(());
        };
        transaction
            .execute_batch(migration.sql)
            .and_then(|()| transaction.execute("INSERT INTO schema_migrations (version) VALUES (?1)", [migration.version]))
            .and_then(|_| transaction.commit())
            .map_err(|error| failed(migration, error))?;
    }
}
