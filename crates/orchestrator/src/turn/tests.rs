#![allow(clippy::unwrap_used)]

mod bench;
mod client_tools;

use domain::{Bundle, CancelReason, ChatEvent, ChatMessage, ModelError, Part, RoleName, RunKey, RunStatus};
use serde_json::{Value, json};

use self::bench::{Act, Bench, call, done, says, text};
use super::*;
use crate::Roster;

fn user(parts: &[&str]) -> ChatMessage {
    ChatMessage::User { parts: parts.iter().map(|&text| Part::Text { text: text.to_owned() }).collect() }
}

fn answered(text: &str) -> ChatMessage {
    ChatMessage::Assistant { text: text.to_owned(), reasoning: None, tool_calls: Vec::new() }
}

const CONTEXT: &str = "<context>\nIt is Monday, 2026-11-30, 19:27 in the time zone UTC.\n</context>";

#[tokio::test]
async fn a_plain_turn_as_a_whole() {
    let bench = Bench::new().await;
    bench.script([vec![Act::Say(text("Hel")), Act::Say(text("lo")), done(FinishReason::Stop)]]);
    let end = bench.say("hi").await;

    let mut request = bench.requests().remove(0);
    request.timeout = Duration::ZERO;
    let expected = ChatRequest {
        identity: RunIdentity {
            org: bench.principal.org.clone(),
            user: bench.principal.user.clone(),
            thread: bench.thread.clone(),
            run: domain::RunId::parse("r1").unwrap(),
            key: RunKey::parse(&end.key).unwrap(),
            attempt: 1,
            step: 1,
            parent_run: None,
            resume: Vec::new(),
            state: Some(json!({"tab": 1})),
        },
        system: include_str!("../../prompts/assistant.md").trim_end().to_owned(),
        messages: vec![user(&["hi", CONTEXT])],
        tools: offered(&bench),
        tool_choice: ToolChoice::Auto,
        max_output_tokens: 2_048,
        effort: Effort::Medium,
        timeout: Duration::ZERO,
    };
    assert_eq!(request, expected);
    let names: Vec<_> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["clock", "whoami"]);

    assert_eq!(
        end.events,
        [
            json!({"type": "CUSTOM", "name": "frontdesk.model", "value": {"provider": "test", "model": "m-1"}}),
            json!({"type": "TEXT_MESSAGE_START", "messageId": "m#1", "role": "assistant"}),
            json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m#1", "delta": "Hel"}),
            json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m#1", "delta": "lo"}),
            json!({"type": "TEXT_MESSAGE_END", "messageId": "m#1"}),
            json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r1",
                "usage": [{"provider": "test", "model": "m-1", "inputTokens": 10, "outputTokens": 2}],
                "metadata": {"tanstack": {"finishReason": "stop", "model": "m-1"}}}),
        ]
    );
    assert_eq!(end.record.status, RunStatus::Completed);
    assert_eq!(end.record.model.as_deref(), Some("m-1"));
    assert_eq!(end.record.steps, 1);
    assert_eq!(
        end.record.decision,
        Some(Decision {
            role: RoleName::parse("assistant").unwrap(),
            tier: Effort::Medium,
            in_scope: true,
            bundle: Bundle::OwnData,
            degraded: false,
            facts: serde_json::Map::new(),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            roster_version: Roster::builtin().version().to_owned(),
        })
    );
    assert_eq!(end.transcript, ["user: hi", "assistant: Hello"]);
    assert_eq!(end.ledger, ["1 test m-1 ok"]);
}

#[tokio::test]
async fn two_turns_share_the_requests_prefix() {
    let bench = Bench::new().await;
    bench.script([says("one"), says("two")]);
    bench.say("a").await;
    bench.say("b").await;
    let requests = bench.requests();
    assert_eq!(requests[0].system, requests[1].system);
    assert_eq!(requests[0].tools, requests[1].tools);
    assert_eq!(requests[1].messages, [user(&["a"]), answered("one"), user(&["b", CONTEXT])]);
}

