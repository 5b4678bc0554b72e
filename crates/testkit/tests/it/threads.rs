//! More than one thing happening in a thread: a closed socket, a second tab, a busy thread.

use serde_json::json;
use testkit::{Client, World, input, said, unqueued, wait};

on_both_engines! {
    a_message_after_a_closed_socket_takes_its_place
    an_unattended_run_ends_after_its_time
    a_detached_run_goes_on
    abort_ends_with_the_socket
    a_second_tab_waits_its_turn
    a_busy_thread_can_refuse
    a_busy_thread_can_be_interrupted
    reopening_in_mid_run
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
