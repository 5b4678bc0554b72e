//! Copies the write-ahead log back into the database, off the way of whoever commits.

use std::sync::Arc;

use rusqlite::Connection;
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

use super::{group, writer::Writer};

/// Pages (64 MiB) from which writers are held for the moment it takes to empty the log. Under constant load it is
/// never copied completely beside them, so it cannot start again from its beginning by itself.
const TOO_LONG: i64 = 16 * 1024;

pub(super) async fn run(mut connection: Connection, writer: Arc<Mutex<Writer>>, long_log: Arc<Notify>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = long_log.notified() => {}
            () = stop.cancelled() => return,
        }
        let copied = tokio::task::spawn_blocking(move || (pragma(&connection, "PASSIVE"), connection)).await;
        let Ok((pages, back)) = copied else { return };
        connection = back;
        if pages > TOO_LONG {
            let mut writer = Arc::clone(&writer).lock_owned().await;
            let emptied = tokio::task::spawn_blocking(move || {
                group::commit_held(&mut writer);
                pragma(&connection, "TRUNCATE");
                connection
            });
            let Ok(back) = emptied.await else { return };
            connection = back;
        }
    }
}

/// Pages in the log. Blocks.
fn pragma(connection: &Connection, mode: &str) -> i64 {
    let result = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| row.get(1));
    result.unwrap_or_else(|error| {
        tracing::debug!(%error, mode, "the log was not copied back");
        0
    })
}
