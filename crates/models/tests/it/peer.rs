//! A server of raw bytes: one connection after the other, one request and one scripted reply each.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

pub(crate) enum Reply {
    /// These bytes, then the connection closes.
    Bytes(Vec<u8>),
    ByteByByte(Vec<u8>),
    /// These bytes, then nothing, until the client closes.
    Hold(Vec<u8>),
    /// The first bytes, then the second ones again and again, until the client closes.
    ForEver(Vec<u8>, Vec<u8>),
}

/// Ends with the test that owns it.
pub(crate) struct Peer {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    /// Requests read, connections seen closed by the client.
    progress: watch::Receiver<(usize, usize)>,
    task: JoinHandle<()>,
}

impl Peer {
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (report, progress) = watch::channel((0, 0));
        let seen = requests.clone();
        let task = tokio::spawn(async move {
            for reply in replies {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read_request(&mut stream).await;
                seen.lock().unwrap().push(request);
                report.send_modify(|progress| progress.0 += 1);
                send(&mut stream, reply).await;
                report.send_modify(|progress| progress.1 += 1);
            }
            std::future::pending::<()>().await;
        });
        Self { port, requests, progress, task }
    }

    pub(crate) fn base(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Head and body of every request so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until that many requests were read.
    pub(crate) async fn asked(&self, count: usize) {
        self.progress.clone().wait_for(|progress| progress.0 >= count).await.unwrap();
    }

    /// Waits until that many connections were closed.
    pub(crate) async fn closed(&self, count: usize) {
        self.progress.clone().wait_for(|progress| progress.1 >= count).await.unwrap();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some(end) = text.find("\r\n\r\n") {
            let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.parse().unwrap());
            if bytes.len() >= end + 4 + length {
                return text.into_owned();
            }
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return String::from_utf8_lossy(&bytes).into_owned();
        }
    }
}

/// A client that closes early is no fault here.
async fn send(stream: &mut TcpStream, reply: Reply) {
    let _ = stream.set_nodelay(true);
    match reply {
        Reply::Bytes(bytes) => {
            let _ = stream.write_all(&bytes).await;
        }
        Reply::ByteByByte(bytes) => {
            for byte in bytes {
                let _ = stream.write_all(&[byte]).await;
                tokio::task::yield_now().await;
            }
        }
        Reply::Hold(bytes) => {
            let _ = stream.write_all(&bytes).await;
            while stream.read(&mut [0; 64]).await.unwrap_or(0) > 0 {}
        }
        Reply::ForEver(first, again) => {
            let _ = stream.write_all(&first).await;
            while stream.write_all(&again).await.is_ok() {
                tokio::task::yield_now().await;
            }
        }
    }
}

/// A response with a length, as bytes.
pub(crate) fn response(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} Scripted\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat()
}

/// A response that ends with the connection, as streams do.
pub(crate) fn sse(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n{body}").into_bytes()
}

pub(crate) fn json(status: u16, body: &str) -> Vec<u8> {
    response(status, &[("content-type", "application/json")], body.as_bytes())
}

/// RFC 1952 with one stored block of at most 64 KiB.
pub(crate) fn gzip(data: &[u8]) -> Vec<u8> {
    let crc = !data.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 })
    });
    let length = u16::try_from(data.len()).unwrap();
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(data);
    out.extend(crc.to_le_bytes());
    out.extend(u32::from(length).to_le_bytes());
    out
}
