//! What the model is sent beside the words: screen, parts, history, its own thinking.

use serde_json::{Value, json};
use testkit::{World, input, said, story};

on_both_engines! {
    the_screen_goes_with_the_message_and_not_into_history
    two_turns_share_the_beginning_of_the_request
    old_turns_leave_the_models_view_and_not_the_store
    parts_of_a_message
    thinking_is_shown_before_the_answer
}

async fn the_screen_goes_with_the_message_and_not_into_history(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let mut body = input("t", "r1", "m1", "[[say one]]");
    let long = "x".repeat(9_000);
    body["context"] =
        json!([{"description": "the open page", "value": "Invoices of March"}, {"description": "all", "value": long}]);
    body["forwardedProps"] = json!({"grounding": [{"source": "screen", "facts": ["Row 7 is selected."]}]});
    assert_eq!(said(&ada.post(&body).await.stream().rest().await), "one");
    let mut body = input("t", "r2", "m2", "[[say two]]");
    body["forwardedProps"] = json!({"grounding": "Row 8 is selected."});
    assert_eq!(said(&ada.post(&body).await.stream().rest().await), "two");

    let asked = world.provider.records();
    let sent = |at: usize| asked[at].body["messages"].to_string();
    for part in ["Invoices of March", "Row 7 is selected."] {
        assert!(sent(0).contains(part) && !sent(1).contains(part), "{part}");
    }
    assert!(sent(1).contains("Row 8 is selected."));
    // 4,000 characters over all sources.
    assert!(sent(0).matches('x').count() < 4_100, "{}", sent(0).matches('x').count());
    assert_eq!(asked[0].messages()[0], asked[1].messages()[0], "what the screen shows changes no instruction");
    assert_eq!(ada.transcript("t").await[0], "user: [[say one]]");
}

async fn two_turns_share_the_beginning_of_the_request(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    ada.say("t", "r1", "m1", "[[tool whoami {}]]").await;
    ada.say("t", "r2", "m2", "[[say two]]").await;
    ada.say("t", "r3", "m3", "[[say three]]").await;
    let asked = world.provider.records();
    // Two requests of the first turn, then one each.
    let [_, first, second, third] = asked.as_slice() else { panic!("{} requests", asked.len()) };
    for (before, after) in [(first, second), (second, third)] {
        assert_eq!(before.body["tools"], after.body["tools"]);
        let last = before.messages().iter().rposition(|message| message["role"] == "user").unwrap();
        assert_eq!(before.messages()[..last], after.messages()[..last]);
        // The words themselves come first in their message; only what follows them differs.
        let words = |message: &Value| testkit::scripted::text(&message["content"]);
        let words_after = words(&after.messages()[last]);
        assert!(words(&before.messages()[last]).starts_with(&words_after), "{words_after}");
    }
}

async fn old_turns_leave_the_models_view_and_not_the_store(world: World) {
    let server = world.setup.clone().with("limits.history_messages", "4").serve();
    let ada = server.client("ada");
    for n in 0..5 {
        ada.say("t", &format!("r{n}"), &format!("m{n}"), &format!("[[say answer-{n}]]")).await;
    }
    let asked = world.provider.records();
    let transcript = asked[4].transcript();
    assert!(transcript.len() < 6, "{transcript:?}");
    assert!(transcript[0].starts_with("user: "), "{transcript:?}");
    let sent = asked[4].body.to_string();
    assert!(!sent.contains("answer-0") && sent.contains("answer-3"), "{sent}");
    assert_ne!(asked[4].messages().len(), 0);
    assert_eq!(ada.transcript("t").await.len(), 10);
}

async fn parts_of_a_message(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let mut body = input("t", "r", "m", "x");
    let url = "https://example.com/p.png";
    let image = json!({"type": "image", "source": {"type": "url", "value": url, "mimeType": "image/png"}});
    body["messages"][0]["content"] = json!([{"type": "text", "text": "[[say seen]]"}, image]);
    assert_eq!(said(&ada.post(&body).await.stream().rest().await), "seen");
    let sent = world.provider.records()[0].messages()[1]["content"].clone();
    let found = sent.as_array().unwrap().iter().find(|part| part["type"] == "image_url");
    assert_eq!(found.unwrap()["image_url"]["url"], url);
    let stored = ada.hydrate("t").await["messages"][0]["parts"].clone();
    assert_eq!((&stored[0]["content"], &stored[1]["type"]), (&json!("[[say seen]]"), &json!("image")));
}

async fn thinking_is_shown_before_the_answer(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let items = ada.say("t", "r", "m", "[[think let me see]][[say here]]").await;
    let expected = [
        "RUN_STARTED",
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END",
        "REASONING_END",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
    ];
    assert_eq!(story(&items), expected);
    let deltas = items.iter().filter(|item| item.kind() == "REASONING_MESSAGE_CONTENT");
    assert_eq!(deltas.filter_map(|item| item.json["delta"].as_str()).collect::<String>(), "let me see");
    assert_eq!(said(&items), "here");
    assert_eq!(said(&ada.say("t", "r2", "m2", "[[say fine]]").await), "fine");
}
