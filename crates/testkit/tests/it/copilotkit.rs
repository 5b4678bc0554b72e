//! CopilotKit's runtime on the real binary: a thread shown again, in mid-run too, and stopped by a call.

use serde_json::{Value, json};
use testkit::{Answer, Client, Item, Request, World, input, lines, said, story, unqueued, wait};

on_both_engines! {
    a_page_that_is_reloaded_in_mid_run_sees_all_of_it
    a_stop_ends_the_stream_of_everybody
    a_thread_is_told_to_its_owner_alone
}

async fn call(client: &Client, path: &str, body: &Value) -> Answer {
    let path = format!("/v1/copilotkit{path}");
    wait::bounded(&path, client.open(Request::post(&path, body))).await.unwrap()
}

/// As the client does without a protocol version.
fn legacy(mut input: Value) -> Value {
    input.as_object_mut().unwrap().remove("protocolVersion");
    input
}

async fn run(client: &Client, thread: &str, run: &str, text: &str) -> testkit::Sse {
    call(client, "/agent/default/run", &legacy(input(thread, run, &format!("m-{run}"), text))).await.stream()
}

async fn connect(client: &Client, thread: &str) -> testkit::Sse {
    let asked = legacy(input(thread, "connecting", "local", "not sent yet"));
    call(client, "/agent/default/connect", &asked).await.stream()
}

fn snapshot(items: &[Item]) -> Vec<String> {
    lines(&items.iter().find(|item| item.kind() == "MESSAGES_SNAPSHOT").unwrap().json["messages"])
}

async fn a_page_that_is_reloaded_in_mid_run_sees_all_of_it(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    run(&ada, "t", "r1", "[[say before]]").await.rest().await;
    let mut first = run(&ada, "t", "r2", "[[tool whoami {}]][[then]][[words 4]][[gate go after 2]]").await;
    let mut seen = first.until(|item| item.json["delta"] == " w2").await;
    let mut again = connect(&ada, "t").await;
    let mut told = again.until(|item| item.json["delta"] == " w2").await;
    world.provider.open("go");
    seen.extend(first.rest().await);
    told.extend(again.rest().await);
    assert_eq!(snapshot(&told).len(), 3);
    assert_eq!(snapshot(&told)[..2], ["user: [[say before]]", "assistant: before"]);
    assert_eq!(told[1].kind(), "MESSAGES_SNAPSHOT");
    told.remove(1);
    assert_eq!(unqueued(&told), unqueued(&seen));

    let after = connect(&ada, "t").await.rest().await;
    assert_eq!(story(&after), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    let roles: Vec<_> = after[1].json["messages"].as_array().unwrap().iter().map(|row| row["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "tool", "assistant"]);
    assert_eq!(snapshot(&after)[5], "assistant: w1 w2 w3 w4");
    assert_eq!(world.provider.records().len(), 3);
}

async fn a_stop_ends_the_stream_of_everybody(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let mut first = run(&ada, "t", "r", "[[words 4]][[gate never after 2]]").await;
    first.until(|item| item.json["delta"] == " w2").await;
    let again = connect(&ada, "t").await;
    let stop = json!({"method": "agent/stop", "params": {"agentId": "default", "threadId": "t"}, "body": {"runId": "r"}});
    assert_eq!(call(&server.client("bob"), "", &stop).await.plain().body["stopped"], false);
    let stopped = call(&ada, "", &stop).await.plain();
    assert_eq!((stopped.status, stopped.body), (200, json!({"stopped": true})));
    let told = again.rest().await;
    for end in [first.rest().await.last().unwrap(), told.last().unwrap()] {
        assert_eq!((end.kind(), &end.json["metadata"]["frontdesk"]["status"]), ("RUN_FINISHED", &json!("cancelled")));
        assert_eq!(end.json["outcome"], Value::Null);
    }
    assert_eq!(said(&told), "w1 w2");
    ada.status("r", "cancelled").await;
    assert_eq!(call(&ada, "/agent/default/stop/t", &json!({})).await.plain().body["stopped"], false);
}

async fn a_thread_is_told_to_its_owner_alone(world: World) {
    let server = world.setup.serve();
    run(&server.client("ada"), "t", "r", "[[say secret]]").await.rest().await;
    for client in [server.client("bob"), server.client_of("ada", "other")] {
        let told = connect(&client, "t").await.rest().await;
        assert_eq!(story(&told), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
        assert_eq!(told[1].json["messages"], json!([]));
    }
}
