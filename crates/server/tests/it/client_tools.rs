//! Tools that run in the client: how their calls are said, and what of their results comes in.

use axum::http::StatusCode;
use domain::{ClientToolStyle, OrgId, UserId};
use serde_json::{Value, json};
use server::Settings;

use crate::world::{Answer, Options, World, input};

/// A turn of run `r1` that mounts the tools it calls.
fn asking(tools: &[&str]) -> Value {
    let mut body = input("t1", "r1", &format!("call {}", tools.join(" ")));
    body["tools"] = tools.iter().map(|name| json!({"name": name, "description": "d", "parameters": {}})).collect();
    body
}

/// What a client sends once the calls of `first` are answered: its history, and these rows.
fn going_on(first: &Value, run: &str, rows: Value) -> Value {
    let mut body = first.clone();
    body["runId"] = json!(run);
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"id": "a", "role": "assistant", "content": ""}));
    messages.extend(rows.as_array().unwrap().iter().cloned());
    body
}

fn result(call: &str, content: &str) -> Value {
    json!({"id": format!("tool-{call}"), "role": "tool", "toolCallId": call, "content": content})
}

fn calls(answer: &Answer) -> Vec<String> {
    let started = answer.events().into_iter().filter(|(_, event)| event["type"] == "TOOL_CALL_START");
    started.map(|(_, event)| event["toolCallId"].as_str().unwrap().to_owned()).collect()
}

fn last(answer: &Answer) -> Value {
    answer.events().last().unwrap().1.clone()
}

fn said(answer: &Answer) -> String {
    answer
        .events()
        .iter()
        .filter(|(_, event)| event["type"] == "TEXT_MESSAGE_CONTENT")
        .filter_map(|(_, event)| event["delta"].as_str().map(str::to_owned))
        .collect()
}

