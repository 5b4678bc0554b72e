//! More than one thing happening in a thread: a closed socket, a second tab, a busy thread.

use serde_json::{Value, json};
use testkit::{Client, Plain, Request, Sse, World, input, said, unqueued, wait};

on_both_engines! {
    a_message_after_a_closed_socket_takes_its_place
    an_unattended_run_ends_after_its_time
    a_detached_run_goes_on
    abort_ends_with_the_socket
    a_second_tab_waits_its_turn
    a_busy_thread_can_refuse
    a_busy_thread_can_be_interrupted
    reopening_in_mid_run
    threads_are_listed_renamed_and_read
    deleting_in_mid_run
    deleting_while_another_process_runs
}

/// A run that has said w1 and waits at the gate `go`.
async fn waiting(ada: &Client) -> testkit::Sse {
    let mut stream = ada.post(&input("t", "r1", "m1", "[[words 3]][[gate go after 1]]")).await.stream();
    stream.until(|item| item.json["delta"] == "w1").await;
    stream
}

async fn a_message_after_a_closed_socket_takes_its_place(world: World) {
    let server = world.setup.clone().with("threads.linger_seconds", "2").serve();
    let ada = server.client("ada");
    drop(waiting(&ada).await);
    assert_eq!(said(&ada.say("t", "r2", "m2", "[[say instead]]").await), "instead");
    ada.status("r1", "cancelled").await;
    let expected = ["user: [[words 3]][[gate go after 1]]", "assistant: w1", "user: [[say instead]]", "assistant: instead"];
    assert_eq!(ada.transcript("t").await, expected);
}

async fn an_unattended_run_ends_after_its_time(world: World) {
    let server = world.setup.clone().with("threads.linger_seconds", "1").serve();
    let ada = server.client("ada");
    drop(waiting(&ada).await);
    ada.status("r1", "cancelled").await;
    assert_eq!(ada.transcript("t").await[1], "assistant: w1");
}

async fn a_detached_run_goes_on(world: World) {
    let setup = world.setup.clone().with("threads.on_disconnect", "detach").with("threads.linger_seconds", "1");
    let server = setup.serve();
    let ada = server.client("ada");
    drop(waiting(&ada).await);
    world.provider.open("go");
    ada.status("r1", "completed").await;
    assert_eq!(ada.transcript("t").await[1], "assistant: w1 w2 w3");
}

async fn abort_ends_with_the_socket(world: World) {
    let server = world.setup.clone().with("threads.on_disconnect", "abort").serve();
    let ada = server.client("ada");
    drop(waiting(&ada).await);
    ada.status("r1", "cancelled").await;
    wait::until("the provider's socket to close", async || world.provider.records()[0].end).await;
}

async fn a_second_tab_waits_its_turn(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let first = waiting(&ada).await;
    let mut second = ada.post(&input("t", "r2", "m2", "[[say second]]")).await.stream();
    assert_eq!(second.next().await.unwrap().kind(), "RUN_STARTED");
    let queued = second.next().await.unwrap();
    assert_eq!(queued.json["name"], "frontdesk.queued", "{queued:?}");
    assert!(queued.json["value"]["position"].is_u64(), "{queued:?}");
    assert_eq!(ada.run("r2").await.body["status"], "queued");
    world.provider.open("go");
    assert_eq!(said(&first.rest().await), " w2 w3");
    assert_eq!(said(&second.rest().await), "second");
    let expected = ["user: [[words 3]][[gate go after 1]]", "assistant: w1 w2 w3", "user: [[say second]]", "assistant: second"];
    assert_eq!(ada.transcript("t").await, expected);
    let transcript = world.provider.records()[1].transcript();
    assert_eq!(transcript[..2], expected[..2]);
}

async fn a_busy_thread_can_refuse(world: World) {
    let server = world.setup.clone().with("threads.when_busy", "reject").serve();
    let ada = server.client("ada");
    let first = waiting(&ada).await;
    let refused = ada.post(&input("t", "r2", "m2", "x")).await.plain();
    assert_eq!(refused.problem(), (409, "thread-busy"));
    assert_eq!(ada.run("r2").await.problem().0, 404);
    world.provider.open("go");
    first.rest().await;
    assert_eq!(ada.transcript("t").await.len(), 2);
}

async fn a_busy_thread_can_be_interrupted(world: World) {
    let server = world.setup.clone().with("threads.when_busy", "interrupt").serve();
    let ada = server.client("ada");
    let first = waiting(&ada).await;
    assert_eq!(said(&ada.say("t", "r2", "m2", "[[say instead]]").await), "instead");
    let items = first.rest().await;
    assert_eq!(items.last().unwrap().json["outcome"], json!({"type": "cancelled"}));
}

async fn reopening_in_mid_run(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    ada.say("t", "r0", "m0", "[[say before]]").await;
    let body = input("t", "r1", "m1", "[[words 4]][[gate go after 2]]");
    let mut stream = ada.post(&body).await.stream();
    let mut items = stream.until(|item| item.json["delta"] == " w2").await;

    let hydrated = ada.hydrate("t").await;
    assert_eq!((&hydrated["activeRun"], &hydrated["interrupts"]), (&json!({"runId": "r1"}), &json!(null)));
    let during = ["user: [[say before]]", "assistant: before", "user: [[words 4]][[gate go after 2]]"];
    assert_eq!(testkit::lines(&hydrated["messages"]), during);
    let joined = ada.join("r1", "-1").await.stream();
    world.provider.open("go");
    items.extend(stream.rest().await);
    assert_eq!(unqueued(&joined.rest().await), unqueued(&items));

    let hydrated = ada.hydrate("t").await;
    assert_eq!((&hydrated["activeRun"], &hydrated["interrupts"]), (&json!(null), &json!(null)));
    assert_eq!(testkit::lines(&hydrated["messages"])[3], "assistant: w1 w2 w3 w4");
}

