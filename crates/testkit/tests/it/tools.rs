//! The loop of model calls and tool results.

use serde_json::{Value, json};
use testkit::{Item, World, said, story};

on_both_engines! {
    a_tool_is_called_and_its_result_answered
    tools_of_one_step_all_have_results
    bad_arguments_are_told_to_the_model
    a_model_that_never_stops_calling
}

fn results(items: &[Item]) -> Vec<&Value> {
    items.iter().filter(|item| item.kind() == "TOOL_CALL_RESULT").map(|item| &item.json).collect()
}

async fn a_tool_is_called_and_its_result_answered(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let items = ada.say("t", "r", "m", "[[tool whoami {}]]").await;
    let expected = [
        "RUN_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_END",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "TOOL_CALL_RESULT",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
    ];
    assert_eq!(story(&items), expected);
    let start = &items.iter().find(|item| item.kind() == "TOOL_CALL_START").unwrap().json;
    let id = start["toolCallId"].as_str().unwrap();
    assert!(id.starts_with("call_") && id.len() == 31, "{id}");
    assert_eq!(start["toolCallName"], "whoami");
    let anchor = items.iter().find(|item| item.kind() == "TEXT_MESSAGE_START").unwrap();
    assert_eq!(start["parentMessageId"], anchor.json["messageId"]);
    let content = results(&items)[0]["content"].as_str().unwrap();
    assert!(content.contains("ada"), "{content}");
    assert_eq!(said(&items), format!("done: {content}"));

    let asked = world.provider.records();
    assert_eq!(asked.len(), 2);
    let messages = asked[1].messages();
    let call = &messages[messages.len() - 2]["tool_calls"][0];
    let result = &messages[messages.len() - 1];
    assert_eq!(result["tool_call_id"], call["id"]);
    assert_eq!(call["function"], json!({"name": "whoami", "arguments": "{}"}));
    assert_eq!(asked[0].body["tools"], asked[1].body["tools"]);
    // What the next turn sends is whole, too: the strict provider takes it.
    assert_eq!(said(&ada.say("t", "r2", "m2", "[[say fine]]").await), "fine");
}

async fn tools_of_one_step_all_have_results(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let script = "[[say looking]][[tool whoami {}]][[tool clock {}]][[tool nonsense {\"a\": 1}]]";
    let items = ada.say("t", "r", "m", script).await;
    assert!(said(&items).starts_with("lookingdone: "), "{}", said(&items));
    assert_eq!(results(&items).len(), 3);
    let messages = world.provider.records()[1].messages().to_vec();
    let roles: Vec<_> = messages.iter().skip(1).map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "tool"]);
    assert_eq!(items[items.len() - 1].kind(), "RUN_FINISHED");
}

async fn bad_arguments_are_told_to_the_model(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let items = ada.say("t", "r", "m", "[[tool clock raw {\"zone\": ]]").await;
    assert_eq!(items[items.len() - 1].kind(), "RUN_FINISHED", "{items:#?}");
    assert_eq!(results(&items).len(), 1);
    let items = ada.say("t", "r2", "m2", "[[tool clock {\"zone\": 7}]]").await;
    assert_eq!(items[items.len() - 1].kind(), "RUN_FINISHED", "{items:#?}");
    assert_eq!(results(&items).len(), 1);
}

async fn a_model_that_never_stops_calling(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let items = ada.say("t", "r", "m", "[[loop whoami]]").await;
    assert_eq!(items[items.len() - 1].kind(), "RUN_FINISHED");
    assert_eq!(results(&items).len(), 5);
    assert!(said(&items).starts_with("done: "), "{}", said(&items));
    let asked = world.provider.records();
    let choices: Vec<_> = asked.iter().map(|asked| asked.body["tool_choice"].as_str().unwrap_or("auto")).collect();
    assert_eq!(choices, ["auto", "auto", "auto", "auto", "auto", "none"]);
    assert_eq!(asked[0].body["tools"], asked[5].body["tools"]);
}