async fn interrupting() -> World {
    let options = Options::default();
    let settings = Settings { client_tools: ClientToolStyle::Interrupt, ..options.settings };
    World::with(Options { settings, ..options }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_universal_pattern_for_every_generation() {
    for version in [json!("1.0"), json!(null)] {
        let world = World::new().await;
        let mut body = asking(&["here", "there"]);
        body["protocolVersion"] = version.clone();
        let first = world.tanstack(body.clone()).await;
        let calls = calls(&first);
        let customs: Vec<_> = first.events().into_iter().filter(|(_, event)| event["name"] == "tool-input-available").collect();
        let values: Vec<_> = customs.iter().map(|(_, event)| &event["value"]).collect();
        assert_eq!(
            values,
            [
                &json!({"toolCallId": calls[0], "toolName": "here", "input": {}}),
                &json!({"toolCallId": calls[1], "toolName": "there", "input": {}}),
            ]
        );
        let end = last(&first);
        let pending = json!({"type": "success", "pendingToolCallIds": calls});
        assert_eq!((&end["type"], end.get("outcome")), (&json!("RUN_FINISHED"), Some(&pending).filter(|_| version == "1.0")));
        assert_eq!(world.get("/v1/runs/r1").await.json()["status"], "interrupted");
        assert_eq!(world.get("/v1/agui?threadId=t1").await.json()["interrupts"], json!(null));

        // A part of it: the run ends at once and lists what is still open.
        let part = world.agui(going_on(&body, "r2", json!([result(&calls[0], "1")]))).await;
        assert_eq!(part.kinds(), ["RUN_STARTED", "RUN_FINISHED"], "it waits for nobody");
        let rest = json!({"type": "success", "pendingToolCallIds": [calls[1]]});
        assert_eq!(last(&part).get("outcome"), Some(&rest).filter(|_| version == "1.0"));
        let whole = going_on(&body, "r3", json!([result(&calls[0], "1"), result(&calls[1], "2")]));
        let whole = world.agui(whole).await;
        assert_eq!(said(&whole), "got: 1 | 2");
        assert_eq!(world.get("/v1/runs/r3").await.json()["parentRunId"], "r1");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_only_for_who_reads_it() {
    let world = interrupting().await;
    let body = asking(&["here"]);
    let universal = world.agui(body.clone()).await;
    assert_eq!(last(&universal)["outcome"]["type"], "success");

    let world = interrupting().await;
    let first = world.tanstack(body.clone()).await;
    let call = calls(&first).remove(0);
    let end = last(&first);
    let interrupt = &end["outcome"]["interrupts"][0];
    let id = format!("client_tool_{call}");
    assert_eq!(
        (&end["outcome"]["type"], &interrupt["id"], &interrupt["toolCallId"]),
        (&json!("interrupt"), &json!(id), &json!(call))
    );
    assert_eq!(interrupt["metadata"]["tanstack:interruptBinding"]["interruptedRunId"], "r1");
    assert!(!first.body.contains("tool-input-available"), "{}", first.body);
    let seen = world.get("/v1/agui?threadId=t1").await.json();
    assert_eq!((&seen["interrupts"], &seen["activeRun"]), (&json!({"runId": "r1", "pending": [interrupt]}), &json!(null)));

    let mut answer = body.clone();
    answer["runId"] = json!("r2");
    answer["resume"] = json!([{"interruptId": id, "status": "resolved", "payload": {"lat": 1}}]);
    let second = world.tanstack(answer).await;
    assert_eq!(said(&second), "got: {\"lat\":1}");
    let results: Vec<_> = second.events().into_iter().filter(|(_, event)| event["type"] == "TOOL_CALL_RESULT").collect();
    assert_eq!((results.len(), &results[0].1["toolCallId"]), (1, &json!(call)));
    let seen = world.get("/v1/agui?threadId=t1").await.json();
    assert_eq!((&seen["interrupts"], seen["messages"].as_array().unwrap().len()), (&json!(null), 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_cannot_be_taken_are_a_run_that_fails_and_leave_nothing() {
    let world = interrupting().await;
    let body = asking(&["here", "there"]);
    let ids: Vec<_> = calls(&world.tanstack(body.clone()).await).iter().map(|call| format!("client_tool_{call}")).collect();
    let answering = |run: &str, resume: Value| {
        let mut body = going_on(&body, run, json!([]));
        body["resume"] = resume;
        body
    };
    let resolved = |id: &str, payload: i64| json!({"interruptId": id, "status": "resolved", "payload": payload});
    let unknown = format!("client_tool_call_{}", "0".repeat(26));
    for (run, resume, code, scope) in [
        ("f1", json!([resolved(&ids[0], 1)]), "incomplete-batch", json!(["batch"])),
        ("f2", json!([resolved(&ids[0], 1), resolved(&ids[1], 2), resolved(&unknown, 3)]), "unknown-interrupt", json!(["item"])),
        ("f3", json!([resolved("approval_x", 1)]), "unknown-interrupt", json!(["item"])),
    ] {
        let answer = world.tanstack(answering(run, resume)).await;
        assert_eq!(answer.kinds(), ["RUN_STARTED", "RUN_ERROR"]);
        let (start, end) = (answer.events()[0].1.clone(), last(&answer));
        assert_eq!((&start["runId"], &start["threadId"], &end["code"]), (&json!(run), &json!("t1"), &json!(code)));
        let errors = end["metadata"]["tanstack"]["interruptErrors"].as_array().unwrap();
        assert_eq!(errors.iter().map(|error| error["scope"].clone()).collect::<Value>(), scope);
        assert_eq!(world.get(&format!("/v1/runs/{run}")).await.problem(), (404, "run-not-found".to_owned()));
    }
    let all = json!([resolved(&ids[0], 1), resolved(&ids[1], 2)]);
    let taken = world.tanstack(answering("r2", all.clone())).await;
    assert_eq!(said(&taken), "got: 1 | 2");
    let other = world.tanstack(answering("f4", json!([resolved(&ids[0], 1), resolved(&ids[1], 7)]))).await;
    assert_eq!(last(&other)["code"], "conflict");
    assert_eq!(last(&other)["metadata"]["tanstack"]["interruptErrors"][0]["interruptedRunId"], "r1");

    // The same answers again: the same events, under the id of who asks, at the places of the run that took them.
    let again = world.tanstack(answering("r3", all)).await;
    assert_eq!((&again.events()[0].1["runId"], &last(&again)["runId"]), (&json!("r3"), &json!("r3")));
    assert_eq!(again.told().replace(r#""runId":"r3""#, r#""runId":"r2""#), taken.told());
    let place = again.events()[1].0.clone();
    assert!(place.starts_with("r2:"), "{place}");
    let back = world.request("POST", "/v1/agui").await.header("last-event-id", place).header("x-run-id", "r3");
    let back = world.send(back.body(axum::body::Body::from("{}")).unwrap()).await;
    assert_eq!(back.events(), again.events()[2..]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_makes_no_run_joins_the_one_of_its_id() {
    let world = World::new().await;
    let first = world.agui(input("t1", "r1", "hello")).await;
    let with = |rows: Value| {
        let mut body = input("t1", "r1", "hello");
        body["messages"] = rows;
        body
    };
    let user = json!({"id": "u-r1", "role": "user", "content": "hello"});
    for rows in [
        json!([]),
        json!([user, {"id": "a", "role": "assistant", "content": "You said: hello"}]),
        json!([{"id": "u-r1", "role": "user", "content": {}}]),
        json!("none"),
    ] {
        assert_eq!(world.agui(with(rows.clone())).await.told(), first.told(), "{rows}");
    }
    let other = with(json!([{"id": "u-other", "role": "user", "content": {}}]));
    assert_eq!(world.agui(other).await.problem(), (422, "invalid-input".to_owned()));
    let mut fresh = with(json!([]));
    fresh["runId"] = json!("r2");
    assert_eq!(world.agui(fresh).await.problem(), (422, "invalid-input".to_owned()));
    // Who is no member any more joins nothing.
    let (org, user) = (OrgId::parse("acme").unwrap(), UserId::parse("ada").unwrap());
    world.store.remove_user(&org, &user).await.unwrap();
    assert_eq!(world.agui(with(json!([]))).await.problem(), (403, "not-a-member".to_owned()));
    assert_eq!(world.agui(input("t1", "r1", "hello")).await.problem(), (403, "not-a-member".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_events_are_gone_still_says_what_it_waits_for() {
    for (settings, outcome) in [(ClientToolStyle::Universal, "success"), (ClientToolStyle::Interrupt, "interrupt")] {
        let options = Options::default();
        let settings = Settings { client_tools: settings, ..options.settings };
        let world = World::with(Options { settings, ..options }).await;
        let body = asking(&["here"]);
        let first = world.tanstack(body.clone()).await;
        let mut tx = world.store.begin().await.unwrap();
        tx.execute("DELETE FROM frames", &[]).await.unwrap();
        tx.commit().await.unwrap();
        let again = world.tanstack(body.clone()).await;
        assert_eq!(again.kinds(), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
        assert_eq!((&last(&again)["outcome"]["type"], &last(&again)["outcome"]), (&json!(outcome), &last(&first)["outcome"]));
        world.post("/v1/runs/r1/cancel").await;
        assert_eq!(last(&world.tanstack(body).await)["outcome"], json!({"type": "cancelled"}));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_nobody_waits_for_makes_no_run() {
    let world = World::new().await;
    world.agui(input("t1", "r1", "hello")).await;
    let body = going_on(&input("t1", "r1", "hello"), "r2", json!([result(&format!("call_{}", "0".repeat(26)), "1")]));
    let answer = world.agui(body).await;
    assert_eq!((answer.status, answer.problem().1.as_str()), (StatusCode::UNPROCESSABLE_ENTITY, "invalid-input"));
}
