//! Whole turns over HTTP against the real binary.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use crate::{Figure, figure, http, process::Server, provider};

/// Turns of the throughput figure.
const TURNS: usize = 2_000;
/// Turns in flight while throughput is measured.
const IN_FLIGHT: usize = 32;

pub(crate) async fn measure(binary: &Path, name: &str, postgres: Option<&str>, durability: &str) -> Vec<Figure> {
    let quick = provider::start(Duration::ZERO, Duration::ZERO).await;
    let server = Server::start(binary, &settings(quick.address, postgres, durability)).await;
    let token = server.token().await;
    batch(&server, &token, "warm", 200, IN_FLIGHT).await;

    let mut latencies = Vec::new();
    for turn in 0..300 {
        let marker = format!("single-{turn}");
        let sent = Instant::now();
        post(&server, &token, &marker, &format!("t-{marker}")).await;
        latencies.push(quick.arrivals.of(&marker).expect("the model was asked").duration_since(sent));
    }
    latencies.sort();

    let cpu = server.cpu_ms();
    let start = Instant::now();
    batch(&server, &token, "load", TURNS, IN_FLIGHT).await;
    let wall = start.elapsed().as_secs_f64();
    let cpu = (server.cpu_ms() - cpu) / TURNS as f64;
    let resident = server.resident_mb();
    drop(server);

    let slow = provider::start(Duration::from_millis(500), Duration::ZERO).await;
    let server = Server::start(binary, &settings(slow.address, postgres, durability)).await;
    let token = server.token().await;
    batch(&server, &token, "warm", 64, 64).await;
    let start = Instant::now();
    batch(&server, &token, "slow", 64, 64).await;
    let together = start.elapsed().as_secs_f64();

    let milliseconds = |share: f64| latencies[(latencies.len() as f64 * share) as usize].as_secs_f64() * 1e3;
    let targets = if postgres.is_none() { ["<= 2 CPU-ms", "<= 5 ms"] } else { ["-", "-"] };
    vec![
        figure(format!("{name}: durable turn, {} deltas", provider::DELTAS), format!("{cpu:.2} CPU-ms"), targets[0]),
        figure(format!("{name}: turns a second, {IN_FLIGHT} in flight"), format!("{:.0}", TURNS as f64 / wall), "-"),
        figure(format!("{name}: POST to model's request, p50"), format!("{:.2} ms", milliseconds(0.5)), targets[1]),
        figure(format!("{name}: POST to model's request, p99"), format!("{:.2} ms", milliseconds(0.99)), targets[1]),
        figure(format!("{name}: 64 threads, 500 ms model, wall"), format!("{together:.2} s"), "<= 1.5 s"),
        figure(format!("{name}: memory after {TURNS} turns"), format!("{resident:.1} MB"), "-"),
    ]
}

pub(crate) fn settings(model: std::net::SocketAddr, postgres: Option<&str>, durability: &str) -> Vec<(&'static str, String)> {
    let mut settings = vec![
        ("FRONTDESK__MODEL__BASE_URL", format!("http://{model}/v1")),
        ("FRONTDESK__MODEL__NAME", "bench".to_owned()),
        ("FRONTDESK__LIMITS__TURNS_PER_MINUTE", "1000000".to_owned()),
        ("FRONTDESK__STORE__DURABILITY", durability.to_owned()),
        ("RUST_LOG", "warn".to_owned()),
    ];
    if let Some(url) = postgres {
        settings.push(("FRONTDESK__STORE__URL", url.to_owned()));
    }
    settings
}

/// `turns` turns, each in a thread of its own.
async fn batch(server: &Server, token: &str, name: &str, turns: usize, in_flight: usize) {
    let run = ulid::Ulid::new();
    let lane = |lane: usize| async move {
        let mut turn = lane;
        while turn < turns {
            let marker = format!("{name}-{run}-{turn}");
            post(server, token, &marker, &format!("t-{marker}")).await;
            turn += in_flight;
        }
    };
    let mut lanes: Vec<_> = (0..in_flight).map(|index| Box::pin(lane(index))).collect();
    // A hand-made join: the lanes borrow the server, so that they cannot be spawned.
    std::future::poll_fn(|context| {
        lanes.retain_mut(|lane| lane.as_mut().poll(context).is_pending());
        if lanes.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

async fn post(server: &Server, token: &str, marker: &str, thread: &str) {
    let body = body(marker, thread);
    let (status, answer) = http::send(server.address, "POST", "/v1/agui", Some(token), &body).await.expect("an answer");
    assert!(status == 200 && answer.contains("RUN_FINISHED"), "status {status}: {answer}");
}

pub(crate) fn run_id(marker: &str) -> String {
    format!("r-{marker}")
}

/// A request whose message holds `marker`.
pub(crate) fn body(marker: &str, thread: &str) -> String {
    let body = serde_json::json!({
        "threadId": thread, "runId": run_id(marker), "protocolVersion": "1.0", "state": {}, "tools": [], "context": [],
        "forwardedProps": {}, "messages": [{"id": format!("u-{marker}"), "role": "user", "content": format!("hello #{marker}#")}],
    });
    body.to_string()
}
