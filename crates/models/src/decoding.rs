//! From the bytes of a body to the events of an answer: no clock, no socket.

use domain::{ChatEvent, ModelError, ModelRef};

use crate::{Api, answer::Answer, sse, wire::Decode};

/// A body being read.
pub(crate) struct Decoding {
    frames: sse::Reader,
    decoder: Box<dyn Decode>,
    answer: Answer,
}

impl Decoding {
    pub(crate) fn new(decoder: Box<dyn Decode>, answer: Answer) -> Self {
        Self { frames: sse::Reader::default(), decoder, answer }
    }

    /// Takes the next bytes. What they said before an error counts.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        let pushed = self.frames.push(bytes);
        while let Some(frame) = self.frames.next_frame() {
            self.decoder.frame(&frame.event, &frame.data, &mut self.answer)?;
        }
        match pushed {
            Err(_) if !self.answer.is_done() => Err(ModelError::Protocol("an event of more than 1 MiB")),
            _ => Ok(()),
        }
    }

    /// The body has ended in good order. A last frame without its blank line counts if it is whole.
    pub(crate) fn finish(&mut self) -> Result<ChatEvent, ModelError> {
        let rest = std::mem::take(&mut self.frames).finish();
        let whole = |data: &[u8]| data.trim_ascii() == b"[DONE]" || serde_json::from_slice::<serde::de::IgnoredAny>(data).is_ok();
        if let Some(frame) = rest.filter(|frame| whole(&frame.data)) {
            self.decoder.frame(&frame.event, &frame.data, &mut self.answer)?;
        }
        self.answer.end()
    }

    pub(crate) fn answer(&mut self) -> &mut Answer {
        &mut self.answer
    }
}

/// Events and end of an answer whose body is at hand, in any pieces: for replaying, measuring and fuzzing.
pub fn read(api: Api, model: &ModelRef, pieces: &[&[u8]]) -> (Vec<ChatEvent>, Result<ChatEvent, ModelError>) {
    let mut decoding = Decoding::new(api.wire().decoder(), Answer::new(model.clone()));
    let mut events = Vec::new();
    let mut end = None;
    for piece in pieces {
        let pushed = decoding.push(piece);
        events.extend(std::iter::from_fn(|| decoding.answer().pop()));
        if let Err(error) = pushed {
            return (events, Err(error));
        }
        if decoding.answer().is_done() {
            end = Some(decoding.answer().end());
            break;
        }
    }
    let end = end.unwrap_or_else(|| decoding.finish());
    events.extend(std::iter::from_fn(|| decoding.answer().pop()));
    (events, end)
}

#[cfg(test)]
mod tests;
