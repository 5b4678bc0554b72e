//! What is left after a process was killed, stopped or told to go.

use serde_json::{Value, json};
use testkit::{Item, World, input, said, scripted::End, story, unqueued, wait};

on_both_engines! {
    a_killed_run_goes_on
    a_kill_before_the_first_frame
    a_committed_step_is_not_asked_again
    a_stopped_server_hands_back
    a_worker_of_its_own
    a_run_of_another_process_is_cancelled
}

/// A run whose frames are stored (another process reads it) goes on for a reader that was there, for one that comes
/// later, and for the other process's reader, who sees it all happen.
async fn a_killed_run_goes_on(world: World) {
    let mut server = world.setup.serve();
    let reading = world.setup.clone().with("worker.concurrency", "0").serve();
    let ada = server.client("ada");
    let body = input("t", "r", "m", "[[words 6]][[gate go after 3]]");
    let mut stream = ada.post(&body).await.stream();
    let items = stream.until(|item| item.json["delta"] == " w3").await;
    let mut beside = reading.client("ada").join("r", "-1").await.stream();
    let mut seen = beside.until(|item| item.json["delta"] == " w3").await;
    server.process.kill();
    drop(stream);
    world.provider.open("go");

    let server = world.setup.serve();
    let ada = server.client("ada");
    assert_eq!(ada.hydrate("t").await["activeRun"], json!({"runId": "r"}));
    let last = items.last().unwrap().id.clone().unwrap();
    let rest = ada.reread(&body, &last).await.stream().resumed().rest().await;
    let fresh = ada.join("r", "-1").await.stream().rest().await;
    let first = items.iter().find(|item| item.kind() == "TEXT_MESSAGE_START").unwrap().json["messageId"].clone();
    taken_over(&items, &rest, &first);
    seen.extend(beside.rest().await);
    let at = seen.iter().position(|item| item.json["delta"] == " w3").unwrap() + 1;
    taken_over(&seen[..at], &seen[at..], &first);

    // One that comes later sees only what stands.
    assert_eq!(said(&fresh), "w1 w2 w3 w4 w5 w6");
    let run = ada.status("r", "completed").await;
    assert_eq!(run["attempt"], 2);
    let expected = ["user: [[words 6]][[gate go after 3]]", "assistant: w1 w2 w3 w4 w5 w6"];
    assert_eq!(ada.transcript("t").await, expected);
    assert_eq!(world.provider.records().len(), 2);
}

/// What a reader had of the first attempt, what it got after: its open text is ended, what it saw is taken back, then
/// the whole second attempt.
fn taken_over(before: &[Item], rest: &[Item], first: &Value) {
    let expected = [
        "TEXT_MESSAGE_END",
        "CUSTOM frontdesk.superseded",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
    ];
    let told: Vec<_> = testkit::kinds(rest).into_iter().filter(|kind| kind != "CUSTOM frontdesk.model").collect();
    assert_eq!(told, expected, "{rest:#?}");
    let taken = rest.iter().find(|item| item.json["name"] == "frontdesk.superseded").unwrap();
    assert_eq!(taken.json["value"], json!({"messageIds": [first]}));
    let ids: Vec<_> =
        before.iter().chain(rest).map(|item| domain::Bookmark::decode(item.id.as_ref().unwrap()).unwrap().1).collect();
    assert!(ids.is_sorted(), "{ids:?}");
    assert_eq!(said(rest), "w1 w2 w3 w4 w5 w6");
}

/// Nothing of the first attempt was stored: what its reader gets is whole all the same.
async fn a_kill_before_the_first_frame(world: World) {
    let mut server = world.setup.serve();
    let body = input("t", "r", "m", "[[words 6]][[gate go after 3]]");
    let mut stream = server.client("ada").post(&body).await.stream();
    let items = stream.until(|item| item.json["delta"] == "w1").await;
    server.process.kill();
    world.provider.open("go");
    let server = world.setup.serve();
    let last = items.last().unwrap().id.clone().unwrap();
    let rest = server.client("ada").reread(&body, &last).await.stream().resumed().rest().await;
    assert_eq!(said(&rest), "w1 w2 w3 w4 w5 w6");
    assert_eq!(rest.iter().filter(|item| item.is_terminal()).count(), 1);
}

