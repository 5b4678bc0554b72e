//! One reader's view of a run: while it waits, while it runs here or elsewhere, after it ended.
//!
//! A reader is a place in the stream and little else; what it is sent comes from the log of a run that runs here, or
//! from stored frames.

mod bridge;
mod feed;
mod frame;
mod open;
mod past;
mod seat;

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use domain::{Bookmark, Principal};
use futures::{Stream, StreamExt, stream::BoxStream};
use storage::{RunRef, StorageError};

pub(crate) use seat::tell;

use crate::orchestrator::Inner;

/// Where a reader begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum From {
    /// With RUN_STARTED.
    Start,
    /// Strictly after a place it has seen.
    After(Bookmark),
}

/// Who reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Somebody waiting for the answer: once the last of them is gone, the run is unattended.
    Person,
    /// Somebody who stops reading sometime and wants the answer none the less: as long as it reads the run is attended,
    /// its leaving means nothing.
    Detached,
    /// Whose coming and leaving mean nothing.
    Observer,
}

/// One event for a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamItem {
    /// `None`: it is no place in the run, such as an end that is this response's only.
    pub mark: Option<Bookmark>,
    /// One line of JSON, without the line's end.
    pub json: Bytes,
    pub kind: ItemKind,
}

/// What an edge may have to adapt to its client's dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// RUN_STARTED.
    Started,
    Event,
    /// RUN_FINISHED or RUN_ERROR; the stream ends after it.
    Terminal,
}

/// Only ever the first item of a stream, and then its only one.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The run has ended and its frames are gone.
    #[error("the events of this run are no longer kept")]
    Expired,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The events of a run for one reader, as they come. Unless it begins after the end of the run (nothing follows) or
/// with an error, it ends with exactly one terminal item. A database that is away meanwhile is waited for.
pub struct Follow(BoxStream<'static, Result<StreamItem, FollowError>>);

impl Follow {
    pub(crate) fn new(inner: Arc<Inner>, principal: Principal, run: RunRef, from: From, reader: Reader) -> Self {
        let feed = feed::Feed::new(inner, principal, run, from, reader);
        Self(futures::stream::unfold(feed, |mut feed| async move { Some((feed.next().await?, feed)) }).boxed())
    }
}

impl Stream for Follow {
    type Item = Result<StreamItem, FollowError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}
