use axum::body::Body;
use serde_json::json;

use crate::world::{World, input};

#[tokio::test(flavor = "multi_thread")]
async fn a_run_tells_where_it_is() {
    let world = World::new().await;
    world.agui(input("t1", "r1", "hello")).await;
    let run = world.get("/v1/runs/r1").await.json();
    assert_eq!(
        (&run["id"], &run["threadId"], &run["status"], &run["attempt"]),
        (&json!("r1"), &json!("t1"), &json!("completed"), &json!(1))
    );
    assert_eq!(run["usage"], json!([{"provider": "scripted", "model": "echo", "inputTokens": 5, "outputTokens": 3}]));
    for time in ["createdAt", "startedAt", "endedAt"] {
        assert!(run[time].as_str().unwrap().ends_with('Z'), "{run}");
    }
    assert!(run.get("error").is_none() && run.get("parentRunId").is_none());
    assert_eq!(world.get("/v1/runs/r2").await.problem(), (404, "run-not-found".to_owned()));
    assert_eq!(world.post("/v1/runs/r2/cancel").await.problem(), (404, "run-not-found".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_read_again_from_any_place() {
    let world = World::new().await;
    let first = world.agui(input("t1", "r 1", "hello")).await;
    let events = first.events();
    assert!(events.iter().all(|(id, _)| id.starts_with("r%201:")), "{events:?}");
    let all = world.get("/v1/agui?offset=-1&runId=r%201").await;
    assert_eq!(all.told(), first.told());
    for (place, (id, _)) in events.iter().enumerate() {
        let rest = &events[place + 1..];
        let query = format!("/v1/agui?runId=r%201&offset={}", id.replace('%', "%25"));
        assert_eq!(world.get(&query).await.events(), rest, "after {id}");
        let again = world.request("POST", "/v1/agui").await.header("last-event-id", id);
        assert_eq!(world.send(again.body(Body::from("anything")).unwrap()).await.events(), rest, "after {id}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_events_are_gone_is_told_from_the_transcript() {
    let world = World::new().await;
    let first = world.agui(input("t1", "r1", "hello")).await;
    let reply = first.events().iter().find_map(|(_, event)| event["messageId"].as_str().map(str::to_owned)).unwrap();
    world.agui(input("t1", "r2", "fail")).await;
    let mut tx = world.store.begin().await.unwrap();
    tx.execute("DELETE FROM frames", &[]).await.unwrap();
    tx.commit().await.unwrap();

    for query in ["?runId=r1&offset=-1", "?runId=r1&offset=r1:1.1"] {
        let answer = world.get(&format!("/v1/agui{query}")).await;
        assert_eq!(answer.problem(), (410, "stream-expired".to_owned()), "{query}");
        let head = world.request("HEAD", &format!("/v1/agui{query}")).await.body(Body::empty()).unwrap();
        assert_eq!(world.send(head).await.status, 410, "{query}");
    }
    let again = world.agui(input("t1", "r1", "hello")).await;
    let events = again.events();
    assert!(events.iter().all(|(id, _)| id.is_empty()));
    assert_eq!(again.kinds(), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    let rows = events[1].1["messages"].as_array().unwrap();
    assert_eq!(
        rows[..2],
        [
            json!({"id": "u-r1", "role": "user", "content": "hello"}),
            json!({"id": reply, "role": "assistant", "content": "You said: hello"})
        ]
    );
    let failed = world.agui(input("t1", "r2", "fail")).await;
    assert_eq!(failed.kinds(), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_ERROR"]);
    assert_eq!(failed.events()[2].1["code"], "model-refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn places_that_are_not_ours_are_refused() {
    let world = World::new().await;
    world.agui(input("t1", "r1", "hello")).await;
    for (query, expected) in [
        ("", (400, "invalid-request")),
        ("?runId=r1", (400, "bad-offset")),
        ("?runId=r1&offset=", (400, "bad-offset")),
        ("?runId=r1&offset=memory:v1:r1:3", (400, "bad-offset")),
        ("?runId=r1&offset=r2:1.1", (400, "bad-offset")),
        ("?runId=r2&offset=-1", (404, "run-not-found")),
        ("?runId=r2&offset=r2:1.1", (404, "run-not-found")),
        ("?threadId=", (400, "invalid-request")),
        ("?threadId=t&limit=0", (400, "invalid-request")),
    ] {
        let problem = world.get(&format!("/v1/agui{query}")).await.problem();
        assert_eq!(problem, (expected.0, expected.1.to_owned()), "{query}");
    }
    for (place, expected) in
        [("memory:v1:r:3", (400, "bad-offset")), ("-1", (400, "bad-offset")), ("r2:1.1", (404, "run-not-found"))]
    {
        let again = world.request("POST", "/v1/agui").await.header("last-event-id", place);
        let problem = world.send(again.body(Body::from(input("t9", "r2", "x").to_string())).unwrap()).await.problem();
        assert_eq!(problem, (expected.0, expected.1.to_owned()), "{place}");
    }
    assert_eq!(world.get("/v1/agui?threadId=t9").await.json()["messages"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_reopened() {
    let world = World::new().await;
    let answer = world.agui(input("t1", "r1", "hello")).await;
    let events = answer.events();
    let reply = events.iter().find_map(|(_, event)| event["messageId"].as_str()).unwrap();
    assert_eq!(
        world.get("/v1/agui?threadId=t1").await.json(),
        json!({"messages": [
            {"id": "u-r1", "role": "user", "parts": [{"type": "text", "content": "hello"}]},
            {"id": reply, "role": "assistant", "parts": [{"type": "text", "content": "You said: hello"}]},
        ], "activeRun": null, "interrupts": null})
    );
    let page = world.get("/v1/agui?threadId=t1&limit=1").await.json();
    assert_eq!((&page["messages"][0]["id"], &page["page"]), (&json!(reply), &json!({"truncated": true, "cursor": reply})));
    let older = world.get(&format!("/v1/agui?threadId=t1&limit=1&before={reply}")).await.json();
    assert_eq!((&older["messages"][0]["id"], &older["page"]), (&json!("u-r1"), &json!({"truncated": false})));
    let empty = json!({"messages": [], "activeRun": null, "interrupts": null});
    assert_eq!(world.get("/v1/agui?threadId=unknown").await.json(), empty);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_reopened_in_mid_run_names_the_run() {
    let world = World::new().await;
    let reopen = async {
        world.until("/v1/runs/r1", axum::http::StatusCode::OK).await;
        let seen = world.get("/v1/agui?threadId=t1").await.json();
        let head = world.send(world.request("HEAD", "/v1/agui?runId=r1&offset=-1").await.body(Body::empty()).unwrap()).await;
        world.post("/v1/runs/r1/cancel").await;
        (seen, head)
    };
    let (_, (seen, head)) = tokio::join!(world.agui(input("t1", "r1", "wait")), reopen);
    assert_eq!(
        seen,
        json!({"messages": [{"id": "u-r1", "role": "user", "parts": [{"type": "text", "content": "wait"}]}],
               "activeRun": {"runId": "r1"}, "interrupts": null})
    );
    assert_eq!((head.status.as_u16(), head.body.as_str()), (200, ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn health_and_readiness() {
    let world = World::new().await;
    assert_eq!(world.get("/healthz").await.body, "ok");
    assert_eq!(
        world.get("/readyz").await.json(),
        json!({"status": "ready", "checks": {"database": "ok", "migrations": "ok", "workers": "ok", "model": "ok"}})
    );
    let options = crate::world::Options { workers: false, model: false, ..Default::default() };
    let world = World::with(options).await;
    let answer = world.get("/readyz").await;
    assert_eq!(answer.status.as_u16(), 503);
    assert_eq!(answer.json()["checks"]["workers"], "none");
    assert_eq!(answer.json()["checks"]["model"], "unconfigured");
}
