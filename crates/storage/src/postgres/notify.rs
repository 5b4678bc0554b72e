//! NOTIFY and LISTEN, on connections of their own: a transaction that notifies takes a lock over the whole database.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPool, PgPoolOptions};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::changes::Changes;

const CHANNEL: &str = "frontdesk";
/// Announcements in between are one.
const PAUSE: Duration = Duration::from_millis(20);
const RETRY: Duration = Duration::from_secs(1);

/// A word no other process uses.
pub(super) fn name() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

pub(super) async fn announce(pool: PgPool, name: Arc<str>, announcement: Arc<Notify>, stop: CancellationToken) {
    let announce = async {
        loop {
            announcement.notified().await;
            let sent = sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(&*name).execute(&pool).await;
            if let Err(error) = sent {
                tracing::debug!(%error, "failed to announce a change");
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::select! {
        () = announce => {}
        () = stop.cancelled() => {}
    }
}

pub(super) async fn listen(options: PgConnectOptions, name: Arc<str>, changes: Arc<Changes>, stop: CancellationToken) {
    let pool = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None).connect_lazy_with(options);
    let listen = async {
        loop {
            if let Err(error) = receive(&pool, &name, &changes).await {
                tracing::debug!(%error, "not listening for changes");
            }
            tokio::time::sleep(RETRY).await;
        }
    };
    tokio::select! {
        () = listen => {}
        () = stop.cancelled() => {}
    }
}

/// Until the connection is lost.
async fn receive(pool: &PgPool, name: &str, changes: &Changes) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    // Something may have been announced while nobody listened.
    changes.mark();
    while let Some(notification) = listener.try_recv().await? {
        if notification.payload() != name {
            changes.mark();
        }
    }
    Ok(())
}
