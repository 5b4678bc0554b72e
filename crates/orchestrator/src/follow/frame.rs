//! Stored frames as the events they hold.

use bytes::Bytes;
use storage::Frame;

/// The events of a frame and their places.
pub(super) fn lines(frame: &Frame) -> impl Iterator<Item = (i64, Bytes)> + use<> {
    let body = Bytes::from(frame.body.clone());
    let mut start = 0;
    let lines = std::iter::from_fn(move || {
        let rest = body.get(start..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let line = body.slice(start..start + length);
        start += length + 1;
        Some(line)
    });
    (frame.first..).zip(lines)
}

/// Whether a stored event is RUN_FINISHED or RUN_ERROR; the type always comes first.
pub(super) fn is_terminal(line: &[u8]) -> bool {
    line.starts_with(br#"{"type":"RUN_FINISHED""#) || line.starts_with(br#"{"type":"RUN_ERROR""#)
}

#[cfg(test)]
#[path = "frame/tests.rs"]
mod tests;
