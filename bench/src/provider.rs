//! A model inside the bench's own process, so that both ends share one clock: 20 words, each its own chunk.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Deltas of every answer.
pub(crate) const DELTAS: usize = 20;

#[derive(Clone, Default)]
pub(crate) struct Arrivals(Arc<Mutex<HashMap<String, Instant>>>);

impl Arrivals {
    /// When the request holding `marker` arrived.
    pub(crate) fn of(&self, marker: &str) -> Option<Instant> {
        self.0.lock().unwrap().get(marker).copied()
    }
}

/// When the words of an answer were sent.
#[derive(Clone, Default)]
pub(crate) struct Words(Arc<Mutex<HashMap<String, Vec<Instant>>>>);

impl Words {
    /// When word `index` of the answer to `marker` was sent.
    pub(crate) fn sent(&self, marker: &str, index: usize) -> Option<Instant> {
        self.0.lock().unwrap().get(marker)?.get(index).copied()
    }
}

pub(crate) struct Provider {
    pub(crate) address: SocketAddr,
    pub(crate) arrivals: Arrivals,
    pub(crate) words: Words,
}

/// How it answers.
#[derive(Clone, Copy)]
struct Pace {
    delay: Duration,
    pause: Duration,
}

/// Answers after `delay`, with `pause` before each word. A message holds its marker as `#marker#`.
pub(crate) async fn start(delay: Duration, pause: Duration) -> Provider {
    let pace = Pace { delay, pause };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (arrivals, words) = (Arrivals::default(), Words::default());
    let (seen, said) = (arrivals.clone(), words.clone());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (seen, said) = (seen.clone(), said.clone());
            tokio::spawn(async move {
                let _ = answer(stream, seen, said, pace).await;
            });
        }
    });
    Provider { address, arrivals, words }
}

async fn answer(mut stream: TcpStream, arrivals: Arrivals, words: Words, pace: Pace) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    let mut chunk = vec![0; 16 * 1024];
    loop {
        let end = loop {
            if let Some(end) = whole_request(&buffer) {
                break end;
            }
            let read = stream.read(&mut chunk).await?;
            if read == 0 {
                return Ok(());
            }
            buffer.extend_from_slice(&chunk[..read]);
        };
        let body = String::from_utf8_lossy(&buffer[..end]).into_owned();
        buffer.drain(..end);
        let marker = body.rsplit('#').nth(1).unwrap_or_default();
        arrivals.0.lock().unwrap().entry(marker.to_owned()).or_insert_with(Instant::now);
        if !pace.delay.is_zero() {
            tokio::time::sleep(pace.delay).await;
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n").await?;
        for index in 0..DELTAS {
            let event = format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"word{index} \"}}}}]}}\n\n");
            if pace.pause.is_zero() {
                tokio::task::yield_now().await;
            } else {
                tokio::time::sleep(pace.pause).await;
                words.0.lock().unwrap().entry(marker.to_owned()).or_default().push(Instant::now());
            }
            stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).await?;
        }
        let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":20,\"total_tokens\":30}}\n\ndata: [DONE]\n\n";
        stream.write_all(format!("{:x}\r\n{end}\r\n0\r\n\r\n", end.len()).as_bytes()).await?;
    }
}

/// Where the first whole request of `buffer` ends.
fn whole_request(buffer: &[u8]) -> Option<usize> {
    let head = buffer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&buffer[..head]).to_ascii_lowercase();
    let length: usize = text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
    (buffer.len() >= head + length).then_some(head + length)
}
