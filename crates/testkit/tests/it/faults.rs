//! What a provider does wrong, and what the person sees of it.

use serde_json::json;
use testkit::{Item, World, input, said, scripted::End, wait};

on_both_engines! {
    a_deadline_keeps_what_was_said
    an_error_and_then_a_normal_turn
    a_rate_limit_is_tried_once_more
    a_bad_request_is_never_tried_again
    a_broken_stream_ends_the_run
    an_empty_answer_and_a_cut_one
    a_run_is_cancelled_in_mid_stream
    a_waiting_run_is_cancelled
}

fn end(items: &[Item]) -> &Item {
    items.last().unwrap()
}

async fn a_deadline_keeps_what_was_said(world: World) {
    let server = world.setup.clone().with("limits.deadline_seconds", "1").serve();
    let ada = server.client("ada");
    let items = ada.say("t", "r", "m", "[[words 5]][[hang after 3]]").await;
    assert_eq!((end(&items).kind(), &end(&items).json["code"]), ("RUN_ERROR", &json!("deadline")));
    assert_eq!(said(&items), "w1 w2 w3");
    let run = ada.status("r", "failed").await;
    assert_eq!(run["error"]["code"], "deadline", "{run}");
    assert_eq!(ada.transcript("t").await, ["user: [[words 5]][[hang after 3]]", "assistant: w1 w2 w3"]);
    wait::until("the provider's socket to close", async || world.provider.records()[0].end).await;
    assert_eq!(world.provider.records()[0].end.unwrap().0, End::Left);
    assert_eq!(said(&ada.say("t", "r2", "m2", "[[say fine]]").await), "fine");
}

async fn an_error_and_then_a_normal_turn(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    for (status, requests) in [(401, 1), (500, 1), (429, 2), (503, 2), (529, 2)] {
        let name = format!("e{status}");
        let items = ada.say("t", &name, &name, &format!("[[error {status} retry-after 0]] {name}")).await;
        let error = &end(&items).json;
        assert_eq!((end(&items).kind(), &error["code"]), ("RUN_ERROR", &json!("model-unavailable")), "{status}");
        assert!(!error["message"].as_str().unwrap().contains("scripted refusal"), "{error}");
        assert_eq!(world.provider.asked(&name).len(), requests, "requests after {status}");
        let fine = format!("f{status}");
        assert_eq!(said(&ada.say("t", &fine, &fine, "[[say fine]]").await), "fine", "after {status}");
    }
    let run = ada.status("e500", "failed").await;
    assert_eq!(run["error"]["code"], "model-unavailable");
    let strict = world.provider.records().iter().filter(|asked| matches!(asked.end, Some((End::Strict, _)))).count();
    assert_eq!(strict, 0);
}

async fn a_rate_limit_is_tried_once_more(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    for (run, script) in [("r1", "[[error 429 retry-after 1 times 1]][[say one]]"), ("r2", "[[error 529 times 1]][[say two]]")] {
        let items = ada.say("t", run, run, script).await;
        assert_eq!(end(&items).kind(), "RUN_FINISHED", "{items:#?}");
    }
    let asked = world.provider.asked("times 1");
    assert_eq!(asked.len(), 4);
    assert!(asked[1].at >= asked[0].at + 1000, "Retry-After: 1 was not waited for");
    assert_eq!(ada.transcript("t").await.iter().filter(|line| line.starts_with("assistant")).count(), 2);
}

async fn a_bad_request_is_never_tried_again(world: World) {
    let server = world.setup.serve();
    let items = server.client("ada").say("t", "r", "m", "[[error 400]]").await;
    assert_eq!(end(&items).kind(), "RUN_ERROR");
    assert_eq!(world.provider.records().len(), 1);
}

