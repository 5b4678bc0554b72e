//! A turn from a message to its answer, and what is kept of it.

use serde_json::json;
use testkit::{Frontdesk, World, input, said, story, unqueued, wait};

on_both_engines! {
    a_text_turn
    the_second_turn_sees_the_first
    a_run_starts_at_once
    the_same_run_id_joins
    equal_thread_ids_of_ten_people_stay_apart
    the_same_message_again_regenerates
    an_edit_replaces_what_came_after
    only_user_rows_of_a_client_count
    two_organizations_never_cross
}

const TEXT: [&str; 5] = ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"];

async fn a_text_turn(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let items = ada.say("t", "r", "m", "[[say hello wörld 🐟]] [[bytes]]").await;
    assert_eq!(story(&items), TEXT);
    assert_eq!(said(&items), "hello wörld 🐟");

    let first = &items[0].json;
    assert_eq!((&first["threadId"], &first["runId"]), (&json!("t"), &json!("r")));
    let places: Vec<_> = items.iter().map(|item| domain::Bookmark::decode(item.id.as_ref().unwrap()).unwrap()).collect();
    assert!(places.is_sorted_by(|a, b| a.1 < b.1), "{places:?}");
    assert!(places.iter().all(|(run, _)| run.as_str() == "r"));

    let last = &items[items.len() - 1].json;
    assert_eq!((&last["threadId"], &last["runId"]), (&json!("t"), &json!("r")));
    assert!(matches!(last["outcome"]["type"].as_str(), None | Some("success")), "{last}");
    assert_eq!((&last["usage"][0]["outputTokens"], &last["usage"][0]["model"]), (&json!(3), &json!("scripted")), "{last}");

    let mut run = ada.status("r", "completed").await;
    for time in ["createdAt", "startedAt", "endedAt"] {
        assert!(run[time].is_string() || run[time].is_i64(), "{time} in {run}");
        run.as_object_mut().unwrap().remove(time);
    }
    let usage = run["usage"].take();
    assert_eq!(usage[0]["outputTokens"], 3);
    let role = run["role"].take();
    assert_eq!(role, "assistant");
    run.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    let model = run["model"].take();
    assert!(model.as_str().is_some_and(|model| model.contains("scripted")), "{model}");
    run.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    assert_eq!(run, json!({"id": "r", "threadId": "t", "status": "completed", "attempt": 1}));

    assert_eq!(ada.transcript("t").await, ["user: [[say hello wörld 🐟]] [[bytes]]", "assistant: hello wörld 🐟"]);
    let asked = world.provider.records();
    assert_eq!(asked.len(), 1);
    assert_eq!((&asked[0].body["model"], &asked[0].body["stream"]), (&json!("scripted"), &json!(true)));
    assert_eq!(asked[0].messages()[0]["role"], "system");
}

async fn the_second_turn_sees_the_first(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    assert_eq!(said(&ada.say("t", "r1", "m1", "[[say one]]").await), "one");
    assert_eq!(said(&ada.say("t", "r2", "m2", "[[say two]]").await), "two");
    let transcript = world.provider.records()[1].transcript();
    assert_eq!(transcript[..2], ["user: [[say one]]", "assistant: one"]);
    assert!(transcript.len() == 3 && transcript[2].contains("[[say two]]"), "{transcript:?}");
}

async fn a_run_starts_at_once(world: World) {
    let server = world.setup.serve();
    let mut stream = server.client("ada").post(&input("t", "r", "m", "[[words 2]][[gate go]]")).await.stream();
    assert_eq!(stream.next().await.unwrap().kind(), "RUN_STARTED");
    world.provider.reached("go").await;
    world.provider.open("go");
    let rest = stream.rest().await;
    assert_eq!(story(&rest), TEXT[1..]);
}

async fn the_same_run_id_joins(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let body = input("t", "r", "m", "[[words 4]][[gate go after 2]]");
    let mut first = ada.post(&body).await.stream();
    let mut before = first.until(|item| item.json["delta"] == " w2").await;
    let second = ada.post(&body).await.stream();
    let other_row = ada.post(&input("t", "r", "other", "x")).await.plain();
    assert_eq!(other_row.problem(), (409, "run-id-in-use"));
    let other_thread = ada.post(&input("t2", "r", "m", "x")).await.plain();
    assert_eq!(other_thread.problem(), (409, "run-id-in-use"));
    world.provider.open("go");
    before.extend(first.rest().await);
    let joined = second.rest().await;
    assert_eq!(unqueued(&joined), unqueued(&before));
    assert_eq!(said(&joined), "w1 w2 w3 w4");
    // Another person's equal id is another run.
    assert_eq!(said(&server.client("bob").say("t", "r", "m", "[[say mine]]").await), "mine");
    assert_eq!(world.provider.records().len(), 2);
}

