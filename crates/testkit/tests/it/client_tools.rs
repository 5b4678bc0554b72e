//! Tools that run in the client: a run that ends waiting, and what becomes of its results.

use serde_json::{Value, json};
use testkit::{Client, Item, Plain, Request, World, said, story};

on_both_engines! {
    a_result_is_answered_with_its_call
    two_at_once_may_come_one_by_one
    a_tool_that_threw
    a_server_tool_and_a_client_tool_in_one_step
    a_result_sent_twice_is_one_run
    a_newer_message_cuts_off
    a_newer_message_may_bring_the_result
    a_result_nobody_waits_for
    interrupts_are_answered_whole_or_not_at_all
    an_answer_by_interrupt_may_be_a_refusal
    answering_again_forgets_what_was_open
    deleting_a_thread_that_waits
    stopping_a_run_that_waits
    a_continuation_in_another_process
    tools_and_screen_are_those_of_each_request
    the_last_run_of_a_turn_only_answers
}

/// What a client keeps of a thread `t` and sends with every request.
struct Page {
    client: Client,
    rows: Vec<Value>,
    tools: Vec<&'static str>,
    /// Sends `x-run-id`.
    tanstack: bool,
}

impl Page {
    fn new(client: Client) -> Self {
        Self { client, rows: Vec::new(), tools: vec!["here", "there"], tanstack: false }
    }

    fn say(&mut self, message: &str, text: &str) {
        self.rows.push(json!({"id": message, "role": "user", "content": text}));
    }

    fn result(&mut self, call: &str, content: &str) {
        self.rows.push(json!({"id": format!("tr-{call}"), "role": "tool", "toolCallId": call, "content": content}));
    }

    fn body(&self, run: &str) -> Value {
        let tool =
            |name: &&str| json!({"name": name, "description": format!("where {name} is"), "parameters": {"type": "object"}});
        json!({"threadId": "t", "runId": run, "protocolVersion": "1.0", "state": {}, "messages": self.rows, "context": [],
               "tools": self.tools.iter().map(tool).collect::<Vec<_>>(), "forwardedProps": {}})
    }

    /// Posts what there is and reads the run to its end.
    async fn run(&mut self, run: &str) -> Vec<Item> {
        let body = self.body(run);
        self.send(body).await
    }

    async fn resume(&mut self, run: &str, resume: Value) -> Vec<Item> {
        let mut body = self.body(run);
        body["resume"] = resume;
        self.send(body).await
    }

    async fn send(&mut self, body: Value) -> Vec<Item> {
        let items = self.post(&body).await.stream().rest().await;
        let calls = calls(&items);
        let call = |id: &String| json!({"id": id, "type": "function", "function": {"name": "n", "arguments": "{}"}});
        if !calls.is_empty() || !said(&items).is_empty() {
            let id = format!("a{}", self.rows.len());
            let calls: Vec<_> = calls.iter().map(call).collect();
            self.rows.push(json!({"id": id, "role": "assistant", "content": said(&items), "toolCalls": calls}));
        }
        items
    }

    async fn post(&self, body: &Value) -> testkit::Answer {
        let mut request = Request::post("/v1/agui", body);
        if self.tanstack {
            request = request.header("x-run-id", body["runId"].as_str().unwrap());
        }
        testkit::wait::bounded("the answer to a POST", self.client.open(request)).await.unwrap()
    }

    async fn refused(&self, run: &str) -> Plain {
        self.post(&self.body(run)).await.plain()
    }
}

fn calls(items: &[Item]) -> Vec<String> {
    let started = items.iter().filter(|item| item.kind() == "TOOL_CALL_START");
    started.map(|item| item.json["toolCallId"].as_str().unwrap().to_owned()).collect()
}

fn end(items: &[Item]) -> &Value {
    &items.last().unwrap().json
}

/// RUN_STARTED and RUN_ERROR of this code; the codes of its entries.
#[track_caller]
fn faults(items: &[Item], code: &str) -> Vec<String> {
    assert_eq!(story(items), ["RUN_STARTED", "RUN_ERROR"], "{items:#?}");
    assert_eq!(end(items)["code"], code, "{items:#?}");
    let errors = end(items)["metadata"]["tanstack"]["interruptErrors"].as_array().unwrap();
    errors.iter().map(|error| error["code"].as_str().unwrap().to_owned()).collect()
}

