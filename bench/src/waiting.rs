//! Turns that wait for their model: how long a token is on its way, and what waiting costs.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use tokio::{io::AsyncReadExt, net::TcpStream};

use crate::{
    Figure, figure, http,
    process::Server,
    provider::{self, DELTAS, Provider},
    turns,
};

/// Turns whose tokens are timed, one after the other, and the time between two tokens.
const TIMED: usize = 50;
const PAUSE: Duration = Duration::from_millis(5);
/// Turns that wait while CPU time is taken, and for how long. The clock of a process has ticks of 10 ms.
const WAITING: usize = 64;
const WATCHED: Duration = Duration::from_secs(10);
/// Runs, and further readers of one of them, whose memory is divided by their number.
const HELD: usize = 500;
/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(3_600);

pub(crate) async fn measure(binary: &Path) -> Vec<Figure> {
    let mut figures = tokens(binary).await;
    figures.push(cpu(binary).await);
    figures.extend(memory(binary).await);
    figures
}

/// From the moment the model sends a token to the moment a client has it.
async fn tokens(binary: &Path) -> Vec<Figure> {
    let model = provider::start(Duration::ZERO, PAUSE).await;
    let server = start(binary, &model).await;
    let token = server.token().await;
    let mut ways = Vec::new();
    for turn in 0..TIMED {
        let marker = format!("token-{turn}");
        let mut stream = begin(&server, &token, &marker).await;
        let (mut seen, mut next) = (Vec::new(), 0);
        let mut chunk = vec![0; 16 * 1024];
        while next < DELTAS {
            let read = stream.read(&mut chunk).await.unwrap();
            let now = Instant::now();
            assert!(read > 0, "the stream ended early: {}", String::from_utf8_lossy(&seen));
            seen.extend_from_slice(&chunk[..read]);
            let text = String::from_utf8_lossy(&seen);
            while next < DELTAS && text.contains(&format!("word{next} ")) {
                ways.push(now.duration_since(model.words.sent(&marker, next).expect("the model said it")));
                next += 1;
            }
        }
        while stream.read(&mut chunk).await.unwrap() > 0 {}
    }
    ways.sort();
    let at = |share: f64| format!("{:.2} ms", ways[(ways.len() as f64 * share) as usize].as_secs_f64() * 1e3);
    vec![
        figure("model's token to the client, p50", at(0.5), "<= 1 ms"),
        figure("model's token to the client, p99", at(0.99), "<= 1 ms"),
    ]
}

async fn cpu(binary: &Path) -> Figure {
    let model = provider::start(LONG, Duration::ZERO).await;
    let server = start(binary, &model).await;
    let token = server.token().await;
    let _streams = hold(&server, &token, &model, "wait", WAITING).await;
    let before = server.cpu_ms();
    tokio::time::sleep(WATCHED).await;
    let share = (server.cpu_ms() - before) / (WATCHED.as_secs_f64() * 1e3);
    figure(format!("{WAITING} waiting turns"), format!("{:.1} % of a core", share * 100.0), "<= 1 %")
}

/// Resident memory by number. A run here has one reader, the request that began it.
async fn memory(binary: &Path) -> Vec<Figure> {
    let model = provider::start(LONG, Duration::ZERO).await;
    let server = start(binary, &model).await;
    let token = server.token().await;
    let _warm = hold(&server, &token, &model, "warm", WAITING).await;
    let idle = server.resident_mb();
    let _runs = hold(&server, &token, &model, "held", HELD).await;
    let running = server.resident_mb();
    let mut readers = Vec::new();
    for _ in 0..HELD {
        let path = format!("/v1/agui?runId={}&offset=-1", turns::run_id("held-0"));
        let mut stream = http::open(server.address, "GET", &path, Some(&token), "").await.unwrap();
        first_bytes(&mut stream).await;
        readers.push(stream);
    }
    settle().await;
    let read = server.resident_mb();
    let kib = |megabytes: f64| format!("{:.0} KiB", megabytes * 1e6 / 1024.0 / HELD as f64);
    vec![
        figure("memory for each active run with its reader", kib(running - idle), "<= 56 KiB"),
        figure("memory for each further reader", kib(read - running), "<= 16 KiB"),
    ]
}

async fn start(binary: &Path, model: &Provider) -> Server {
    let mut settings = turns::settings(model.address, None, "full");
    settings.push(("FRONTDESK__WORKER__CONCURRENCY", "2000".to_owned()));
    settings.push(("FRONTDESK__LIMITS__CONCURRENT_RUNS", "2000".to_owned()));
    Server::start(binary, &settings).await
}

/// Turns that wait for their model, and their streams.
async fn hold(server: &Server, token: &str, model: &Provider, name: &str, count: usize) -> Vec<TcpStream> {
    let mut streams = Vec::new();
    for turn in 0..count {
        let marker = format!("{name}-{turn}");
        let mut stream = begin(server, token, &marker).await;
        first_bytes(&mut stream).await;
        streams.push(stream);
        for _ in 0..5_000 {
            if model.arrivals.of(&marker).is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(model.arrivals.of(&marker).is_some(), "the model was not asked");
    }
    settle().await;
    streams
}

async fn begin(server: &Server, token: &str, marker: &str) -> TcpStream {
    let body = turns::body(marker, &format!("t-{marker}"));
    http::open(server.address, "POST", "/v1/agui", Some(token), &body).await.unwrap()
}

async fn first_bytes(stream: &mut TcpStream) {
    let mut chunk = [0; 4 * 1024];
    let read = stream.read(&mut chunk).await.unwrap();
    let text = String::from_utf8_lossy(&chunk[..read]);
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
}

/// What was begun is over: buffers are given back, timers are set.
async fn settle() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}
