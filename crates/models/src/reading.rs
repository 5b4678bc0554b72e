//! From the bytes of a response to the events of an answer, with the timers.

use std::time::Duration;

use domain::{ChatEvent, ChatStream, ModelError};
use egress::Chunks;
use futures::{StreamExt, stream};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::{answer::Answer, sse, wire::Decode};

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
    frames: sse::Reader,
    decoder: Box<dyn Decode>,
    answer: Answer,
    end: Option<Result<ChatEvent, ModelError>>,
    patience: Patience,
    /// Time spent waiting since the last byte of the model's own. Time in which nobody reads the stream does not count.
    quiet: Duration,
    cancel: CancellationToken,
}

impl Reading {
    pub(crate) fn new(
        chunks: Chunks,
        decoder: Box<dyn Decode>,
        answer: Answer,
        patience: Patience,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            chunks: Some(chunks),
            frames: sse::Reader::default(),
            decoder,
            answer,
            end: None,
            patience,
            quiet: Duration::ZERO,
            cancel,
        }
    }

    /// Events, then exactly one end. Dropping it closes the connection.
    pub(crate) fn into_stream(self) -> ChatStream {
        stream::unfold(self, |mut reading| async move { reading.next().await.map(|event| (event, reading)) }).boxed()
    }

    async fn next(&mut self) -> Option<Result<ChatEvent, ModelError>> {
        loop {
            if let Some(event) = self.answer.pop() {
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
        let Patience { first, idle, deadline } = self.patience;
        let patience = if self.answer.progress() == 0 { first } else { idle }.saturating_sub(self.quiet);
        let patience = if self.answer.is_ended() { patience.min(TAIL) } else { patience };
        let limit = (started + patience).min(deadline);
        let chunk = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return self.end = Some(Err(ModelError::Cut)),
            chunk = timeout_at(limit, chunks.next()) => chunk,
        };
        self.quiet += started.elapsed();
        match chunk {
            Ok(Some(Ok(bytes))) => {
                let pushed = self.frames.push(&bytes);
                while let Some(frame) = self.frames.next_frame() {
                    if let Err(error) = self.frame(&frame) {
                        return self.end = Some(Err(error));
                    }
                }
                if self.answer.is_done() {
                    let _ = timeout(LAST_BYTES, chunks.next()).await;
                    self.end = Some(self.answer.end());
                } else if pushed.is_err() {
                    self.end = Some(Err(ModelError::Protocol("an event of more than 1 MiB")));
                } else {
                    self.chunks = Some(chunks);
                }
            }
            Ok(None) => self.finish(),
            Ok(Some(Err(_))) => self.end = Some(self.answer.end()),
            Err(_) if self.answer.is_ended() => self.end = Some(self.answer.end()),
            Err(_) if Instant::now() >= deadline => self.end = Some(Err(ModelError::Cut)),
            Err(_) => self.end = Some(Err(ModelError::Idle)),
        }
    }

    /// The body has ended in good order. A last frame without its blank line counts if it is whole.
    fn finish(&mut self) {
        let rest = std::mem::take(&mut self.frames).finish();
        let whole = |data: &[u8]| data.trim_ascii() == b"[DONE]" || serde_json::from_slice::<serde::de::IgnoredAny>(data).is_ok();
        let read = match rest.filter(|frame| whole(&frame.data)) {
            Some(frame) => self.frame(&frame),
            None => Ok(()),
        };
        self.end = Some(read.and_then(|()| self.answer.end()));
    }

    fn frame(&mut self, frame: &sse::Frame) -> Result<(), ModelError> {
        let before = self.answer.progress();
        let read = self.decoder.frame(&frame.event, &frame.data, &mut self.answer);
        if self.answer.progress() != before {
            self.quiet = Duration::ZERO;
        }
        read
    }
}

#[cfg(test)]
mod tests;