/// The tool messages of the provider's last request, each with the name of the call it answers.
fn asked_results(world: &World) -> Vec<(String, String)> {
    let asked = world.provider.records().pop().unwrap();
    let name = |id: &Value| {
        let calls = asked.messages().iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
        calls
            .filter(|call| call["id"] == *id)
            .map(|call| call["function"]["name"].as_str().unwrap().to_owned())
            .collect::<String>()
    };
    let results = asked.messages().iter().filter(|message| message["role"] == "tool");
    results.map(|message| (name(&message["tool_call_id"]), testkit::scripted::text(&message["content"]))).collect()
}

fn pair(name: &str, content: &str) -> (String, String) {
    (name.to_owned(), content.to_owned())
}

/// A page whose first run called `here`.
async fn waiting(client: Client) -> (Page, String) {
    let mut page = Page::new(client);
    page.say("m1", "[[tool here {}]]");
    let call = calls(&page.run("r1").await).remove(0);
    (page, call)
}

async fn a_result_is_answered_with_its_call(world: World) {
    let server = world.setup.serve();
    let mut page = Page::new(server.client("ada"));
    page.say("m1", "[[say let me see]][[tool here {\"precise\": true}]]");
    let first = page.run("r1").await;
    let call = calls(&first).remove(0);
    let kinds = testkit::kinds(&first);
    let expected = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "CUSTOM tool-input-available", "RUN_FINISHED"];
    assert_eq!(kinds[kinds.len() - 5..], expected);
    let value = &first[first.len() - 2].json["value"];
    assert_eq!(*value, json!({"toolCallId": call, "toolName": "here", "input": {"precise": true}}));
    assert_eq!(end(&first)["outcome"], json!({"type": "success", "pendingToolCallIds": [call]}));
    assert_eq!(page.client.run("r1").await.body["status"], "interrupted");

    page.result(&call, "{\"lat\":1}");
    let second = page.run("r2").await;
    assert_eq!(story(&second), ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"]);
    assert_eq!((said(&second).as_str(), &second[0].json["parentRunId"]), ("done: {\"lat\":1}", &json!("r1")));
    assert_eq!(asked_results(&world), [pair("here", "{\"lat\":1}")]);
    assert_eq!(page.client.run("r2").await.body["status"], "completed");
    let parts = page.client.hydrate("t").await["messages"][1]["parts"].clone();
    assert_eq!((&parts[1]["id"], &parts[1]["output"]), (&json!(call), &json!({"lat": 1})), "{parts}");
    // A whole history, sent again with the next message, changes nothing.
    page.say("m2", "[[say fine]]");
    assert_eq!(said(&page.run("r3").await), "fine");
}

async fn two_at_once_may_come_one_by_one(world: World) {
    let server = world.setup.serve();
    let mut page = Page::new(server.client("ada"));
    page.say("m1", "[[tool here {}]][[tool there {}]]");
    let [here, there] = calls(&page.run("r1").await).try_into().unwrap();
    page.result(&there, "\"T\"");
    let part = page.run("r2").await;
    assert_eq!(story(&part), ["RUN_STARTED", "RUN_FINISHED"]);
    assert_eq!(end(&part)["outcome"]["pendingToolCallIds"], json!([here]));
    assert_eq!((world.provider.records().len(), &page.client.run("r2").await.body["status"]), (1, &json!("interrupted")));
    page.result(&here, "\"H\"");
    assert_eq!(said(&page.run("r3").await), "done: \"H\" | \"T\"");
    assert_eq!(asked_results(&world), [pair("here", "\"H\""), pair("there", "\"T\"")]);
}

async fn a_tool_that_threw(world: World) {
    let server = world.setup.serve();
    let (mut page, call) = waiting(server.client("ada")).await;
    page.rows.push(json!({"id": "tr", "role": "tool", "toolCallId": call, "content": "null", "error": "denied by browser"}));
    assert_eq!(said(&page.run("r2").await), "done: {\"error\":\"denied by browser\"}");
    let parts = page.client.hydrate("t").await["messages"][1]["parts"].clone();
    assert_eq!(parts.as_array().unwrap().last().unwrap()["state"], "error", "{parts}");
}

