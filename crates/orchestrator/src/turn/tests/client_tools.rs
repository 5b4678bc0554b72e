//! Calls that the client runs: what a run ends waiting for, what it does not, and how it goes on.

use async_trait::async_trait;
use catalog::{Args, Output, Read, ToolError, schema_of};
use domain::{Answer, AnsweredBy, Category, ClientTool, ClientToolStyle, Contract, Effect, ToolCallId};
use storage::OpenInterrupt;

use super::{
    bench::{Act, Bench, Ran, call, done, says, text},
    *,
};

fn paint() -> ClientTool {
    let parameters = json!({"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]});
    ClientTool { name: "paint".to_owned(), description: "Paints the page.".to_owned(), parameters, effect: None }
}

/// A request that mounts `paint`.
fn mounted(bench: &Bench) -> RunInput {
    RunInput { client_tools: vec![paint()], ..bench.input() }
}

fn arguments(index: usize, text: &str) -> Act {
    Act::Say(ChatEvent::ToolArguments { index, delta: text.to_owned() })
}

fn paints(arguments_: &str) -> Vec<Act> {
    vec![Act::Say(call(0, "paint")), arguments(0, arguments_), done(FinishReason::ToolCalls)]
}

async fn open(bench: &Bench) -> Vec<OpenInterrupt> {
    bench.parts.store.hydrate(&bench.principal, &bench.thread, None, None).await.unwrap().interrupts
}

fn result(call: &ToolCallId, content: &str) -> Answer {
    Answer { call: call.clone(), content: content.to_owned(), error: false, by: AnsweredBy::Row }
}

fn of_type<'a>(end: &'a Ran, kind: &str) -> Vec<&'a Value> {
    end.events.iter().filter(|event| event["type"] == kind).collect()
}

fn last(end: &Ran) -> &Value {
    end.events.last().unwrap()
}

