//! HTTP/1.1 over plain TCP, as little as the tests need: both sides, with the socket in the test's hand.

use std::{io, net::SocketAddr};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Most bytes of a head.
const HEAD: usize = 64 * 1024;

/// A socket and what was read of it too far.
pub struct Wire {
    pub stream: TcpStream,
    pub buffer: Vec<u8>,
}

/// First line and headers (names in lower case).
pub struct Head {
    pub line: String,
    pub headers: Vec<(String, String)>,
}

impl Head {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// How a body's end is known.
enum Framing {
    Length(usize),
    Chunked,
    Close,
    Over,
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

impl Wire {
    pub fn new(stream: TcpStream) -> Self {
        // Small writes must leave at once: the tests are about single events.
        stream.set_nodelay(true).ok();
        Self { stream, buffer: Vec::new() }
    }

    /// Reads more; false at the end of the stream.
    async fn fill(&mut self) -> io::Result<bool> {
        self.buffer.reserve(16 * 1024);
        Ok(self.stream.read_buf(&mut self.buffer).await? > 0)
    }

    /// `None`: the peer closed before a first byte.
    pub async fn head(&mut self) -> io::Result<Option<Head>> {
        let end = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end;
            }
            if self.buffer.len() > HEAD {
                return Err(broken("the head is too long"));
            }
            if !self.fill().await? {
                return if self.buffer.is_empty() { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
        };
        let text = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
        self.buffer.drain(..end + 4);
        let mut lines = text.split("\r\n");
        let line = lines.next().unwrap_or_default().to_owned();
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        Ok(Some(Head { line, headers }))
    }

    /// The whole body of a request.
    pub async fn body(&mut self, head: &Head) -> io::Result<Vec<u8>> {
        let mut framing = framing(head, Framing::Over)?;
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk(&mut framing).await? {
            body.extend(chunk);
        }
        Ok(body)
    }

    /// The next piece of a body; `None` at its end, an error if the socket ended first.
    async fn chunk(&mut self, framing: &mut Framing) -> io::Result<Option<Vec<u8>>> {
        match framing {
            Framing::Over | Framing::Length(0) => Ok(None),
            Framing::Length(left) => {
                if self.buffer.is_empty() && !self.fill().await? {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                let take = self.buffer.len().min(*left);
                *left -= take;
                Ok(Some(self.buffer.drain(..take).collect()))
            }
            Framing::Close => {
                if self.buffer.is_empty() && !self.fill().await? {
                    return Ok(None);
                }
                Ok(Some(std::mem::take(&mut self.buffer)))
            }
            Framing::Chunked => {
                let size = usize::from_str_radix(&self.line().await?, 16).map_err(|_| broken("bad chunk size"))?;
                while self.buffer.len() < size + 2 {
                    if !self.fill().await? {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                let chunk: Vec<u8> = self.buffer.drain(..size).collect();
                self.buffer.drain(..2);
                if size == 0 {
                    *framing = Framing::Over;
                    return Ok(None);
                }
                Ok(Some(chunk))
            }
        }
    }

    async fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n") {
                let line = String::from_utf8_lossy(&self.buffer[..end]).trim().to_owned();
                self.buffer.drain(..end + 2);
                return Ok(line);
            }
            if !self.fill().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn framing(head: &Head, otherwise: Framing) -> io::Result<Framing> {
    if head.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return Ok(Framing::Chunked);
    }
    match head.header("content-length") {
        Some(length) => Ok(Framing::Length(length.parse().map_err(|_| broken("bad content-length"))?)),
        None => Ok(otherwise),
    }
}

/// One request.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub method: &'static str,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: "GET", path: path.into(), ..Self::default() }
    }

    pub fn post(path: impl Into<String>, body: &Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { method: "POST", path: path.into(), headers, body: body.to_string().into_bytes() }
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(key, _)| key != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends it over a new connection and waits for the response's head.
    pub async fn send(&self, address: SocketAddr) -> io::Result<Response> {
        let mut wire = Wire::new(TcpStream::connect(address).await?);
        let mut text = format!("{} {} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n", self.method, self.path);
        if self.method != "GET" {
            text.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend(&self.body);
        // A server that refuses a body by its head may close before all of it is written.
        let written = wire.stream.write_all(&bytes).await;
        let head = match wire.head().await {
            Ok(Some(head)) => head,
            Ok(None) => return Err(written.err().unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into())),
            Err(error) => return Err(error),
        };
        let status = head.line.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(|| broken("no status"))?;
        let framing = framing(&head, Framing::Close)?;
        Ok(Response { status, head, wire, framing })
    }
}

/// A response whose body has yet to be read.
pub struct Response {
    pub status: u16,
    pub head: Head,
    wire: Wire,
    framing: Framing,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    /// The next piece of the body; `None` at its end.
    pub async fn chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.wire.chunk(&mut self.framing).await
    }

    pub async fn bytes(mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            body.extend(chunk);
        }
        Ok(body)
    }

    pub async fn json(self) -> io::Result<Value> {
        let bytes = self.bytes().await?;
        serde_json::from_slice(&bytes).map_err(|error| broken(&format!("{error} in {}", String::from_utf8_lossy(&bytes))))
    }
}