async fn a_server_tool_and_a_client_tool_in_one_step(world: World) {
    let server = world.setup.serve();
    let mut page = Page::new(server.client("ada"));
    page.say("m1", "[[tool here {}]][[tool whoami {}]]");
    let first = page.run("r1").await;
    let [here, whoami] = calls(&first).try_into().unwrap();
    let results: Vec<_> = first.iter().filter(|item| item.kind() == "TOOL_CALL_RESULT").collect();
    assert_eq!((results.len(), &results[0].json["toolCallId"]), (1, &json!(whoami)));
    assert_eq!(end(&first)["outcome"]["pendingToolCallIds"], json!([here]));
    let told = results[0].json["content"].as_str().unwrap();
    page.result(&whoami, told);
    page.result(&here, "1");
    assert_eq!(said(&page.run("r2").await), format!("done: 1 | {told}"));
    assert_eq!(asked_results(&world), [pair("here", "1"), pair("whoami", told)]);
}

async fn a_result_sent_twice_is_one_run(world: World) {
    let server = world.setup.serve();
    let mut page = Page::new(server.client("ada"));
    page.say("m1", "[[tool here {}]][[then]][[words 3]][[gate go after 1]]");
    let call = calls(&page.run("r1").await).remove(0);
    page.result(&call, "1");
    let mut first = page.post(&page.body("r2")).await.stream();
    let mut taken = first.until(|item| item.json["delta"] == "w1").await;
    let second = page.post(&page.body("r3")).await.stream();
    world.provider.open("go");
    taken.extend(first.rest().await);
    let again = second.rest().await;
    let late = page.post(&page.body("r4")).await.stream().rest().await;
    for (run, items) in [("r3", again), ("r4", late)] {
        let text = json!(testkit::unqueued(&items).iter().map(|item| &item.json).collect::<Vec<_>>()).to_string();
        let expected = json!(testkit::unqueued(&taken).iter().map(|item| &item.json).collect::<Vec<_>>()).to_string();
        assert_eq!(text.replace(&format!("\"runId\":\"{run}\""), "\"runId\":\"r2\""), expected);
        assert_eq!((&items[0].json["runId"], &end(&items)["runId"]), (&json!(run), &json!(run)));
        assert_eq!(page.client.run(run).await.status, 404);
    }
    assert_eq!(world.provider.records().len(), 2);
}

async fn a_newer_message_cuts_off(world: World) {
    let server = world.setup.serve();
    let (mut page, call) = waiting(server.client("ada")).await;
    let before = page.rows.clone();
    page.say("m2", "[[say on]]");
    assert_eq!(said(&page.run("r2").await), "on");
    let [(name, content)] = asked_results(&world).try_into().unwrap();
    assert!(name == "here" && content.contains("cut-off"), "{content}");
    page.rows = before;
    page.result(&call, "1");
    assert_eq!(faults(&page.run("r3").await, "stale"), ["stale"]);
    assert_eq!(page.client.run("r3").await.status, 404);
    assert_eq!(page.client.transcript("t").await.len(), 4);
}

async fn a_newer_message_may_bring_the_result(world: World) {
    let server = world.setup.serve();
    let (mut page, call) = waiting(server.client("ada")).await;
    page.result(&call, "7");
    page.say("m2", "[[say on]]");
    assert_eq!(said(&page.run("r2").await), "on");
    assert_eq!(asked_results(&world), [pair("here", "7")]);
}

async fn a_result_nobody_waits_for(world: World) {
    let server = world.setup.serve();
    let mut page = Page::new(server.client("ada"));
    page.say("m1", "[[say hi]]");
    page.run("r1").await;
    for call in ["call_00000000000000000000000000", "call-2"] {
        page.result(call, "1");
        assert_eq!(page.refused("r2").await.problem(), (422, "invalid-input"));
    }
    // Another person's thread of that name knows nothing of the call.
    let (mut page, call) = waiting(server.client("bob")).await;
    page.result(&call, "1");
    page.client = server.client("ada");
    assert_eq!(page.refused("r3").await.problem(), (422, "invalid-input"));
}

fn resolved(call: &str, payload: &Value) -> Value {
    json!({"interruptId": format!("client_tool_{call}"), "status": "resolved", "payload": payload})
}