async fn a_committed_step_is_not_asked_again(world: World) {
    let mut server = world.setup.serve();
    let ada = server.client("ada");
    let body = input("t", "r", "m", "[[tool whoami {}]][[then]][[words 4]][[gate go after 2]]");
    let mut stream = ada.post(&body).await.stream();
    let before = stream.until(|item| item.json["delta"] == " w2").await;
    server.process.kill();
    drop(stream);
    world.provider.open("go");

    let server = world.setup.serve();
    let ada = server.client("ada");
    let fresh = ada.join("r", "-1").await.stream().rest().await;
    let result = |items: &[Item]| {
        let found: Vec<_> = items.iter().filter(|item| item.kind() == "TOOL_CALL_RESULT").map(|item| item.json.clone()).collect();
        assert_eq!(found.len(), 1);
        found[0].clone()
    };
    assert_eq!(result(&fresh), result(&before), "the committed step stands as it was");
    assert_eq!(said(&fresh), "w1 w2 w3 w4");
    let asked: Vec<_> = world.provider.records().iter().map(|asked| asked.rounds().len()).collect();
    assert_eq!(asked, [0, 1, 1]);
}

async fn a_stopped_server_hands_back(world: World) {
    let setup = world.setup.clone().with("worker.grace_seconds", "1");
    let mut server = setup.serve();
    let ada = server.client("ada");
    let body = input("t", "r", "m", "[[words 4]][[gate go after 2]]");
    let mut stream = ada.post(&body).await.stream();
    stream.until(|item| item.json["delta"] == " w2").await;
    // A turn that ends within the grace is not handed back.
    let mut short = ada.post(&input("t2", "r2", "m2", "[[words 2]][[gate soon after 1]]")).await.stream();
    short.until(|item| item.json["delta"] == "w1").await;
    server.process.terminate();
    world.provider.open("soon");
    let rest = short.rest().await;
    assert_eq!(story(&rest), ["TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"]);
    // The other stream ends without an end of the run: a client reads that as a lost socket.
    while let Ok(Some(item)) = wait::bounded("the stream's end", stream.read()).await {
        assert!(!item.is_terminal(), "{item:?}");
    }
    assert_eq!(server.process.wait().code(), Some(0), "{}", server.process.stderr());

    let server = setup.serve();
    let ada = server.client("ada");
    world.provider.open("go");
    let run = ada.status("r", "completed").await;
    assert_eq!(run["attempt"], 2);
    assert_eq!(ada.transcript("t").await[1], "assistant: w1 w2 w3 w4");
    assert_eq!(ada.run("r2").await.body["status"], "completed");
}

async fn a_worker_of_its_own(world: World) {
    let server = world.setup.clone().with("worker.concurrency", "0").serve();
    let mut worker = world.setup.worker();
    let ada = server.client("ada");
    wait::until("/readyz", async || (ada.get("/readyz").await.status == 200).then_some(())).await;
    let mut stream = ada.post(&input("t", "r", "m", "[[words 4]][[gate go after 2]]")).await.stream();
    // What was said so far comes over while the answer is still being made.
    let mut items = stream.until(|item| item.json["delta"] == " w2").await;
    let joined = ada.join("r", "-1").await.stream();
    world.provider.open("go");
    items.extend(stream.rest().await);
    assert_eq!(said(&items), "w1 w2 w3 w4");
    assert_eq!(unqueued(&joined.rest().await), unqueued(&items));
    worker.terminate();
    assert_eq!(worker.wait().code(), Some(0), "{}", worker.stderr());
    assert_eq!(worker.stdout(), "");
    wait::until("/readyz to say no", async || (ada.get("/readyz").await.status == 503).then_some(())).await;
}

async fn a_run_of_another_process_is_cancelled(world: World) {
    let server = world.setup.clone().with("worker.concurrency", "0").serve();
    let _worker = world.setup.worker();
    let ada = server.client("ada");
    wait::until("/readyz", async || (ada.get("/readyz").await.status == 200).then_some(())).await;
    let mut stream = ada.post(&input("t", "r", "m", "[[words 4]][[gate never after 2]]")).await.stream();
    stream.until(|item| item.json["delta"] == " w2").await;
    assert_eq!(ada.cancel("r").await.status, 202);
    let items = stream.rest().await;
    assert_eq!(items.last().unwrap().json["outcome"], json!({"type": "cancelled"}));
    wait::until("the provider's socket to close", async || world.provider.records()[0].end).await;
    assert_eq!(world.provider.records()[0].end.unwrap().0, End::Left);
    // A closed socket in the server stops the run in the worker, once the next message is there.
    let mut stream = ada.post(&input("t", "r2", "m2", "[[words 4]][[gate never after 1]]")).await.stream();
    stream.until(|item| item.json["delta"] == "w1").await;
    drop(stream);
    assert_eq!(said(&ada.say("t", "r3", "m3", "[[say instead]]").await), "instead");
    ada.status("r2", "cancelled").await;
}
