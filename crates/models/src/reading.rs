//! From the bytes of a response to the events of an answer, with the timers.

use std::time::Duration;

use domain::{ChatEvent, ChatStream, ModelError};
use egress::Chunks;
use futures::{StreamExt, stream};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::decoding::Decoding;

/// How long the usage may lag behind the model's last word, where the server does not end the stream itself.
const TAIL: Duration = Duration::from_secs(2);
/// How long the end of the body may lag behind `[DONE]`: a body read to its end leaves its connection fit for the next
/// request.
const LAST_BYTES: Duration = Duration::from_millis(50);

/// How long to wait for a model's words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Until the first of them.
    pub(crate) first: Duration,
    /// Between two of them.
    pub(crate) idle: Duration,
    /// Until the last.
    pub(crate) deadline: Instant,
}

/// A response being read.
pub(crate) struct Reading {
    /// `None` once the answer has ended: the connection is closed or back in its pool.
    chunks: Option<Chunks>,
    decoding: Decoding,
    end: Option<Result<ChatEvent, ModelError>>,
    patience: Patience,
    /// Time spent waiting since the last byte of the model's own. Time in which nobody reads the stream does not count.
    quiet: Duration,
    cancel: CancellationToken,
}

impl Reading {
    pub(crate) fn new(chunks: Chunks, decoding: Decoding, patience: Patience, cancel: CancellationToken) -> Self {
        Self { chunks: Some(chunks), decoding, end: None, patience, quiet: Duration::ZERO, cancel }
    }

    /// Events, then exactly one end. Dropping it closes the connection.
    pub(crate) fn into_stream(self) -> ChatStream {
        stream::unfold(self, |mut reading| async move { reading.next().await.map(|event| (event, reading)) }).boxed()
    }

    async fn next(&mut self) -> Option<Result<ChatEvent, ModelError>> {
        loop {
            if let Some(event) = self.decoding.answer().pop() {
                return Some(Ok(event));
            }
            match self.chunks.take() {
                Some(chunks) => self.read(chunks).await,
                None => return self.end.take(),
            }
        }
    }

    /// Reads one chunk; puts `chunks` back unless the answer has ended.
    async fn read(&mut self, mut chunks: Chunks) {
        let started = Instant::now();
        let answer = self.decoding.answer();
        let (before, ended) = (answer.progress(), answer.is_ended());
        let Patience { first, idle, deadline } = self.patience;
        let patience = if before == 0 { first } else { idle }.saturating_sub(self.quiet);
        let patience = if ended { patience.min(TAIL) } else { patience };
        let limit = (started + patience).min(deadline);
        let chunk = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return self.end = Some(Err(ModelError::Cut)),
            chunk = timeout_at(limit, chunks.next()) => chunk,
        };
        self.quiet += started.elapsed();
        match chunk {
            Ok(Some(Ok(bytes))) => {
                let pushed = self.decoding.push(&bytes);
                let answer = self.decoding.answer();
                if answer.progress() != before {
                    self.quiet = Duration::ZERO;
                }
                if let Err(error) = pushed {
                    self.end = Some(Err(error));
                } else if answer.is_done() {
                    self.end = Some(answer.end());
                    let _ = timeout(LAST_BYTES, chunks.next()).await;
                } else {
                    self.chunks = Some(chunks);
                }
            }
            Ok(None) => self.end = Some(self.decoding.finish()),
            Err(_) if !ended && Instant::now() >= deadline => self.end = Some(Err(ModelError::Cut)),
            Err(_) if !ended => self.end = Some(Err(ModelError::Idle)),
            Ok(Some(Err(_))) | Err(_) => self.end = Some(self.decoding.answer().end()),
        }
    }
}

#[cfg(test)]
mod tests;
