//! The bytes of an answer.

use std::io;

use serde_json::Value;
use tokio::io::AsyncWriteExt;

use crate::http::Wire;

/// A chunked event stream; what need not leave yet is gathered into one write.
pub(super) struct Out {
    pending: Vec<u8>,
    bytes: bool,
    head: bool,
}

impl Out {
    pub(super) fn new(bytes: bool) -> Self {
        Self { pending: Vec::new(), bytes, head: false }
    }

    pub(super) fn event(&mut self, value: &Value) {
        self.raw(format!("data: {value}\n\n").as_bytes());
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    pub(super) async fn flush(&mut self, wire: &mut Wire) -> io::Result<()> {
        if !self.head {
            self.head = true;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            wire.stream.write_all(head.as_bytes()).await?;
        }
        let pending = std::mem::take(&mut self.pending);
        let size = if self.bytes { 1 } else { pending.len().max(1) };
        for part in pending.chunks(size) {
            let mut chunk = format!("{:x}\r\n", part.len()).into_bytes();
            chunk.extend_from_slice(part);
            chunk.extend_from_slice(b"\r\n");
            wire.stream.write_all(&chunk).await?;
            if self.bytes {
                // Lets the reader see this byte alone.
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    pub(super) async fn end(&mut self, wire: &mut Wire) -> io::Result<()> {
        self.flush(wire).await?;
        wire.stream.write_all(b"0\r\n\r\n").await
    }
}
