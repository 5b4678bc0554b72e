//! The ports: only where something is really swapped.

use async_trait::async_trait;
use futures::stream::BoxStream;
use tokio_util::sync::CancellationToken;

use crate::{ChatEvent, ChatRequest, ModelError, ModelRef, RunKey};

/// A stream of [`ChatEvent`]s ending in exactly one `Ok(Done)` or `Err`.
pub type ChatStream = BoxStream<'static, Result<ChatEvent, ModelError>>;

/// A language model, or several behind one door: whoever answers says so with [`ChatEvent::Model`], and what was
/// tried before the first visible byte is told with [`ChatEvent::Failed`]. It decides nothing about roles, tools or
/// what is left out of a conversation that is too long.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// What this model is called in ledgers and `frontdesk.model`.
    fn model(&self) -> ModelRef;

    /// Opens an answer. Dropping the stream, or cancelling, closes the connection to the provider.
    async fn stream(&self, cancel: CancellationToken, request: ChatRequest) -> Result<ChatStream, ModelError>;
}

/// Wall time in milliseconds since the Unix epoch, for timers and tokens inside a process only: what is stored
/// takes the database's time.
pub trait Clock: Send + Sync {
    fn now_ms(&self) -> i64;
}

/// A source of ULIDs: 26 characters, in order within a process.
pub trait Ids: Send + Sync {
    fn ulid(&self) -> String;
}

/// A hint between tasks or processes. Losing or doubling one is harmless: a sweeper finds what nobody was told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// Some run may be claimed.
    Ready,
    /// A run's row or frames changed: cancel asked for, frames appended, ended.
    Run(RunKey),
    /// Something changed, nobody knows what.
    Any,
}

/// Carries [`Signal`]s. It owns no message.
pub trait Signals: Send + Sync {
    fn send(&self, signal: Signal);

    /// Signals from now on; a slow reader may get [`Signal::Any`] for those it missed. Never ends.
    fn listen(&self) -> BoxStream<'static, Signal>;
}