async fn a_broken_stream_ends_the_run(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let breaks = ["[[words 5]][[cut after 3]]", "[[words 5]][[cut clean after 3]]", "[[words 3]][[error mid]]"];
    for (n, script) in breaks.iter().enumerate() {
        let items = ada.say("t", &format!("r{n}"), &format!("m{n}"), script).await;
        assert_eq!((end(&items).kind(), &end(&items).json["code"]), ("RUN_ERROR", &json!("model-unavailable")), "{script}");
        assert_eq!(said(&items), "w1 w2 w3", "{script}");
        assert_eq!(world.provider.asked(script).len(), 1, "{script}");
    }
    assert_eq!(said(&ada.say("t", "fine", "fine", "[[say fine]]").await), "fine");
    let transcript = ada.transcript("t").await;
    assert_eq!(transcript.iter().filter(|line| *line == "assistant: w1 w2 w3").count(), 3, "{transcript:?}");
}

async fn an_empty_answer_and_a_cut_one(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let items = ada.say("t", "r1", "m1", "[[empty]]").await;
    assert!(end(&items).is_terminal());
    let items = ada.say("t", "r2", "m2", "[[words 3]][[length]]").await;
    assert_eq!((end(&items).kind(), said(&items).as_str()), ("RUN_FINISHED", "w1 w2 w3"));
    assert_eq!(said(&ada.say("t", "r3", "m3", "[[say fine]]").await), "fine");
}

async fn a_run_is_cancelled_in_mid_stream(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let mut stream = ada.post(&input("t", "r", "m", "[[words 5]][[gate never after 3]]")).await.stream();
    let mut items = stream.until(|item| item.json["delta"] == " w3").await;
    let foreign = server.client("bob").cancel("r").await;
    assert_eq!(foreign.problem().0, 404);
    assert_eq!(ada.cancel("r").await.status, 202);
    items.extend(stream.rest().await);
    assert_eq!((end(&items).kind(), &end(&items).json["outcome"]), ("RUN_FINISHED", &json!({"type": "cancelled"})));
    assert_eq!(said(&items), "w1 w2 w3");
    ada.status("r", "cancelled").await;
    let again = ada.cancel("r").await;
    assert_eq!((again.status, &again.body["status"]), (200, &json!("cancelled")));
    wait::until("the provider's socket to close", async || world.provider.records()[0].end).await;
    assert_eq!(world.provider.records()[0].end.unwrap().0, End::Left);
    assert_eq!(ada.transcript("t").await[1], "assistant: w1 w2 w3");

    assert_eq!(said(&ada.say("t", "r2", "m2", "[[say next]]").await), "next");
    let next = world.provider.records()[1].transcript().join("\n");
    assert!(next.contains("assistant: w1 w2 w3"), "{next}");
    // A client of before 1.0 is told in metadata.
    let mut legacy = input("t", "r3", "m3", "[[words 2]][[gate never after 1]]");
    legacy.as_object_mut().unwrap().remove("protocolVersion");
    let mut stream = ada.post(&legacy).await.stream();
    stream.until(|item| item.json["delta"] == "w1").await;
    ada.cancel("r3").await;
    let items = stream.rest().await;
    let last = &end(&items).json;
    assert_eq!((last.get("outcome"), &last["metadata"]["frontdesk"]["status"]), (None, &json!("cancelled")));
}

async fn a_waiting_run_is_cancelled(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let mut first = ada.post(&input("t", "r1", "m1", "[[words 2]][[gate go after 1]]")).await.stream();
    first.until(|item| item.json["delta"] == "w1").await;
    let second = ada.post(&input("t", "r2", "m2", "[[say never]]")).await.stream();
    let outcome = ada.cancel("r2").await;
    assert_eq!((outcome.status, &outcome.body["status"]), (200, &json!("cancelled")));
    let items = second.rest().await;
    assert_eq!(end(&items).json["outcome"], json!({"type": "cancelled"}));
    world.provider.open("go");
    assert_eq!(said(&first.rest().await), " w2");
    assert_eq!(world.provider.records().len(), 1);
}
