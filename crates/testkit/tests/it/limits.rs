//! Bounds: what waits, what is refused, and that a refusal stores nothing.

use serde_json::json;
use testkit::{Asked, Request, World, input, said, wait};

on_both_engines! {
    never_more_runs_at_once_than_allowed
    beyond_the_queue_a_message_is_refused
    ten_turns_a_minute
    sizes_of_input
}

/// Most requests that were being answered at one time.
fn at_once(records: &[Asked]) -> usize {
    let mut edges: Vec<(u64, i32)> = Vec::new();
    for asked in records {
        edges.push((asked.at, 1));
        edges.extend(asked.end.map(|(_, at)| (at, -1)));
    }
    // An end and a begin in the same millisecond are not at once.
    edges.sort_unstable();
    let running = edges.iter().scan(0, |running, (_, step)| {
        *running += step;
        Some(*running)
    });
    usize::try_from(running.max().unwrap_or(0)).unwrap()
}

async fn never_more_runs_at_once_than_allowed(world: World) {
    let server = world.setup.clone().with("limits.concurrent_runs", "2").serve();
    let turns = (0..50).map(|n| {
        let client = server.client(&format!("person-{n}"));
        async move { said(&client.say("t", "r", "m", &format!("[[words 3 delay 5]] {n}")).await) }
    });
    let answers = wait::bounded("fifty answers", futures::future::join_all(turns)).await;
    assert_eq!(answers, vec!["w1 w2 w3"; 50]);
    let records = world.provider.records();
    assert_eq!(records.len(), 50);
    assert!(at_once(&records) <= 2, "{} at once", at_once(&records));
}

async fn beyond_the_queue_a_message_is_refused(world: World) {
    let server = world.setup.clone().with("worker.concurrency", "1").with("limits.queued_runs", "2").serve();
    let person = |n: usize| server.client(&format!("person-{n}"));
    let mut running = person(0).post(&input("t", "r", "m", "[[words 2]][[gate go after 1]]")).await.stream();
    running.until(|item| item.json["delta"] == "w1").await;
    let mut waiting = Vec::new();
    for n in 1..=2 {
        waiting.push(person(n).post(&input("t", "r", "m", "[[say waited]]")).await.stream());
    }
    let refused = person(3).post(&input("t", "r", "m", "x")).await.plain();
    assert_eq!(refused.problem(), (503, "overloaded"));
    assert!(refused.header("retry-after").is_some_and(|seconds| seconds.parse::<u64>().is_ok()), "{refused:?}");
    assert_eq!(person(3).run("r").await.problem().0, 404);
    world.provider.open("go");
    running.rest().await;
    for stream in waiting {
        assert_eq!(said(&stream.rest().await), "waited");
    }
    assert_eq!(said(&person(3).say("t", "r", "m", "[[say now]]").await), "now");
}

async fn ten_turns_a_minute(world: World) {
    let server = world.setup.clone().without("limits.turns_per_minute").serve();
    let ada = server.client("ada");
    for n in 0..10 {
        ada.say(&format!("t{n}"), &format!("r{n}"), "m", "[[say x]]").await;
    }
    let refused = ada.post(&input("t", "r10", "m10", "x")).await.plain();
    assert_eq!(refused.problem(), (429, "rate-limited"));
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    assert_eq!(ada.run("r10").await.problem().0, 404);
    // Joining counts against no limit, and another person has an own one.
    assert_eq!(said(&ada.say("t9", "r9", "m", "[[say x]]").await), "x");
    assert_eq!(said(&server.client("bob").say("t", "r", "m", "[[say x]]").await), "x");
}

async fn sizes_of_input(world: World) {
    let server = world.setup.clone().with("limits.body_bytes", "200000").serve();
    let ada = server.client("ada");
    let much = |bytes: usize| "x".repeat(bytes);
    let refused = ada.post(&input("t", "r", "m", &much(32 * 1024 + 1))).await.plain();
    assert_eq!(refused.problem(), (413, "input-too-large"));
    let refused = ada.post(&input("t", "r", "m", &much(200_000))).await.plain();
    assert_eq!(refused.problem(), (413, "body-too-large"));

    let tool = |n: usize, text: &str| json!({"name": format!("t{n}"), "description": text, "parameters": {"type": "object"}});
    let mut body = input("t", "r", "m", "x");
    body["tools"] = (0..129).map(|n| tool(n, "")).collect();
    let refused = ada.post(&body).await.plain();
    assert!(matches!(refused.problem(), (413, "input-too-large") | (422, "invalid-input")), "{refused:?}");
    body["tools"] = json!([{"name": "t", "description": "", "parameters": {"type": "object", "title": much(70_000)}}]);
    let refused = ada.post(&body).await.plain();
    assert!(matches!(refused.problem(), (413, "input-too-large") | (422, "invalid-input")), "{refused:?}");

    assert_eq!(ada.hydrate("t").await["messages"], json!([]));
    assert!(said(&ada.say("t", "r", "m", &much(32 * 1024)).await).starts_with("You said: xxx"));
    assert_eq!(world.provider.records().len(), 1);
    // A history as clients send it, known rows and all, is no reason to refuse.
    let mut body = input("t", "r2", "m2", "[[say ok]]");
    let known = json!({"id": "m", "role": "user", "content": much(32 * 1024)});
    let rows = body["messages"].as_array_mut().unwrap();
    for _ in 0..3 {
        rows.insert(0, known.clone());
    }
    assert_eq!(said(&ada.post(&body).await.stream().rest().await), "ok");
    let kind = vec![("content-type".to_owned(), "application/json".to_owned())];
    let long = Request { method: "POST", path: "/v1/agui".into(), headers: kind, body: vec![b'x'; 300_000] };
    assert_eq!(ada.ask(long).await.status, 413);
}