#[tokio::test]
async fn calls_hang_on_a_text_and_text_after_results_is_a_new_message() {
    let bench = Bench::new().await;
    bench.script([
        vec![
            Act::Say(ChatEvent::Reasoning("hm".to_owned())),
            Act::Say(call(0, "whoami")),
            Act::Say(ChatEvent::ToolArguments { index: 0, delta: "{}".to_owned() }),
            Act::Say(call(1, "nope\n")),
            Act::Say(call(2, "clock")),
            Act::Say(ChatEvent::ToolArguments { index: 2, delta: "{\"zone\":".to_owned() }),
            done(FinishReason::ToolCalls),
        ],
        says("You are Ada."),
    ]);
    let end = bench.say("who am I?").await;
    let kinds: Vec<_> = end.events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        kinds,
        [
            "CUSTOM",
            "REASONING_START",
            "REASONING_MESSAGE_START",
            "REASONING_MESSAGE_CONTENT",
            "REASONING_MESSAGE_END",
            "REASONING_END",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_END",
            "TOOL_CALL_START",
            "TOOL_CALL_ARGS",
            "TOOL_CALL_START",
            "TOOL_CALL_START",
            "TOOL_CALL_ARGS",
            "TOOL_CALL_END",
            "TOOL_CALL_ARGS",
            "TOOL_CALL_END",
            "TOOL_CALL_END",
            "TOOL_CALL_RESULT",
            "TOOL_CALL_RESULT",
            "TOOL_CALL_RESULT",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            "RUN_FINISHED",
        ]
    );
    let anchor = &end.events[6]["messageId"];
    assert_eq!(end.events[8]["parentMessageId"], *anchor);
    assert_ne!(end.events[20]["messageId"], *anchor);
    assert_eq!(
        end.transcript,
        [
            "user: who am I?",
            "assistant:  whoami({}) nope_({}) clock({\"zone\":)",
            "tool: {\"channel\":\"web\",\"name\":\"Ada\",\"organization\":\"acme\",\"user\":\"ada\"}",
            "tool error: {\"error\":\"There is no tool \\\"nope_\\\". The tools are: clock, whoami.\"}",
            "tool error: {\"error\":\"the arguments are not valid JSON: EOF while parsing a value at line 1 column 8\"}",
            "assistant: You are Ada.",
        ]
    );
    assert_eq!(end.record.steps, 2);
    assert_eq!(end.ledger, ["1 test m-1 ok", "2 test m-1 ok"]);
    let second = &bench.requests()[1];
    assert_eq!(second.identity.step, 2);
    assert_eq!(second.messages.len(), 5);
    assert_eq!(end.events.last().unwrap()["usage"][0]["inputTokens"], 20);
}

#[tokio::test]
async fn a_model_that_never_stops_calling_is_asked_once_more_without_tools() {
    let mut bench = Bench::new().await;
    bench.parts.settings.limits.steps = 2;
    let again = || vec![Act::Say(call(0, "clock")), done(FinishReason::ToolCalls)];
    bench.script([again(), again(), again()]);
    let end = bench.say("loop").await;
    let choices: Vec<_> = bench.requests().iter().map(|request| request.tool_choice).collect();
    assert_eq!(choices, [ToolChoice::Auto, ToolChoice::Auto, ToolChoice::None]);
    assert_eq!(bench.requests()[2].tools, bench.requests()[0].tools);
    let ChatMessage::User { parts } = bench.requests()[2].messages.last().unwrap().clone() else { panic!("no note") };
    assert!(domain::message::text_of(&parts).starts_with("<note>\nNo more tools may be used in this run."));
    assert_eq!(end.record.status, RunStatus::Completed);
    let terminal = end.events.last().unwrap();
    assert_eq!(terminal["type"], "RUN_FINISHED");
    assert_eq!(terminal["metadata"]["frontdesk"]["note"], "step-limit");
    assert!(end.transcript.last().unwrap().starts_with("assistant: I used all the steps"));

    // The next turn sends the same bytes as far as they go.
    bench.script([says("ok")]);
    bench.say("go on").await;
    let requests = bench.requests();
    let before = requests[2].messages.len();
    assert_eq!(requests[3].messages[1..before], requests[2].messages[1..]);
}

#[tokio::test]
async fn a_provider_that_never_ends_meets_the_deadline() {
    let mut bench = Bench::new().await;
    bench.parts.settings.limits.deadline_seconds = 1;
    bench.script([vec![Act::Say(text("half an ans")), Act::Hang]]);
    let end = bench.say("hi").await;
    assert_eq!(end.record.status, RunStatus::Failed);
    let terminal = end.events.last().unwrap();
    assert_eq!((&terminal["type"], &terminal["code"]), (&json!("RUN_ERROR"), &json!("deadline")));
    assert_eq!(end.events[end.events.len() - 2]["type"], "TEXT_MESSAGE_END");
    assert_eq!(end.transcript[1], "assistant partial: half an ans");
    assert!(end.transcript[2].starts_with("note: The reply was cut off here because the run took too long."));
}

#[tokio::test]
async fn a_stop_keeps_what_was_said_and_answers_the_calls() {
    let bench = Bench::new().await;
    bench.script([vec![
        Act::Say(text("Let me see.")),
        Act::Say(call(0, "clock")),
        Act::Say(ChatEvent::ToolArguments { index: 0, delta: "{\"zo".to_owned() }),
        Act::Stop(Stop::Cancel(CancelReason::Asked)),
        Act::Hang,
    ]]);
    let end = bench.say("hi").await;
    assert_eq!(end.record.status, RunStatus::Cancelled);
    let terminal = end.events.last().unwrap();
    assert_eq!(terminal["outcome"], json!({"type": "cancelled"}));
    assert_eq!(terminal["metadata"]["frontdesk"]["status"], "cancelled");
    assert_eq!(end.transcript[1], "assistant partial: Let me see. clock({\"zo)");
    assert!(end.transcript[2].starts_with("tool error: "), "{}", end.transcript[2]);
    assert!(end.transcript[3].starts_with("note: The user stopped the reply here."));

    bench.script([says("fine")]);
    let next = bench.say("and now?").await;
    assert_eq!(next.record.status, RunStatus::Completed);
    let messages = &bench.requests()[1].messages;
    assert!(matches!(&messages[1], ChatMessage::Assistant { tool_calls, .. } if tool_calls[0].arguments == "{}"));
    assert!(matches!(&messages[3], ChatMessage::User { parts } if parts.len() == 3));
}

