//! CopilotKit's runtime as its client calls it.

use axum::{body::Body, http::StatusCode};
use serde_json::{Value, json};

use crate::world::{Answer, Options, World, bounded, input};

const BASE: &str = "/v1/copilotkit";

async fn post(world: &World, path: &str, body: &Value) -> Answer {
    let request = world.request("POST", &format!("{BASE}{path}")).await.header("content-type", "application/json");
    world.send(request.body(Body::from(body.to_string())).unwrap()).await
}

/// The same call at the one address.
async fn call(world: &World, method: &str, thread: Option<&str>, body: Option<&Value>) -> Answer {
    let mut envelope = json!({"method": method, "params": {"agentId": "default"}});
    if let Some(thread) = thread {
        envelope["params"]["threadId"] = json!(thread);
    }
    if let Some(body) = body {
        envelope["body"] = body.clone();
    }
    post(world, "", &envelope).await
}

#[tokio::test(flavor = "multi_thread")]
async fn info_names_the_one_agent() {
    let world = World::new().await;
    let info = world.get(&format!("{BASE}/info")).await;
    let (status, mut body) = (info.status, info.json());
    assert_eq!((status, info.header("cache-control")), (StatusCode::OK, Some("no-store")));
    for version in ["/version", "/agents/default/capabilities/identity/version"] {
        assert_eq!(body.pointer_mut(version).unwrap().take(), env!("CARGO_PKG_VERSION"));
    }
    let mut agent = body["agents"]["default"].take();
    let capabilities = agent["capabilities"].take();
    assert_eq!(body, json!({"version": null, "mode": "sse", "agents": {"default": null}, "telemetryDisabled": true}));
    let description = "Answers in this application, in the role that fits the question.";
    assert_eq!(agent, json!({"name": "default", "description": description, "className": "Frontdesk", "capabilities": null}));
    let limits = domain::Limits::default();
    assert_eq!(capabilities["transport"]["resumable"], true);
    assert_eq!(capabilities["execution"]["maxIterations"], limits.steps);
    assert_eq!(capabilities["execution"]["maxExecutionTime"], limits.deadline_seconds * 1_000);
    assert_eq!(call(&world, "info", None, None).await.body, info.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_asks_who_it_is_and_for_which_agent() {
    let world = World::new().await;
    let body = json!({"threadId": "t", "runId": "r"});
    for (path, body) in [
        ("/agent/default/run", &input("t", "r", "hello")),
        ("/agent/default/connect", &body),
        ("/agent/default/stop/t", &json!({})),
        ("", &json!({"method": "info"})),
    ] {
        let request = |token: String| {
            let request = axum::http::Request::post(format!("{BASE}{path}")).header("content-type", "application/json");
            request.header("authorization", token).body(Body::from(body.to_string())).unwrap()
        };
        let nobody = world.send(request("Bearer no".to_owned())).await;
        assert_eq!(nobody.problem(), (401, "unauthenticated".to_owned()), "{path}");
        let stranger = world.send(request(format!("Bearer {}", world.token("eve").await))).await;
        assert_eq!(stranger.problem(), (403, "not-a-member".to_owned()), "{path}");
    }
    for path in ["/agent/assistant/run", "/agent/assistant/connect", "/agent/assistant/stop/t"] {
        let unknown = post(&world, path, &input("t", "r", "hello")).await;
        assert_eq!(unknown.problem(), (404, "not-found".to_owned()), "{path}");
        assert!(unknown.body.contains("default"), "{}", unknown.body);
    }
    let envelope = json!({"method": "agent/run", "params": {"agentId": "assistant"}, "body": input("t", "r", "hello")});
    assert_eq!(post(&world, "", &envelope).await.problem(), (404, "not-found".to_owned()));
    assert_eq!(world.get("/v1/runs/r").await.problem(), (404, "run-not-found".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_a_run_at_either_address() {
    let world = World::new().await;
    let first = post(&world, "/agent/default/run", &input("t", "r1", "hello")).await;
    let second = call(&world, "agent/run", None, Some(&input("t", "r2", "again"))).await;
    for (answer, run) in [(&first, "r1"), (&second, "r2")] {
        let joined = world.get(&format!("/v1/agui?runId={run}&offset=-1")).await;
        assert_eq!(answer.told(), joined.told());
        assert_eq!(answer.kinds().last().unwrap(), "RUN_FINISHED");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_told_as_one_run() {
    let world = World::new().await;
    let asked = json!({"threadId": "t", "runId": "c", "messages": [{"id": "local", "role": "user", "content": "unsent"}]});
    let nothing = post(&world, "/agent/default/connect", &asked).await;
    assert_eq!(nothing.kinds(), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    assert_eq!(nothing.events()[1].1["messages"], json!([]));

    post(&world, "/agent/default/run", &input("t", "r1", "hello")).await;
    // It ended in an error, which was shown when it happened.
    post(&world, "/agent/default/run", &input("t", "r2", "fail")).await;
    let told = post(&world, "/agent/default/connect", &asked).await;
    let events = told.events();
    assert!(events.iter().all(|(id, _)| id.is_empty()), "{events:?}");
    assert_eq!(events[0].1, json!({"type": "RUN_STARTED", "threadId": "t", "runId": "c"}));
    let rows: Vec<_> = events[1].1["messages"].as_array().unwrap().iter().map(|row| (&row["role"], &row["content"])).collect();
    let (user, assistant) = (json!("user"), json!("assistant"));
    assert_eq!(rows, [(&user, &json!("hello")), (&assistant, &json!("You said: hello")), (&user, &json!("fail"))]);
    assert_eq!(events[2].1, json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "c"}));
    assert_eq!(call(&world, "agent/connect", None, Some(&asked)).await.body, told.body);

    let minted = post(&world, "/agent/default/connect", &json!({"threadId": "t", "runId": null})).await;
    assert!(minted.events()[0].1["runId"].as_str().unwrap().starts_with("connect_"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_active_run_is_joined_and_stopped() {
    let world = World::new().await;
    post(&world, "/agent/default/run", &input("t", "r1", "hello")).await;
    let asked = json!({"threadId": "t", "runId": "c"});
    let waiting = input("t", "r2", "wait");
    let run = post(&world, "/agent/default/run", &waiting);
    let others = async {
        while world.get("/v1/runs/r2").await.json()["status"] != "running" {
            tokio::task::yield_now().await;
        }
        let connect = post(&world, "/agent/default/connect", &asked);
        let stop = async {
            // Another thread's run is not stopped, nor one of that name that is not there.
            let other = post(&world, "/agent/default/stop/other", &json!({"runId": "r2"})).await;
            assert_eq!(other.json()["stopped"], false);
            let unknown = post(&world, "/agent/default/stop/t", &json!({"runId": "r3"})).await;
            assert_eq!(unknown.json()["stopped"], false);
            let stopped = call(&world, "agent/stop", Some("t"), Some(&json!({"runId": "r2"}))).await;
            assert_eq!((stopped.status, stopped.json()), (StatusCode::OK, json!({"stopped": true})));
        };
        tokio::join!(connect, stop).0
    };
    let (run, joined) = Box::pin(bounded(async { tokio::join!(run, others) })).await;
    let events = joined.events();
    let kinds: Vec<_> = events.iter().map(|(_, event)| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[..2], ["RUN_STARTED", "MESSAGES_SNAPSHOT"]);
    assert_eq!((&events[0].1["runId"], kinds.last().unwrap()), (&json!("r2"), &"RUN_FINISHED"));
    let rows: Vec<_> = events[1].1["messages"].as_array().unwrap().iter().map(|row| &row["content"]).collect();
    assert_eq!(rows, ["hello", "You said: hello", "wait"]);
    let mut without = events.clone();
    without.remove(1);
    let dialect = |mut events: Vec<(String, Value)>| {
        let end = events.last_mut().unwrap();
        end.1["outcome"] = Value::Null;
        end.1["metadata"] = Value::Null;
        events
    };
    // This reader is of the older kind: its cancelled run simply finishes.
    assert!(events.last().unwrap().1.get("outcome").is_none());
    assert_eq!(events.last().unwrap().1["metadata"]["frontdesk"]["status"], "cancelled");
    let queued = |events: Vec<(String, Value)>| -> Vec<_> {
        events.into_iter().filter(|(_, event)| event["name"] != "frontdesk.queued").collect()
    };
    assert_eq!(queued(dialect(without)), queued(dialect(run.events())));
    world.until("/v1/runs/r2", StatusCode::OK).await;
    assert_eq!(world.get("/v1/runs/r2").await.json()["status"], "cancelled");
    // Nothing runs any more. A client that knows of no run sends no body.
    let request = world.request("POST", &format!("{BASE}/agent/default/stop/t")).await.header("content-type", "application/json");
    let nothing = world.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!((nothing.status, &nothing.json()["stopped"]), (StatusCode::OK, &json!(false)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_refused() {
    let mut options = Options::default();
    options.settings.body_bytes = 10_000;
    let world = World::with(options).await;
    for (path, body, code) in [
        ("/agent/default/connect", "{", "invalid-json"),
        ("/agent/default/connect", "[]", "invalid-input"),
        ("/agent/default/connect", "{}", "invalid-input"),
        ("/agent/default/connect", r#"{"threadId":""}"#, "invalid-input"),
        ("/agent/default/run", "{}", "invalid-input"),
        ("/agent/default/stop/t", "{", "invalid-json"),
        ("/agent/default/stop/t", r#"{"runId":1}"#, "invalid-input"),
        ("", "{", "invalid-json"),
        ("", "[]", "invalid-input"),
        ("", "{}", "invalid-input"),
        ("", r#"{"method":"transcribe","params":{"agentId":"default"}}"#, "invalid-input"),
        ("", r#"{"method":"agent/run"}"#, "invalid-input"),
        ("", r#"{"method":"agent/run","params":{"agentId":"default"}}"#, "invalid-json"),
        ("", r#"{"method":"agent/stop","params":{"agentId":"default"}}"#, "invalid-input"),
    ] {
        let request = world.request("POST", &format!("{BASE}{path}")).await.header("content-type", "application/json");
        let answer = world.send(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(answer.problem().1, code, "{path} {body}");
    }
    let large = json!({"threadId": "t", "runId": "r", "messages": ["x".repeat(10_000)]});
    for (path, body) in [
        ("/agent/default/run", large.clone()),
        ("/agent/default/connect", large.clone()),
        ("", json!({"method": "agent/run", "params": {"agentId": "default"}, "body": large})),
    ] {
        assert_eq!(post(&world, path, &body).await.problem(), (413, "body-too-large".to_owned()), "{path}");
    }
    let plain = world.request("POST", &format!("{BASE}/agent/default/connect")).await.body(Body::from("{}")).unwrap();
    assert_eq!(world.send(plain).await.problem(), (415, "unsupported-media-type".to_owned()));
}