#[tokio::test]
async fn a_client_tool_beside_a_read() {
    let bench = Bench::new().await;
    bench.script([
        vec![
            Act::Say(text("Let me see.")),
            Act::Say(call(0, "paint")),
            arguments(0, r#"{"color":"red"}"#),
            Act::Say(call(1, "whoami")),
            done(FinishReason::ToolCalls),
        ],
        says("Done, Ada."),
        says("next"),
    ]);
    let end = bench.say_with("paint it", mounted(&bench)).await;
    assert_eq!(end.record.status, RunStatus::Interrupted);
    let waits = open(&bench).await;
    assert_eq!(waits.len(), 1);
    let id = &waits[0].call.id;
    assert_eq!((waits[0].call.name.as_str(), waits[0].style), ("paint", ClientToolStyle::Universal));
    // The read is answered here, the client's call is not; it is told of last.
    let shown = of_type(&end, "TOOL_CALL_RESULT");
    assert_eq!(shown.len(), 1);
    assert_ne!(shown[0]["toolCallId"], json!(id));
    let custom = &end.events[end.events.len() - 2];
    assert_eq!(custom["name"], "tool-input-available");
    assert_eq!(custom["value"], json!({"toolCallId": id, "toolName": "paint", "input": {"color": "red"}}));
    assert_eq!(last(&end)["outcome"], json!({"type": "success", "pendingToolCallIds": [id]}));
    assert_eq!(last(&end)["metadata"]["tanstack"]["finishReason"], "tool_calls");
    let whoami = r#"tool: {"channel":"web","name":"Ada","organization":"acme","user":"ada"}"#;
    assert_eq!(end.transcript, ["user: paint it", r#"assistant: Let me see. paint({"color":"red"}) whoami({})"#, whoami]);
    assert_eq!((end.record.steps, end.ledger), (1, vec!["1 test m-1 ok".to_owned()]));

    let next = bench.results(&[result(id, "painted")], mounted(&bench)).await;
    assert_eq!((next.record.status, next.record.leg), (RunStatus::Completed, 2));
    assert_eq!(next.record.decision, end.record.decision);
    // Who sent it has the result; nothing of it is said again.
    assert_eq!(of_type(&next, "TOOL_CALL_RESULT"), [&Value::Null; 0]);
    let requests = bench.requests();
    let results: Vec<_> = requests[1]
        .messages
        .iter()
        .filter_map(|message| match message {
            ChatMessage::Tool { name, content, .. } => Some((name.to_string(), content.clone())),
            _ => None,
        })
        .collect();
    // Pairs, in the order of the calls, whatever came first.
    assert_eq!(results[0], ("paint".to_owned(), "painted".to_owned()));
    assert_eq!((results.len(), results[1].0.as_str()), (2, "whoami"));
    assert_eq!(requests[1].identity.parent_run.as_ref().map(|run| run.as_str()), Some("r1"));
    assert_eq!((requests[1].identity.step, &requests[1].tools), (1, &requests[0].tools));
    assert_eq!(requests[1].identity.resume, [format!("client_tool_{id}")]);

    // What the continuation sent is the beginning of what the next turn sends, but for the clock.
    bench.say_with("thanks", mounted(&bench)).await;
    let requests = bench.requests();
    assert_eq!(requests[2].messages[1..4], requests[1].messages[1..4]);
}

#[tokio::test]
async fn a_call_whose_arguments_do_not_fit_is_not_waited_for() {
    for (bad, says_why) in
        [(r#"{"color":"#, "not valid JSON"), (r#"{"color":1}"#, "do not fit"), ("{}", "do not fit"), ("[]", "not a JSON object")]
    {
        let bench = Bench::new().await;
        bench.script([paints(bad), says("I could not.")]);
        let end = bench.say_with("paint it", mounted(&bench)).await;
        assert_eq!(end.record.status, RunStatus::Completed, "{bad}");
        assert!(end.transcript[2].starts_with("tool error: "), "{bad}: {}", end.transcript[2]);
        assert!(end.transcript[2].contains(says_why), "{bad}: {}", end.transcript[2]);
        assert_eq!((open(&bench).await, of_type(&end, "TOOL_CALL_RESULT").len()), (Vec::new(), 1), "{bad}");
    }
}

/// Some models write the arguments' JSON as a string, some write `null` for none: a client gets an object.
#[tokio::test]
async fn a_client_gets_an_object() {
    for (written, input) in
        [(r#""{\"color\":\"red\"}""#, json!({"color": "red"})), (r#"{"color":"red"}"#, json!({"color": "red"}))]
    {
        for style in [ClientToolStyle::Universal, ClientToolStyle::Interrupt] {
            let bench = Bench::new().await;
            bench.script([paints(written)]);
            let request = RunInput { client_tool_style: style, ..mounted(&bench) };
            let end = bench.say_with("paint it", request).await;
            let said = match style {
                ClientToolStyle::Universal => &end.events[end.events.len() - 2]["value"]["input"],
                ClientToolStyle::Interrupt => &last(&end)["outcome"]["interrupts"][0]["metadata"]["input"],
            };
            assert_eq!(*said, input, "{written}");
            assert_eq!(serde_json::from_str::<Value>(&open(&bench).await[0].call.arguments).unwrap(), input, "{written}");
        }
    }
    for none in ["null", " "] {
        let bench = Bench::new().await;
        bench.script([paints(none)]);
        let anything = ClientTool { parameters: Value::Null, ..paint() };
        let end = bench.say_with("paint it", RunInput { client_tools: vec![anything], ..bench.input() }).await;
        assert_eq!(end.events[end.events.len() - 2]["value"]["input"], json!({}), "{none:?}");
    }
}

#[tokio::test]
async fn nothing_is_asked_of_a_client_that_left() {
    let bench = Bench::new().await;
    let mut script = paints(r#"{"color":"red"}"#);
    script.insert(0, Act::Away);
    bench.script([script, says("Nobody is here.")]);
    let end = bench.say_with("paint it", mounted(&bench)).await;
    assert_eq!(end.record.status, RunStatus::Completed);
    assert!(end.transcript[2].contains("Nobody is reading this reply"), "{}", end.transcript[2]);
    assert_eq!(open(&bench).await, []);
}

/// Looks until the run is stopped, and goes on looking.
struct Stopper {
    contract: Contract,
    stop: Stop,
    control: Arc<dyn Fn() -> Arc<RunControl> + Send + Sync>,
}

#[async_trait]
impl Read for Stopper {
    fn contract(&self) -> &Contract {
        &self.contract
    }

    async fn call(&self, _: &CallContext, _: Args) -> Result<Output, ToolError> {
        (self.control)().stop_for(self.stop);
        std::future::pending().await
    }
}

async fn stopping(stop: Stop) -> Bench {
    let mut bench = Bench::new().await;
    let contract = Contract {
        name: ToolName::parse("look").unwrap(),
        title: String::new(),
        description: String::new(),
        input: schema_of::<serde_json::Map<String, Value>>(),
        output: schema_of::<serde_json::Map<String, Value>>(),
        category: Category::parse("time").unwrap(),
        effect: Effect::Read,
    };
    let look = Stopper { contract, stop, control: bench.control() };
    bench.parts.catalog = Arc::new(catalog::tools::builtin().read(look).build().unwrap());
    bench.script([
        vec![
            Act::Say(call(0, "paint")),
            arguments(0, r#"{"color":"red"}"#),
            Act::Say(call(1, "look")),
            done(FinishReason::ToolCalls),
        ],
        says("fine"),
    ]);
    bench
}

#[tokio::test]
async fn a_run_that_is_stopped_while_calls_are_open_waits_for_nothing() {
    let bench = stopping(Stop::Cancel(CancelReason::Asked)).await;
    let end = bench.say_with("paint it", mounted(&bench)).await;
    assert_eq!(end.record.status, RunStatus::Cancelled);
    assert_eq!(last(&end)["outcome"], json!({"type": "cancelled"}));
    assert!(!end.events.iter().any(|event| event["name"] == "tool-input-available"));
    // Both calls are answered, in their order, and shown.
    assert!(end.transcript[2].starts_with("tool error: "), "{:?}", end.transcript);
    assert!(end.transcript[3].starts_with("tool error: "), "{:?}", end.transcript);
    assert!(end.transcript[4].starts_with("note: "), "{:?}", end.transcript);
    assert_eq!((of_type(&end, "TOOL_CALL_RESULT").len(), open(&bench).await), (2, Vec::new()));
    let next = bench.say("and now?").await;
    assert_eq!(next.record.status, RunStatus::Completed);
    let results = bench.requests()[1].messages.iter().filter(|message| matches!(message, ChatMessage::Tool { .. })).count();
    assert_eq!(results, 2);
}

#[tokio::test]
async fn a_run_that_is_handed_back_while_calls_are_open_leaves_nothing() {
    let bench = stopping(Stop::Shutdown).await;
    let end = bench.say_with("paint it", mounted(&bench)).await;
    assert_eq!(end.record.status, RunStatus::Queued);
    assert_eq!((end.transcript, open(&bench).await), (vec!["user: paint it".to_owned()], Vec::new()));
    let end = bench.go_on().await;
    assert_eq!((end.record.status, end.record.attempt), (RunStatus::Completed, 2));
}

#[tokio::test]
async fn a_turns_last_run_only_answers() {
    let mut bench = Bench::new().await;
    bench.parts.settings.limits.runs_per_turn = 2;
    bench.script([paints(r#"{"color":"red"}"#), paints(r#"{"color":"blue"}"#), says("next")]);
    let end = bench.say_with("paint it", mounted(&bench)).await;
    assert_eq!(end.record.status, RunStatus::Interrupted);
    let call = open(&bench).await.remove(0).call.id;
    let end = bench.results(&[result(&call, "red now")], mounted(&bench)).await;
    assert_eq!((end.record.status, end.record.leg), (RunStatus::Completed, 2));
    assert_eq!(last(&end)["metadata"]["frontdesk"]["note"], "step-limit");
    let requests = bench.requests();
    assert_eq!((requests[0].tool_choice, requests[1].tool_choice), (ToolChoice::Auto, ToolChoice::None));
    assert_eq!(requests[1].tools, requests[0].tools);
    // A model that calls all the same is not listened to.
    assert_eq!((open(&bench).await, of_type(&end, "TOOL_CALL_START").len()), (Vec::new(), 0));
    assert!(end.transcript.last().unwrap().starts_with("assistant: I used all the steps"), "{:?}", end.transcript);
    // The next turn has all its runs again.
    bench.say_with("go on", mounted(&bench)).await;
    assert_eq!(bench.requests()[2].tool_choice, ToolChoice::Auto);
}

#[tokio::test]
async fn a_continuation_shows_its_results_to_who_was_interrupted() {
    let bench = Bench::new().await;
    let input = || RunInput { client_tool_style: ClientToolStyle::Interrupt, ..mounted(&bench) };
    bench.script([
        vec![
            Act::Say(call(0, "paint")),
            arguments(0, r#"{"color":"red"}"#),
            Act::Say(call(1, "paint")),
            arguments(1, r#"{"color":"blue"}"#),
            done(FinishReason::ToolCalls),
        ],
        vec![Act::Say(text("lost")), Act::Stop(Stop::Shutdown), Act::Hang],
        says("Red and blue."),
    ]);
    let end = bench.say_with("paint it", input()).await;
    let calls: Vec<ToolCallId> = open(&bench).await.into_iter().map(|open| open.call.id).collect();
    assert_eq!((calls.len(), &last(&end)["outcome"]["type"]), (2, &json!("interrupt")));
    let listed = last(&end)["outcome"]["interrupts"].as_array().unwrap();
    let ids: Vec<_> = listed.iter().map(|interrupt| interrupt["id"].clone()).collect();
    assert_eq!(ids, calls.iter().map(|call| json!(format!("client_tool_{call}"))).collect::<Vec<_>>());
    assert!(!end.events.iter().any(|event| event["name"] == "tool-input-available"));

    let resume = |call: &ToolCallId, content: &str, error| Answer {
        by: AnsweredBy::Resume(format!("client_tool_{call}")),
        error,
        ..result(call, content)
    };
    // Cut before a step of its own: the next attempt shows them once more, in its own log.
    let answers = [resume(&calls[1], "blue now", false), resume(&calls[0], "{\"error\":\"no red\"}", true)];
    let cut = bench.results(&answers, input()).await;
    assert_eq!(cut.record.status, RunStatus::Queued);
    let end = bench.go_on().await;
    assert_eq!((end.record.status, end.record.leg, end.record.attempt), (RunStatus::Completed, 2, 2));
    let shown: Vec<_> = end.events.iter().take_while(|event| event["type"] == "TOOL_CALL_RESULT").collect();
    let of = |call: &ToolCallId| shown.iter().find(|event| event["toolCallId"] == json!(call)).unwrap()["content"].clone();
    assert_eq!((shown.len(), of(&calls[0]), of(&calls[1])), (2, json!("{\"error\":\"no red\"}"), json!("blue now")));
    assert_eq!(of_type(&end, "TOOL_CALL_RESULT").len(), 2);
    let requests = bench.requests();
    assert_eq!(requests[2].messages, requests[1].messages);
    assert!(matches!(&requests[2].messages[2], ChatMessage::Tool { call, .. } if *call == calls[0]));
}

/// Every request says anew which tools its client mounts.
#[tokio::test]
async fn a_tool_that_is_mounted_no_more_is_not_offered() {
    let bench = Bench::new().await;
    bench.script([paints(r#"{"color":"red"}"#), paints(r#"{"color":"red"}"#), says("It is gone.")]);
    bench.say_with("paint it", mounted(&bench)).await;
    let call = open(&bench).await.remove(0).call.id;
    let end = bench.results(&[result(&call, "red now")], bench.input()).await;
    assert_eq!(end.record.status, RunStatus::Completed);
    let names: Vec<_> = bench.requests()[1].tools.iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["clock", "whoami"]);
    assert!(end.transcript.iter().any(|line| line.contains("There is no tool")), "{:?}", end.transcript);
    assert_eq!(open(&bench).await, []);
}
