//! The accept loop: HTTP/1.1 straight on hyper, a task a connection.
//!
//! Not `axum::serve`, whose connections cost nine KiB more each (`docs/decisions`).

use std::{io, pin::pin, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::App;

/// Connections open at once; more wait in the listener's backlog until one closes.
pub const MAX_CONNECTIONS: usize = 20_000;
/// A request's head must arrive within this; so an idle connection is closed after it.
const HEAD: Duration = Duration::from_secs(10);
/// Most bytes of a request's head, and of a connection's buffers.
const BUFFER: usize = 64 * 1024;
/// Before accepting again when the system has no more sockets.
const BREATH: Duration = Duration::from_millis(100);

/// The two stages of stopping.
#[derive(Debug, Clone)]
pub struct Shutdown {
    /// Accept nothing more; requests and streams in flight go on.
    pub stop: CancellationToken,
    /// Close what is still open. Without it that happens `Settings::grace` after `stop`.
    pub cut: CancellationToken,
}

impl From<CancellationToken> for Shutdown {
    fn from(stop: CancellationToken) -> Self {
        Self { stop, cut: CancellationToken::new() }
    }
}

/// Serves `app` on `listener` until told to stop; returns when every connection is closed.
pub async fn serve(listener: TcpListener, app: App, shutdown: impl Into<Shutdown>) {
    let Shutdown { stop, cut } = shutdown.into();
    let grace = app.settings().grace;
    let router = app.router();
    // A child, so that the grace's end here cuts nothing of the caller's.
    let cut = cut.child_token();
    let connections = TaskTracker::new();
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    while let Some((stream, place)) = next(&listener, &places, &stop).await {
        connections.spawn(connection(stream, router.clone(), Shutdown { stop: stop.clone(), cut: cut.clone() }, place));
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(grace, connections.wait()).await.is_err() {
        tracing::info!(open = connections.len(), "closing the connections that are still open");
        cut.cancel();
        connections.wait().await;
    }
}

/// The next connection, once there is a place for it. `None`: stop.
async fn next(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
    stop: &CancellationToken,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    if places.available_permits() == 0 {
        tracing::warn!(max = MAX_CONNECTIONS, "every place for a connection is taken; new ones wait");
    }
    let place = tokio::select! {
        () = stop.cancelled() => return None,
        place = places.clone().acquire_owned() => place.ok()?,
    };
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return None,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => return Some((stream, place)),
            Err(error) if is_the_peers(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "failed to accept a connection");
                tokio::select! {
                    () = stop.cancelled() => return None,
                    () = tokio::time::sleep(BREATH) => {}
                }
            }
        }
    }
}

/// The connection was gone before it was accepted.
fn is_the_peers(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn connection(stream: TcpStream, router: Router, shutdown: Shutdown, _place: OwnedSemaphorePermit) {
    // Deltas are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(BUFFER)
            // A client that closes is gone: its stream ends now, not at the next event.
            .half_close(false)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
    );
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = shutdown.stop.cancelled() => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection => ended,
                () = shutdown.cut.cancelled() => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}
