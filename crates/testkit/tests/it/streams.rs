//! A run read again: from every offset, after its time, slowly.

use serde_json::json;
use testkit::{Engine, World, input, said, script::numbered_text, story, unqueued, wait};

on_both_engines! {
    a_finished_run_is_read_again_from_every_offset
    a_lost_socket_goes_on_where_it_was
    after_its_time_a_stream_is_gone_and_the_answer_is_not
    a_reader_that_stops_reading_holds_nobody_up
    refused_reads
}

async fn a_finished_run_is_read_again_from_every_offset(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let body = input("t", "r:1.2 ü", "m", "[[tool whoami {}]]");
    let items = unqueued(&ada.post(&body).await.stream().rest().await);
    assert!(items.len() > 8);
    for (at, item) in items.iter().enumerate() {
        let id = item.id.as_deref().unwrap();
        // A header carries bytes; the client sends them as they are.
        for answer in [ada.reread(&body, id).await, ada.join("r:1.2 ü", id).await] {
            let mut stream = answer.stream().resumed();
            let mut again = Vec::new();
            while let Some(item) = stream.next().await {
                again.push(item);
            }
            assert_eq!(again, items[at + 1..], "after {id}");
        }
    }
    assert_eq!(ada.join("r:1.2 ü", "-1").await.stream().rest().await, items);
    assert_eq!(ada.post(&body).await.stream().rest().await, items);
    assert_eq!(world.provider.records().len(), 2);
}

async fn a_lost_socket_goes_on_where_it_was(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let body = input("t", "r", "m", "[[words 4]][[gate go after 2]]");
    let mut stream = ada.post(&body).await.stream();
    let items = stream.until(|item| item.json["delta"] == " w2").await;
    drop(stream);
    let again = ada.reread(&body, items.last().unwrap().id.as_deref().unwrap()).await.stream().resumed();
    world.provider.open("go");
    let rest = again.rest().await;
    assert_eq!((story(&rest).len(), said(&rest).as_str()), (3, " w3 w4"), "{rest:#?}");
    ada.status("r", "completed").await;
}

async fn after_its_time_a_stream_is_gone_and_the_answer_is_not(world: World) {
    let server = world.setup.clone().with("streams.retention_seconds", "1").serve();
    let ada = server.client("ada");
    let body = input("t", "r", "m", "[[say kept]]");
    let items = ada.post(&body).await.stream().rest().await;
    let gone = wait::until("the stream to expire", async || match ada.join("r", "-1").await {
        testkit::Answer::Other(plain) => Some(plain),
        testkit::Answer::Stream(_) => None,
    })
    .await;
    assert_eq!(gone.problem(), (410, "stream-expired"));
    let offset = ada.join("r", items[2].id.as_deref().unwrap()).await.plain();
    assert_eq!(offset.problem(), (410, "stream-expired"));
    let again = ada.post(&body).await.stream().rest().await;
    assert_eq!(story(&again), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    let snapshot = &again[1].json["messages"];
    assert_eq!(testkit::lines(snapshot), ["user: [[say kept]]", "assistant: kept"]);
    assert_eq!(ada.transcript("t").await, ["user: [[say kept]]", "assistant: kept"]);
    assert_eq!(world.provider.records().len(), 1);
}

async fn a_reader_that_stops_reading_holds_nobody_up(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    // Some megabytes of events: more than a socket's buffers hold and than a run's log keeps.
    let unread = ada.post(&input("t", "r", "m", "[[words 30000]]")).await.stream();
    ada.status("r", "completed").await;
    let text = numbered_text(30_000);
    assert_eq!(ada.transcript("t").await[1], format!("assistant: {text}"));
    assert_eq!(said(&unread.rest().await), text);
    assert_eq!(said(&ada.join("r", "-1").await.stream().rest().await), text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_stream_is_kept_alive() {
    let world = World::new(Engine::Sqlite).unwrap();
    let server = world.setup.serve();
    let mut stream = server.client("ada").post(&input("t", "r", "m", "[[words 2]][[gate go after 1]]")).await.stream();
    stream.until(|item| item.json["delta"] == "w1").await;
    stream.keepalive().await;
    world.provider.open("go");
    assert_eq!(said(&stream.rest().await), " w2");
}

async fn refused_reads(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    ada.say("t", "r", "m", "[[say x]]").await;
    let no_offset = ada.get("/v1/agui?runId=r").await;
    assert_eq!(no_offset.problem().0, 400);
    assert_eq!(ada.join("unknown", "-1").await.plain().problem(), (404, "run-not-found"));
    assert_eq!(server.client("bob").join("r", "-1").await.plain().problem(), (404, "run-not-found"));
    assert_eq!(ada.join("r", "nonsense").await.plain().problem(), (400, "bad-offset"));
    assert_eq!(ada.join("r", "other:1.1").await.plain().problem(), (400, "bad-offset"));
    let body = input("t", "new", "m2", "x");
    assert_eq!(ada.reread(&body, "memory:v1:new:3").await.plain().problem(), (400, "bad-offset"));
    assert_eq!(ada.reread(&body, "new:1.1").await.plain().problem(), (404, "run-not-found"));
    assert_eq!(ada.run("new").await.problem().0, 404);
    assert_eq!(server.client("bob").run("r").await.problem().0, 404);
    let unknown = ada.hydrate("unknown").await;
    assert_eq!(unknown, json!({"messages": [], "activeRun": null, "interrupts": null}));
    assert_eq!(world.provider.records().len(), 1);
}
