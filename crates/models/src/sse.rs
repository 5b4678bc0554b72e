//! A bounded reader of server-sent events (WHATWG HTML, 9.2), fed with bytes as they come.
//!
//! It works on bytes, so a character split over two chunks needs no care; lines end in LF, CRLF or CR; comments,
//! unknown fields and a byte-order mark are skipped. Memory is at most one frame, whatever is sent.

use std::collections::VecDeque;

/// Most bytes of one frame, its field names and comments included.
pub const MAX_FRAME: usize = 1024 * 1024;

/// Bytes of a line that are kept for the next one.
const USUAL_LINE: usize = 4 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// The `event` field; empty: a message.
    pub event: String,
    /// The last `id` seen so far on the stream; empty: none.
    pub id: String,
    /// The `data` lines, joined by LF.
    pub data: Vec<u8>,
}

/// A frame is larger than the reader's bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {max} bytes")]
pub struct TooLarge {
    pub max: usize,
}

/// Takes bytes, gives frames.
#[derive(Debug)]
pub struct Reader {
    max: usize,
    /// The line that has not ended yet.
    line: Vec<u8>,
    event: String,
    id: String,
    data: Vec<u8>,
    has_data: bool,
    /// Bytes of this frame so far.
    size: usize,
    /// The last byte was CR: an LF right after it belongs to the same line end.
    after_cr: bool,
    first_line: bool,
    frames: VecDeque<Frame>,
}

impl Default for Reader {
    fn default() -> Self {
        Self::new(MAX_FRAME)
    }
}

impl Reader {
    /// `max`: most bytes of one frame.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            line: Vec::new(),
            event: String::new(),
            id: String::new(),
            data: Vec::new(),
            has_data: false,
            size: 0,
            after_cr: false,
            first_line: true,
            frames: VecDeque::new(),
        }
    }

    /// Takes the next bytes. After an error the reader is of no more use.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), TooLarge> {
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            match bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
                Some(end) => {
                    self.take(&bytes[..end])?;
                    self.after_cr = bytes[end] == b'\r';
                    bytes = &bytes[end + 1..];
                    self.end_line();
                }
                None => {
                    self.take(bytes)?;
                    break;
                }
            }
        }
        Ok(())
    }

    /// The next complete frame.
    pub fn next_frame(&mut self) -> Option<Frame> {
        self.frames.pop_front()
    }

    /// What was left when the bytes ended: a frame without its blank line. The standard drops it; some servers close
    /// right after their last line, so that the caller may want it if it makes sense.
    pub fn finish(mut self) -> Option<Frame> {
        self.end_line();
        self.dispatch();
        self.frames.pop_back()
    }

    fn take(&mut self, piece: &[u8]) -> Result<(), TooLarge> {
        self.size += piece.len();
        if self.size > self.max {
            return Err(TooLarge { max: self.max });
        }
        self.line.extend_from_slice(piece);
        Ok(())
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        self.field(&line);
        line.clear();
        // One large frame must not be paid for until the end of the stream.
        line.shrink_to(USUAL_LINE);
        self.line = line;
    }

    fn field(&mut self, line: &[u8]) {
        let mut line = line;
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch();
            return;
        }
        let (name, value) = match line.iter().position(|&byte| byte == b':') {
            // A comment counts for the frame's bound as long as the frame is open, else for nothing.
            Some(0) => {
                if !self.has_data && self.event.is_empty() {
                    self.size = 0;
                }
                return;
            }
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => self.event = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => self.id = String::from_utf8_lossy(value).into_owned(),
            _ => {}
        }
    }

    fn dispatch(&mut self) {
        self.size = 0;
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            self.frames.push_back(Frame { event, id: self.id.clone(), data: std::mem::take(&mut self.data) });
        }
    }
}

#[cfg(test)]
mod tests;