async fn threads_are_listed_renamed_and_read(world: World) {
    let server = world.setup.serve();
    let (ada, bob) = (server.client("ada"), server.client("bob"));
    for thread in ["t1", "t2", "t3"] {
        ada.say(thread, &format!("r {thread}"), "m", "[[say hello]]").await;
    }
    let named = rename(&ada, "t2", &json!({"title": "The blue car", "pinned": true})).await;
    assert_eq!((named.status, &named.body["title"]), (200, &json!("The blue car")));
    assert_eq!(rename(&ada, "t2", &json!({"title": "a\nb"})).await.problem(), (422, "invalid-input"));

    let first = ada.get("/v1/threads?limit=2").await.body;
    let cursor = first["nextCursor"].as_str().unwrap();
    let last = ada.get(&format!("/v1/threads?limit=2&cursor={cursor}")).await.body;
    let items = [first["items"].as_array().unwrap().clone(), last["items"].as_array().unwrap().clone()].concat();
    let listed: Vec<_> = items.iter().map(|item| (item["id"].as_str().unwrap(), item["title"].as_str())).collect();
    assert_eq!(listed, [("t3", None), ("t2", Some("The blue car")), ("t1", None)]);
    assert_eq!(last.get("nextCursor"), None);
    assert_eq!(ada.get("/v1/threads?cursor=nonsense").await.problem(), (400, "invalid-request"));

    let newer = ada.get("/v1/threads/t1/messages?limit=1").await.body;
    assert_eq!(testkit::lines(&newer["items"]), ["assistant: hello"]);
    let older = format!("/v1/threads/t1/messages?limit=1&before={}", newer["nextCursor"].as_str().unwrap());
    assert_eq!(testkit::lines(&ada.get(&older).await.body["items"]), ["user: [[say hello]]"]);

    assert_eq!(bob.get("/v1/threads").await.body, json!({"items": []}));
    for plain in [
        bob.get("/v1/threads/t1").await,
        bob.get("/v1/threads/t1/messages").await,
        rename(&bob, "t1", &json!({"title": "mine"})).await,
        delete(&bob, "t1").await,
    ] {
        assert_eq!(plain.problem(), (404, "not-found"));
    }
    assert_eq!(ada.get("/v1/threads/t1").await.body["messages"], 2);
}

async fn deleting_in_mid_run(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let stream = waiting(&ada).await;
    let mut queued = ada.post(&input("t", "r2", "m2", "[[say second]]")).await.stream();
    queued.until(|item| item.json["name"] == "frontdesk.queued").await;
    assert_eq!(delete(&ada, "t").await.status, 204);
    gone(&world, &ada, [stream, queued]).await;
    // Neither what ran nor what waited comes back, and the names are free.
    assert_eq!(said(&ada.say("t", "r1", "m1", "[[say anew]]").await), "anew");
    assert_eq!(ada.transcript("t").await, ["user: [[say anew]]", "assistant: anew"]);
    assert_eq!(world.provider.records().len(), 2);
}

async fn deleting_while_another_process_runs(world: World) {
    let server = world.setup.serve();
    let other = world.setup.clone().with("worker.concurrency", "0").serve();
    let ada = server.client("ada");
    let stream = waiting(&ada).await;
    let elsewhere = other.client("ada");
    let mut joined = elsewhere.join("r1", "-1").await.stream();
    joined.until(|item| item.json["delta"] == "w1").await;
    assert_eq!(delete(&elsewhere, "t").await.status, 204);
    gone(&world, &ada, [stream, joined]).await;
}

async fn rename(client: &Client, thread: &str, body: &Value) -> Plain {
    client.ask(Request { method: "PATCH", ..Request::post(format!("/v1/threads/{thread}"), body) }).await
}

async fn delete(client: &Client, thread: &str) -> Plain {
    client.ask(Request { method: "DELETE", ..Request::get(format!("/v1/threads/{thread}")) }).await
}

/// Thread `t` was deleted: its readers were told once, the provider's connection closed, nothing is left.
async fn gone(world: &World, ada: &Client, streams: [Sse; 2]) {
    for stream in streams {
        let items = stream.rest().await;
        let ends: Vec<_> = items.iter().filter(|item| item.is_terminal()).map(|item| &item.json["code"]).collect();
        assert_eq!(ends, ["run-not-found"], "{items:#?}");
    }
    wait::until("the provider's socket to close", async || world.provider.records()[0].end).await;
    assert_eq!(delete(ada, "t").await.problem(), (404, "not-found"));
    for run in ["r1", "r2"] {
        assert_eq!(ada.run(run).await.problem().0, 404);
        assert_eq!(ada.join(run, "-1").await.plain().problem().0, 404);
    }
    assert_eq!(ada.get("/v1/threads").await.body, json!({"items": []}));
    assert_eq!(ada.hydrate("t").await, json!({"messages": [], "activeRun": null, "interrupts": null}));
}
