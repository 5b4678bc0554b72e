//! Opening connections.

use std::fs::OpenOptions;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::PATIENCE;
use crate::{Durability, Migrations, OpenError, migrate};

/// Creates and migrates the file if need be; the writer's connection and the checkpointer's. Blocks.
pub(super) fn prepare(
    path: &Path,
    durability: Durability,
    application: Option<Migrations>,
) -> Result<(Connection, Connection), OpenError> {
    let failed = |error: &dyn std::fmt::Display| OpenError::Open(format!("{}: {error}", path.display()));
    if path.exists() && !path.is_file() {
        return Err(failed(&"it is no regular file; name another one"));
    }
    create(path).map_err(|error| failed(&error))?;
    let synchronous = match durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    // Another process that closes the database, or repairs its log, holds it for a moment.
    let open_one = || {
        let connection = open(path, PATIENCE)?;
        connection.pragma_update(None, "synchronous", synchronous)?;
        Ok(connection)
    };
    let mut writer: Connection = open_one().map_err(|error: rusqlite::Error| failed(&error))?;
    // A commit touches a leaf of some twenty trees: under load they stay in memory.
    writer.pragma_update(None, "cache_size", -16 * 1024).map_err(|error| failed(&error))?;
    migrate::sqlite::is_ours(&writer).map_err(|why| failed(&why))?;
    log_ahead(&writer).map_err(|error| failed(&error))?;
    migrate::sqlite::run(&mut writer, application)?;
    let checkpointer = open_one().map_err(|error| failed(&error))?;
    for connection in [&writer, &checkpointer] {
        connection.busy_timeout(Duration::ZERO).map_err(|error| failed(&error))?;
    }
    Ok((writer, checkpointer))
}

/// A connection with our settings. It blocks for `patience` when the database is locked; on an async thread that is zero.
pub(super) fn open(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(patience)?;
    connection.set_prepared_statement_cache_capacity(256);
    // A plan never depends on bound values: otherwise SQLite compares them with the partial indexes and prepares
    // statements again whenever they change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // KiB, negative: 2 MiB a connection at most, taken as pages are read.
    connection.pragma_update(None, "cache_size", -2048)?;
    Ok(connection)
}

/// The file keeps the key that signs tokens: a new one is its owner's alone. SQLite gives the log the same mode.
fn create(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Turns on the write-ahead log. SQLite does not wait by itself for another process that is just doing the same.
fn log_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)) {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other.map(drop),
        }
    }
}