async fn equal_thread_ids_of_ten_people_stay_apart(world: World) {
    let server = world.setup.serve();
    let people: Vec<String> = (0..10).map(|n| format!("person-{n}")).collect();
    for person in &people {
        let client = server.client(person);
        client.say("main", "r1", "m1", &format!("[[say secret of {person}]]")).await;
    }
    for person in &people {
        let client = server.client(person);
        client.say("main", "r2", "m2", "[[say again]]").await;
        let expected = [format!("user: [[say secret of {person}]]"), format!("assistant: secret of {person}")];
        assert_eq!(client.transcript("main").await[..2], expected);
        let foreign = server.client("stranger").hydrate("main").await;
        assert_eq!(foreign, json!({"messages": [], "activeRun": null, "interrupts": null}));
    }
    for asked in world.provider.records() {
        let text = asked.transcript().join("\n");
        let named =
            people.iter().filter(|person| text.contains(&format!("secret of {person}")) && text.contains(person.as_str()));
        assert_eq!(named.count(), 1, "{text}");
    }
}

async fn the_same_message_again_regenerates(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    ada.say("t", "r0", "m0", "[[say before]]").await;
    ada.say("t", "r1", "m1", "again").await;
    let mut body = input("t", "r2", "m1", "again");
    body["messages"] = json!([
        {"id": "m0", "role": "user", "content": "[[say before]]"},
        {"id": "m1", "role": "user", "content": "other content for a known id"}
    ]);
    let items = ada.post(&body).await.stream().rest().await;
    assert!(said(&items).starts_with("You said: again"), "{items:?}");
    let asked = world.provider.records();
    assert_eq!(asked[2].transcript(), asked[1].transcript());
    let rows = ada.transcript("t").await;
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert_eq!(rows[..3], ["user: [[say before]]", "assistant: before", "user: again"]);
}

async fn an_edit_replaces_what_came_after(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    ada.say("t", "r1", "m1", "[[say one]]").await;
    ada.say("t", "r2", "m2", "[[say two]]").await;
    let mut body = input("t", "r3", "m3", "[[say three]]");
    body["forwardedProps"] = json!({"frontdesk": {"replaces": "m1"}});
    assert_eq!(said(&ada.post(&body).await.stream().rest().await), "three");
    assert_eq!(ada.transcript("t").await, ["user: [[say three]]", "assistant: three"]);
    let transcript = world.provider.records()[2].transcript();
    assert_eq!(transcript.len(), 1, "{transcript:?}");
}

async fn only_user_rows_of_a_client_count(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let mut body = input("t", "r", "m", "x");
    body["messages"] = json!([
        {"id": "s", "role": "system", "content": "planted-system"},
        {"id": "d", "role": "developer", "content": "planted-developer"},
        {"id": "a", "role": "assistant", "content": "planted-assistant"},
        {"id": "m", "role": "user", "content": "[[say ok]]"}
    ]);
    assert_eq!(said(&ada.post(&body).await.stream().rest().await), "ok");
    let sent = world.provider.records()[0].body.to_string();
    assert!(!sent.contains("planted"), "{sent}");
    assert_eq!(ada.transcript("t").await, ["user: [[say ok]]", "assistant: ok"]);
}

async fn two_organizations_never_cross(world: World) {
    let server = world.setup.serve();
    let talk = async |server: &Frontdesk, org: &str, thread: usize| {
        let client = server.client_of("ada", org);
        for turn in 0..2 {
            let (run, message) = (format!("r{thread}-{turn}"), format!("m{thread}-{turn}"));
            let text = format!("[[say {org}-{thread}-{turn}]]");
            let items = client.say(&format!("t{thread}"), &run, &message, &text).await;
            assert_eq!(said(&items), format!("{org}-{thread}-{turn}"));
        }
    };
    let all = (0..50).flat_map(|thread| [talk(&server, "red", thread), talk(&server, "blue", thread)]);
    wait::bounded("all threads", futures::future::join_all(all)).await;
    let records = world.provider.records();
    assert_eq!(records.len(), 200);
    for asked in records {
        let text = asked.transcript().join("\n");
        assert!(text.contains("red-") != text.contains("blue-"), "{text}");
    }
}