async fn interrupted(client: Client, script: &str) -> (Page, Vec<String>) {
    let mut page = Page { tanstack: true, ..Page::new(client) };
    page.say("m1", script);
    let first = page.run("r1").await;
    assert_eq!(end(&first)["outcome"]["type"], "interrupt", "{first:#?}");
    assert!(!testkit::kinds(&first).contains(&"CUSTOM tool-input-available".to_owned()));
    let calls = calls(&first);
    let ids: Vec<_> = calls.iter().map(|call| json!(format!("client_tool_{call}"))).collect();
    let interrupts = end(&first)["outcome"]["interrupts"].as_array().unwrap();
    assert_eq!(interrupts.iter().map(|interrupt| interrupt["id"].clone()).collect::<Vec<_>>(), ids);
    assert_eq!(page.client.hydrate("t").await["interrupts"], json!({"runId": "r1", "pending": interrupts}));
    (page, calls)
}

async fn interrupts_are_answered_whole_or_not_at_all(world: World) {
    let server = world.setup.clone().with("channels.web.client_tools", "interrupt").serve();
    let (mut page, calls) = interrupted(server.client("ada"), "[[tool here {}]][[tool there {}]]").await;
    let [here, there] = calls.try_into().unwrap();
    let (h, t) = (resolved(&here, &json!({"lat": 1})), resolved(&there, &json!("T")));
    assert_eq!(faults(&page.resume("f1", json!([h])).await, "incomplete-batch"), ["incomplete-batch"]);
    let unknown = resolved("call_00000000000000000000000000", &json!(1));
    assert_eq!(faults(&page.resume("f2", json!([h, t, unknown])).await, "unknown-interrupt"), ["unknown-interrupt"]);
    assert_eq!(page.client.hydrate("t").await["interrupts"]["pending"].as_array().unwrap().len(), 2);

    let second = page.resume("r2", json!([h, t])).await;
    assert_eq!(said(&second), "done: {\"lat\":1} | \"T\"");
    let results = second.iter().filter(|item| item.kind() == "TOOL_CALL_RESULT");
    assert_eq!(results.map(|item| item.json["toolCallId"].clone()).collect::<Vec<_>>(), [json!(here), json!(there)]);
    assert_eq!(asked_results(&world), [pair("here", "{\"lat\":1}"), pair("there", "\"T\"")]);
    assert_eq!(page.client.hydrate("t").await["interrupts"], json!(null));

    let other = json!([h, resolved(&there, &json!("U"))]);
    assert_eq!(faults(&page.resume("f3", other).await, "conflict"), ["conflict"]);
    page.rows.pop();
    let again = page.resume("r3", json!([h, t])).await;
    assert_eq!((said(&again), &end(&again)["runId"]), (said(&second), &json!("r3")));
    assert_eq!(world.provider.records().len(), 2);
}

async fn an_answer_by_interrupt_may_be_a_refusal(world: World) {
    let server = world.setup.clone().with("channels.web.client_tools", "interrupt").serve();
    let (mut page, calls) = interrupted(server.client("ada"), "[[tool here {}]][[tool there {}]]").await;
    let threw = resolved(&calls[0], &json!({"error": "denied by browser"}));
    let cancelled = json!({"interruptId": format!("client_tool_{}", calls[1]), "status": "cancelled"});
    // Nothing but the person's row: still no wish to have it answered anew.
    page.rows.truncate(1);
    let second = page.resume("r2", json!([threw, cancelled])).await;
    assert_eq!(said(&second), "done: {\"error\":\"denied by browser\"} | {\"error\":\"Tool execution cancelled\"}");
    assert_eq!(page.client.transcript("t").await.len(), 3);
}

async fn answering_again_forgets_what_was_open(world: World) {
    let server = world.setup.serve();
    let (mut page, call) = waiting(server.client("ada")).await;
    let before = page.rows.clone();
    page.rows.truncate(1);
    let again = page.run("r2").await;
    assert_eq!(calls(&again).len(), 1);
    assert_eq!(world.provider.records()[1].messages().len(), 2, "the instructions and the person's row");
    page.rows = before;
    page.result(&call, "1");
    assert_eq!(faults(&page.run("r3").await, "stale"), ["stale"]);
    page.rows.truncate(1);
    page.rows.push(json!({"id": "a", "role": "assistant", "content": ""}));
    page.result(&calls(&again)[0], "2");
    assert_eq!(said(&page.run("r4").await), "done: 2");
}