#[tokio::test]
async fn a_fenced_run_leaves_nothing_behind() {
    let bench = Bench::new().await;
    bench.script([vec![Act::Say(text("x")), Act::Stop(Stop::Fenced), Act::Hang]]);
    let end = bench.say("hi").await;
    assert_eq!(end.record.status, RunStatus::Running);
    assert_eq!(end.events, Vec::<Value>::new());
    assert_eq!(end.transcript, ["user: hi"]);
}

#[tokio::test]
async fn every_failure_is_told_and_the_next_turn_works() {
    let cases = [
        (ModelError::RateLimited { retry_after: None }, "model-unavailable"),
        (ModelError::Auth, "model-unavailable"),
        (ModelError::Cut, "model-unavailable"),
        (ModelError::Refused, "model-refused"),
        (ModelError::ContextTooLong, "context-too-long"),
    ];
    for (error, code) in cases {
        let bench = Bench::new().await;
        bench.script([vec![Act::Fail(error.clone())], says("fine")]);
        let end = bench.say("hi").await;
        assert_eq!(end.record.status, RunStatus::Failed, "{error}");
        assert_eq!(end.events.last().unwrap()["code"], code, "{error}");
        assert_eq!(end.record.error.unwrap().0, code, "{error}");
        let next = bench.say("again").await;
        assert_eq!(next.record.status, RunStatus::Completed, "{error}");
        let messages = &bench.requests()[1].messages;
        assert_eq!(messages.len(), 1);
        assert!(matches!(&messages[0], ChatMessage::User { parts } if parts.len() == 4), "{messages:?}");
    }
}

#[tokio::test]
async fn an_answer_without_words_is_an_error() {
    for (finish, code) in [
        (FinishReason::Stop, "model-unavailable"),
        (FinishReason::Length, "model-unavailable"),
        (FinishReason::ContentFilter, "model-refused"),
    ] {
        let bench = Bench::new().await;
        bench.script([vec![Act::Say(text(" ")), done(finish)]]);
        let end = bench.say("hi").await;
        assert_eq!(end.events.last().unwrap()["code"], code);
        assert_eq!(end.record.status, RunStatus::Failed);
    }
    let bench = Bench::new().await;
    bench.script([vec![Act::Say(text("so far")), done(FinishReason::Length)]]);
    let end = bench.say("hi").await;
    assert_eq!(end.record.status, RunStatus::Completed);
    assert_eq!(end.events.last().unwrap()["metadata"]["tanstack"]["finishReason"], "length");
}

#[tokio::test]
async fn a_run_goes_on_after_its_last_committed_step() {
    let bench = Bench::new().await;
    bench.script([
        vec![Act::Say(call(0, "whoami")), done(FinishReason::ToolCalls)],
        vec![Act::Say(text("lost")), Act::Stop(Stop::Shutdown), Act::Hang],
        says("You are Ada."),
    ]);
    let end = bench.say("hi").await;
    assert_eq!(end.record.status, RunStatus::Queued);
    assert_eq!(end.record.failures, 0);
    let end = bench.go_on().await;
    assert_eq!(end.record.status, RunStatus::Completed);
    assert_eq!(end.record.steps, 2);
    assert_eq!(
        end.transcript,
        [
            "user: hi",
            "assistant:  whoami({})",
            "tool: {\"channel\":\"web\",\"name\":\"Ada\",\"organization\":\"acme\",\"user\":\"ada\"}",
            "assistant: You are Ada.",
        ]
    );
    let requests = bench.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[2].messages, requests[1].messages);
    assert_eq!((requests[2].identity.step, requests[2].identity.attempt), (2, 2));
    assert_eq!(end.events.last().unwrap()["usage"][0]["inputTokens"], 20);
}

#[tokio::test]
async fn a_removed_member_may_use_no_tool() {
    let bench = Bench::new().await;
    bench.script([vec![Act::Say(call(0, "whoami")), Act::Leave, done(FinishReason::ToolCalls)], says("You may not.")]);
    let end = bench.say("hi").await;
    assert!(end.transcript[2].contains("no longer a member"), "{}", end.transcript[2]);
    assert_eq!(end.record.status, RunStatus::Completed);
}

fn offered(bench: &Bench) -> Vec<domain::ToolSpec> {
    let roster = Roster::builtin();
    let channel = catalog::Tools::default();
    let shelf = Shelf {
        tools: bench.parts.catalog.own(),
        channel: &channel,
        client: &[],
        commands: &bench.parts.settings.commands,
        role: roster.default_role(),
    };
    shelf.specs(&shelf.offer(""))
}
