use serde_json::json;

use crate::world::{Options, World, input};

const TURN: [&str; 6] =
    ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"];

/// Without the CUSTOM events that say more than the protocol needs.
fn story(answer: &crate::world::Answer) -> Vec<String> {
    answer.kinds().into_iter().filter(|kind| kind != "CUSTOM").collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_answered() {
    let world = World::new().await;
    let answer = world.agui(input("t1", "r1", "hello")).await;
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    assert_eq!(story(&answer), TURN);
    let events = answer.events();
    let (first, started) = &events[0];
    assert_eq!((first.as_str(), &started["threadId"], &started["runId"]), ("r1:0.0", &json!("t1"), &json!("r1")));
    let text: String = events.iter().filter_map(|(_, event)| event["delta"].as_str()).collect();
    assert_eq!(text, "You said: hello");
    assert!(!answer.body.contains('\r') && !answer.body.contains("[DONE]") && !answer.body.contains("null"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_run_is_joined_and_another_message_is_refused() {
    let world = World::new().await;
    let first = world.agui(input("t1", "r1", "hello")).await;
    assert_eq!(world.agui(input("t1", "r1", "hello")).await.told(), first.told());
    let mut other = input("t1", "r1", "hello");
    other["messages"][0]["id"] = json!("u-other");
    assert_eq!(world.agui(other).await.problem(), (409, "run-id-in-use".to_owned()));
    assert_eq!(world.agui(input("t2", "r1", "hello")).await.problem(), (409, "run-id-in-use".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_run_id_is_minted() {
    let world = World::new().await;
    let mut body = input("t1", "", "hello");
    body["runId"] = json!(null);
    let answer = world.agui(body).await;
    let run = answer.events()[0].1["runId"].as_str().unwrap().to_owned();
    assert!(run.starts_with("run_") && run.len() == 30, "{run}");
    assert_eq!(world.get(&format!("/v1/runs/{run}")).await.json()["status"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_run_is_refused_before_anything_is_stored() {
    let world = World::with(Options { model: false, ..Options::default() }).await;
    let answer = world.agui(input("t1", "r1", "hello")).await;
    assert_eq!(answer.problem(), (503, "model-unconfigured".to_owned()));
    assert!(answer.header("retry-after").is_some());
    assert_eq!(world.get("/v1/runs/r1").await.problem(), (404, "run-not-found".to_owned()));

    let world = World::with(Options { workers: false, ..Options::default() }).await;
    assert_eq!(world.agui(input("t1", "r1", "hello")).await.problem(), (503, "no-worker".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_is_a_run_error() {
    let world = World::new().await;
    let answer = world.agui(input("t1", "r1", "fail please")).await;
    let events = answer.events();
    let (_, last) = events.last().unwrap();
    assert_eq!((&last["type"], &last["code"]), (&json!("RUN_ERROR"), &json!("model-refused")));
    let run = world.get("/v1/runs/r1").await.json();
    assert_eq!((&run["status"], &run["error"]["code"]), (&json!("failed"), &json!("model-refused")));
    assert_eq!(story(&world.agui(input("t1", "r2", "hello")).await), TURN);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_run_as_the_client_can_read_it() {
    for (version, expected) in
        [(json!("1.0"), json!([{"type": "cancelled"}, "cancelled"])), (json!(null), json!([null, "cancelled"]))]
    {
        let world = World::new().await;
        let mut body = input("t1", "r/1", "wait");
        body["protocolVersion"] = version;
        let stop = async {
            world.until("/v1/runs/r%2F1", axum::http::StatusCode::OK).await;
            world.post("/v1/runs/r%2F1/cancel").await
        };
        let (answer, stopped) = tokio::join!(world.agui(body), stop);
        assert!(matches!(stopped.status.as_u16(), 200 | 202), "{}", stopped.body);
        let events = answer.events();
        let last = &events.last().unwrap().1;
        assert_eq!(json!([last["outcome"], last["metadata"]["frontdesk"]["status"]]), expected, "{last}");
        let again = world.post("/v1/runs/r%2F1/cancel").await;
        assert_eq!((again.status.as_u16(), &again.json()["status"]), (200, &json!("cancelled")));
    }
}