async fn deleting_a_thread_that_waits(world: World) {
    let server = world.setup.serve();
    let (mut page, call) = waiting(server.client("ada")).await;
    let deleted = page.client.ask(Request { method: "DELETE", ..Request::get("/v1/threads/t") }).await;
    assert_eq!(deleted.status, 204);
    let rows = page.rows.clone();
    page.result(&call, "1");
    assert_eq!(page.refused("r2").await.problem(), (422, "invalid-input"));
    assert_eq!(page.client.hydrate("t").await, json!({"messages": [], "activeRun": null, "interrupts": null}));
    page.rows = rows;
    page.say("m2", "[[say new]]");
    assert_eq!(said(&page.run("r3").await), "new");
}

async fn stopping_a_run_that_waits(world: World) {
    let server = world.setup.serve();
    let (mut page, call) = waiting(server.client("ada")).await;
    let before = page.rows.clone();
    let stopped = page.client.cancel("r1").await;
    assert_eq!((stopped.status, &stopped.body["status"]), (200, &json!("cancelled")));
    assert_eq!(page.client.cancel("r1").await.body["status"], "cancelled");
    assert_eq!(page.client.run("r1").await.body["status"], "cancelled");
    page.result(&call, "1");
    assert_eq!(faults(&page.run("r2").await, "stale"), ["stale"]);
    page.rows = before;
    page.say("m2", "[[say on]]");
    assert_eq!(said(&page.run("r3").await), "on");
    assert!(asked_results(&world)[0].1.contains("cut-off"));
}

async fn a_continuation_in_another_process(world: World) {
    let mut server = world.setup.serve();
    let (mut page, call) = waiting(server.client("ada")).await;
    server.process.kill();
    let other = world.setup.serve();
    page.client = other.client("ada");
    page.result(&call, "1");
    assert_eq!(said(&page.run("r2").await), "done: 1");
    assert_eq!(asked_results(&world), [pair("here", "1")]);
    let joined = page.client.join("r1", "-1").await.stream().rest().await;
    assert_eq!(end(&joined)["outcome"]["pendingToolCallIds"], json!([call]));
}

async fn tools_and_screen_are_those_of_each_request(world: World) {
    let server = world.setup.serve();
    let mut page = Page::new(server.client("ada"));
    page.say("m1", "[[tool here {}]]");
    let mut body = page.body("r1");
    body["forwardedProps"]["grounding"] = json!("The first screen.");
    let call = calls(&page.send(body).await).remove(0);
    page.result(&call, "1");
    page.tools = vec!["there", "new"];
    let mut body = page.body("r2");
    body["forwardedProps"]["grounding"] = json!("The second screen.");
    assert_eq!(said(&page.send(body).await), "done: 1");

    let asked = world.provider.records();
    let names = |at: usize| {
        let tools = asked[at].body["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(names(0).contains(&"here".to_owned()) && names(0).contains(&"there".to_owned()), "{:?}", names(0));
    let expected: Vec<_> = names(0).into_iter().filter(|name| name != "here").collect();
    assert_eq!(names(1), expected, "what was offered and is still there");
    let sent = |at: usize| asked[at].body["messages"].to_string();
    assert!(sent(0).contains("The first screen.") && !sent(0).contains("The second screen."));
    assert!(sent(1).contains("The second screen.") && !sent(1).contains("The first screen."));
}

async fn the_last_run_of_a_turn_only_answers(world: World) {
    let server = world.setup.clone().with("limits.runs_per_turn", "2").serve();
    let mut page = Page::new(server.client("ada"));
    page.say("m1", "[[loop here]]");
    let call = calls(&page.run("r1").await).remove(0);
    page.result(&call, "1");
    let second = page.run("r2").await;
    assert!(said(&second).starts_with("done: 1"), "{}", said(&second));
    assert_eq!(end(&second)["type"], "RUN_FINISHED");
    let asked = world.provider.records();
    let choices: Vec<_> = asked.iter().map(|asked| asked.body["tool_choice"].as_str().unwrap_or("auto")).collect();
    assert_eq!(choices, ["auto", "none"]);
    assert_eq!(asked[0].body["tools"], asked[1].body["tools"]);
}
