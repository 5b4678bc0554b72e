//! A run read again: from every offset, after its time, slowly.

use std::collections::HashSet;

use domain::{Bookmark, Event, Verifier};
use serde_json::{Value, json};
use testkit::{Client, Engine, Item, Request, World, input, said, script::numbered_text, story, unqueued, wait};

on_both_engines! {
    a_finished_run_is_read_again_from_every_offset
    a_lost_socket_goes_on_where_it_was
    after_its_time_a_stream_is_gone_and_the_answer_is_not
    a_reader_that_stops_reading_holds_nobody_up
    a_socket_cut_anywhere_in_a_run_that_is_taken_over
    a_run_outlives_the_command_that_waited_for_it
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
    let misspelt = Request::post("/v1/agui", &body).header("frontdesk-disconnect", "detached");
    assert_eq!(ada.ask(misspelt).await.problem(), (400, "invalid-request"));
    assert_eq!(ada.run("new").await.problem().0, 404);
    assert_eq!(server.client("bob").run("r").await.problem().0, 404);
    let unknown = ada.hydrate("unknown").await;
    assert_eq!(unknown, json!({"messages": [], "activeRun": null, "interrupts": null}));
    assert_eq!(world.provider.records().len(), 1);
}

/// A step that is committed, then thoughts and words of which a part is stored when the process dies.
const IN_TEXT: &str = "[[say a]][[tool whoami {}]][[then]][[think b c]][[words 6 delay 300]][[gate go after 7]]";
/// Dies within a call, before anything is stored.
const IN_CALL: &str = "[[think b]][[say a]][[tool whoami {}]][[gate go after 3]][[then]][[say fine]]";

/// The socket breaks after any event of a run whose process dies, as behind a proxy: who comes back by Last-Event-ID has
/// in the end one stream that the strictest client takes, and of it the stored answer.
async fn a_socket_cut_anywhere_in_a_run_that_is_taken_over(world: World) {
    let mut server = world.setup.serve();
    let ada = server.client("ada");
    let bodies = [input("t1", "in text", "m1", IN_TEXT), input("t2", "in call", "m2", IN_CALL)];
    let mut text = ada.post(&bodies[0]).await.stream();
    let in_text = text.until(|item| item.json["delta"] == " w5").await;
    let mut call = ada.post(&bodies[1]).await.stream();
    let in_call = call.until(|item| item.kind() == "TOOL_CALL_ARGS").await;
    server.process.kill();
    drop((text, call));
    let server = world.setup.serve();
    let reading = world.setup.clone().with("worker.concurrency", "0").serve();
    world.provider.open("go");

    // All wait for the next attempt and are led over as it begins.
    let mut open = Vec::new();
    for (body, before) in bodies.iter().zip([&in_text, &in_call]) {
        for cut in 1..=before.len() {
            let from = [&server, &reading][cut % 2].client("ada");
            let rest = from.reread(body, before[cut - 1].id.as_deref().unwrap()).await.stream().resumed();
            open.push((body, before[..cut].to_vec(), rest));
        }
    }
    let ada = reading.client("ada");
    for (body, before, rest) in open {
        let rest = rest.rest().await;
        let whole = [before, rest].concat();
        one_story(&ada, body, whole.clone()).await;
        let bridge = whole.iter().position(is_bridge);
        for cut in 1..whole.len() {
            let again = ada.reread(body, whole[cut - 1].id.as_deref().unwrap()).await.stream().resumed().rest().await;
            // Before the bridge it is sent only what stands by now.
            if bridge.is_some_and(|bridge| cut >= bridge) {
                assert_eq!(again, whole[cut..], "after {:?}", whole[cut - 1]);
            }
            one_story(&ada, body, [whole[..cut].to_vec(), again].concat()).await;
        }
    }
    for run in ["in text", "in call"] {
        assert_eq!(ada.status(run, "completed").await["attempt"], 2);
    }
}

fn is_bridge(item: &Item) -> bool {
    Bookmark::decode(&item.id.as_deref().unwrap().replace("%20", " ")).unwrap().1.bridged > 0
}

/// The events of several responses, doubles dropped by id, are one run's; its texts are those of the transcript.
async fn one_story(ada: &Client, body: &Value, items: Vec<Item>) {
    let mut seen = HashSet::new();
    let mut verifier = Verifier::new();
    let mut texts: Vec<(String, String)> = Vec::new();
    for item in items {
        if !seen.insert(item.id.clone().unwrap()) {
            continue;
        }
        let event: Event = serde_json::from_value(item.json.clone()).unwrap();
        verifier.accept(&event).unwrap_or_else(|error| panic!("{error}: {item:?} of {body}"));
        match event {
            Event::TextMessageStart { message_id, .. } => texts.push((message_id.to_string(), String::new())),
            Event::TextMessageContent { delta, .. } => texts.last_mut().unwrap().1.push_str(&delta),
            Event::Custom { name, value } if name == "frontdesk.superseded" => {
                texts.retain(|(id, _)| !value["messageIds"].as_array().unwrap().iter().any(|gone| gone == id.as_str()));
            }
            _ => {}
        }
    }
    assert!(verifier.is_ended(), "{body}");
    let said: Vec<_> = texts.into_iter().map(|(_, text)| format!("assistant: {text}")).collect();
    let transcript = ada.transcript(body["threadId"].as_str().unwrap()).await;
    let stored: Vec<_> = transcript.into_iter().filter(|line| line.starts_with("assistant: ")).collect();
    assert_eq!(said, stored, "{body}");
}

/// A command that stops waiting is no reader that left: nobody else's run is as old when it is cancelled.
async fn a_run_outlives_the_command_that_waited_for_it(world: World) {
    let server = world.setup.clone().with("threads.linger_seconds", "1").serve();
    let ada = server.client("ada");
    let url = format!("http://{}", server.address);
    let setup = world.setup.clone().variable("FRONTDESK_TOKEN", ada.token.as_deref().unwrap());
    let prompt = "[[words 2]][[gate go after 1]]";
    let ran = setup.run(&["run", "--server", &url, "--thread", "t", "--wait", "1", prompt]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    let mut other = ada.post(&input("t2", "r2", "m2", "[[words 2]][[gate never after 1]]")).await.stream();
    other.until(|item| item.json["delta"] == "w1").await;
    drop(other);
    ada.status("r2", "cancelled").await;
    let run = ada.hydrate("t").await["activeRun"]["runId"].as_str().unwrap().to_owned();
    assert!(ran.stderr.contains(&run), "{}", ran.stderr);
    world.provider.open("go");
    ada.status(&run, "completed").await;
    assert_eq!(ada.transcript("t").await, [format!("user: {prompt}"), "assistant: w1 w2".to_owned()]);
}
