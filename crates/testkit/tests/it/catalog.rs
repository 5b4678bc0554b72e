//! Commands, roles and scopes on the real binary: what is offered, what a call does, what is said of it.

use std::fs;

use serde_json::{Value, json};
use testkit::{Client, Item, Request, World, said};

on_both_engines! {
    without_a_manifest_a_clients_tools_run
    untagged_may_be_a_persons
    a_manifest_says_what_a_call_does
    what_nobody_declared_is_a_persons
    a_client_may_say_that_its_tool_does_more
    narration_is_told_before_the_call_is_run
    a_continuation_has_what_is_still_mounted
    mixed_calls_end_well_in_any_order
    a_role_file_narrows
    tools_are_listed_for_people_and_programs
}

const GO: &str = "name = \"go\"\ncategory = \"navigation\"\neffect = \"gesture\"\nsurface = \"global\"\n[narration]\ncalling = \"go.calling\"\ndone = \"go.done\"\n";
const PAINT: &str = "name = \"paint\"\ncategory = \"navigation\"\neffect = \"reversible\"\nsurface = \"canvas\"\n";
const WIPE: &str = "name = \"wipe\"\ncategory = \"invoice\"\neffect = \"irreversible\"\nsurface = \"global\"\n";
const ROLE: &str = "---\ntitle: Clerk\nscope:\n  categories: [navigation, account]\n  effects: [read, gesture, reversible]\n  include: [wipe]\n---\nYou are the clerk of a print shop.\n";

/// A world whose folder holds these files beside a configuration that may name them.
fn with(world: World, config: &str, files: &[(&str, &str)]) -> World {
    let folder = world.setup.folder.clone();
    for (name, text) in files.iter().chain([&("frontdesk.toml", config)]) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    world
}

fn manifest(world: World, config: &str) -> World {
    let files =
        [("commands/go.toml", GO), ("commands/paint.toml", PAINT), ("commands/wipe.toml", WIPE), ("roles/clerk/ROLE.md", ROLE)];
    with(world, &format!("roles.path = \"roles\"\n{config}"), &files)
}

/// A page with tools, and the rows of its thread `t`.
struct Page {
    client: Client,
    rows: Vec<Value>,
    tools: Vec<Value>,
}

impl Page {
    fn new(client: Client, tools: &[&str]) -> Self {
        Self { client, rows: Vec::new(), tools: tools.iter().map(|name| tool(name)).collect() }
    }

    async fn say(&mut self, run: &str, text: &str) -> Vec<Item> {
        self.rows.push(json!({"id": format!("m-{run}"), "role": "user", "content": text}));
        self.post(run).await
    }

    async fn result(&mut self, run: &str, call: &str, content: &str) -> Vec<Item> {
        self.rows.push(json!({"id": format!("tr-{call}"), "role": "tool", "toolCallId": call, "content": content}));
        self.post(run).await
    }

    async fn post(&self, run: &str) -> Vec<Item> {
        let body = json!({"threadId": "t", "runId": run, "protocolVersion": "1.0", "state": {}, "messages": self.rows,
            "context": [], "tools": self.tools, "forwardedProps": {}});
        self.client.post(&body).await.stream().rest().await
    }
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("does {name}"), "parameters": {"type": "object"}})
}

/// Name, id of each call.
fn calls(items: &[Item]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let started = items.iter().filter(|item| item.kind() == "TOOL_CALL_START");
    started.map(|item| (text(&item.json["toolCallName"]), text(&item.json["toolCallId"]))).collect()
}

/// The ids the run ended waiting for.
fn pending(items: &[Item]) -> Vec<String> {
    let ids = items.last().unwrap().json["outcome"]["pendingToolCallIds"].as_array().cloned().unwrap_or_default();
    ids.iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

fn results(items: &[Item]) -> Vec<Value> {
    let shown = items.iter().filter(|item| item.kind() == "TOOL_CALL_RESULT");
    shown.map(|item| serde_json::from_str(item.json["content"].as_str().unwrap()).unwrap()).collect()
}

fn offered(world: &World, request: usize) -> Vec<String> {
    let asked = world.provider.records();
    let tools = asked[request].body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

async fn without_a_manifest_a_clients_tools_run(world: World) {
    let server = world.setup.serve();
    let mut page = Page::new(server.client("ada"), &["stray"]);
    let first = page.say("r1", "[[tool stray {}]]").await;
    let waits = pending(&first);
    assert_eq!(waits.len(), 1);
    assert_eq!(said(&page.result("r2", &waits[0], "1").await), "done: 1");
}

async fn untagged_may_be_a_persons(world: World) {
    let world = with(world, "[channels.web]\nuntagged = \"requires_human\"\n", &[]);
    let server = world.setup.serve();
    let first = Page::new(server.client("ada"), &["stray"]).say("r1", "[[tool stray {}]]").await;
    assert_eq!(pending(&first), [""; 0]);
    assert_eq!(results(&first)[0]["status"], "requires_human");
    assert!(offered(&world, 0).contains(&"stray".to_owned()));
}

async fn a_manifest_says_what_a_call_does(world: World) {
    let world = manifest(world, "");
    let server = world.setup.serve();
    let mut page = Page::new(server.client("ada"), &["go", "paint", "wipe", "stray"]);
    // Of category `invoice`, which the role has not, and irreversible: included by name, and still a person's.
    let first = page.say("r1", "[[tool wipe {}]]").await;
    assert_eq!((pending(&first).len(), &results(&first)[0]["status"]), (0, &json!("requires_human")));
    assert!(results(&first)[0]["message"].as_str().is_some_and(|text| !text.is_empty()));
    // Nobody declared it, and the role's categories leave it out: as if it were not there.
    let second = page.say("r2", "[[tool stray {}]]").await;
    assert_eq!((pending(&second).len(), results(&second)[0]["error"].is_string()), (0, true));
    let third = page.say("r3", "[[tool paint {}]]").await;
    let waits = pending(&third);
    assert_eq!(said(&page.result("r4", &waits[0], "painted").await), "done: painted");
    assert_eq!(offered(&world, 0), ["go", "paint", "whoami", "wipe"]);
    let system = world.provider.records()[0].messages()[0]["content"].to_string();
    assert!(system.contains("clerk of a print shop"), "{system}");
}

async fn what_nobody_declared_is_a_persons(world: World) {
    let world = with(world, "", &[("commands/go.toml", GO)]);
    let server = world.setup.serve();
    let first = Page::new(server.client("ada"), &["go", "stray"]).say("r1", "[[tool stray {}]]").await;
    assert_eq!((pending(&first).len(), &results(&first)[0]["status"]), (0, &json!("requires_human")));
}

async fn a_client_may_say_that_its_tool_does_more(world: World) {
    let world = manifest(world, "");
    let server = world.setup.serve();
    let mut page = Page::new(server.client("ada"), &["go", "wipe"]);
    page.tools[0]["metadata"] = json!({"frontdesk": {"effect": "human_only"}});
    page.tools[1]["metadata"] = json!({"frontdesk": {"effect": "read"}});
    let first = page.say("r1", "[[tool wipe {}]]").await;
    assert_eq!((pending(&first).len(), &results(&first)[0]["status"]), (0, &json!("requires_human")));
    // What is a person's own is not of the effects that this role's scope admits.
    assert_eq!(offered(&world, 0), ["whoami", "wipe"]);
}

async fn narration_is_told_before_the_call_is_run(world: World) {
    let world = manifest(world, "");
    let server = world.setup.serve();
    let mut page = Page::new(server.client("ada"), &["go", "paint"]);
    let first = page.say("r1", "[[tool go {}]][[tool paint {}]]").await;
    let id = &calls(&first)[0].1;
    let told: Vec<_> = first.iter().filter(|item| item.json["name"] == "frontdesk.narration").collect();
    assert_eq!(told.len(), 1, "only what has texts is narrated");
    assert_eq!(told[0].json["value"], json!({"toolCallId": id, "calling": "go.calling", "done": "go.done"}));
    let place = |name: &str| first.iter().position(|item| item.json["name"] == name).unwrap();
    assert!(place("frontdesk.narration") < place("tool-input-available"));
}

async fn a_continuation_has_what_is_still_mounted(world: World) {
    let world = manifest(world, "");
    let server = world.setup.serve();
    let mut page = Page::new(server.client("ada"), &["go", "paint", "wipe"]);
    let first = page.say("r1", "[[tool go {}]][[then]][[tool paint {}]][[tool wipe {}]]").await;
    // The screen changed: `paint` is gone, and a tool is there that was not offered.
    page.tools = vec![tool("go"), tool("wipe"), tool("stray")];
    let second = page.result("r2", &pending(&first)[0], "1").await;
    assert_eq!((offered(&world, 0).len(), offered(&world, 1)), (4, vec!["go".into(), "whoami".into(), "wipe".into()]));
    assert_eq!(pending(&second), [""; 0]);
    let results = results(&second);
    assert!(results[0]["error"].as_str().unwrap().contains("paint"), "{results:?}");
    assert_eq!(results[1]["status"], "requires_human");
}

/// A read, two of the client's and one of a person's in one step; the client's results in every order, at once or not.
async fn mixed_calls_end_well_in_any_order(world: World) {
    let world = manifest(world, "");
    let server = world.setup.serve();
    let script = "[[tool wipe {}]][[tool go {}]][[tool whoami {}]][[tool paint {}]][[tool nothing {}]]";
    let mut ends = Vec::new();
    for (number, (order, at_once)) in [([0, 1], true), ([1, 0], true), ([0, 1], false), ([1, 0], false)].into_iter().enumerate() {
        let mut page = Page::new(server.client(&format!("u{number}")), &["go", "paint", "wipe"]);
        let first = page.say("r1", script).await;
        assert_eq!((calls(&first).len(), results(&first).len()), (5, 3));
        let waits = pending(&first);
        let contents = ["\"G\"", "\"P\""];
        let mut last = Vec::new();
        for (turn, place) in order.into_iter().enumerate() {
            let (id, content) = (&waits[place], contents[place]);
            if at_once && turn == 0 {
                page.rows.push(json!({"id": format!("tr-{id}"), "role": "tool", "toolCallId": id, "content": content}));
            } else {
                last = page.result(&format!("r{}", turn + 2), id, content).await;
            }
        }
        let end = said(&last);
        assert!(end.contains("requires_human") && end.contains("\"G\"") && end.contains("\"P\""), "{end}");
        ends.push(end.replace(&format!("u{number}"), "ada"));
    }
    ends.dedup();
    assert_eq!(ends.len(), 1, "the same in every order: {ends:?}");
}

async fn a_role_file_narrows(world: World) {
    let role = "---\nscope:\n  effects: []\n  include: [whoami]\n---\nYou know one thing.\n";
    let world = with(world, "roles.path = \"roles\"", &[("roles/narrow/ROLE.md", role)]);
    let server = world.setup.serve();
    let mut page = Page::new(server.client("ada"), &["go"]);
    page.say("r1", "[[tool clock {}]]").await;
    assert_eq!(offered(&world, 0), ["whoami"]);
    assert_eq!(server.client("ada").run("r1").await.body["role"], "narrow");
}

async fn tools_are_listed_for_people_and_programs(world: World) {
    let world = manifest(
        world,
        "[categories]\nnavigation.data = \"app\"\ninvoice.data = \"own\"\naccount.data = \"own\"\ntime.data = \"app\"\n",
    );
    let page = world.setup.run(&["tools"]);
    assert_eq!(page.code, Some(0), "{page:?}");
    let expected = "\
Role clerk on channel web: 4 of 5 tools admitted.

NAME    ORIGIN   CATEGORY    EFFECT        ADMITTED         A CALL          TITLE
clock   catalog  time        read          no, by category  run             Date and time
go      client   navigation  gesture       yes              run
paint   client   navigation  reversible    yes              run
whoami  catalog  account     read          yes              run             Who am I
wipe    client   invoice     irreversible  yes              requires_human
";
    assert_eq!(page.stdout, expected);
    let names = world.setup.run(&["tools", "--rust"]).stdout;
    assert!(names.contains("pub const PAINT: Known = Known::new(\"paint\");"), "{names}");

    let json: Value = serde_json::from_str(&world.setup.run(&["tools", "--json", "--channel", "cli"]).stdout).unwrap();
    let server = world.setup.serve();
    let ada = server.client("ada");
    let listed = ada.get("/v1/tools?role=clerk&channel=cli").await;
    assert_eq!((listed.status, &listed.body), (200, &json));
    assert_eq!(json["items"][1]["data"], "app");
    assert_eq!(
        json["items"][4],
        json!({"name": "wipe", "origin": "client", "category": "invoice", "data": "own",
        "effect": "irreversible", "surface": "global", "admitted": true, "verdict": "requires_human"})
    );
    assert_eq!(ada.get("/v1/tools").await.body["channel"], "web");
    for query in ["role=nobody", "channel=fax", "role=", "channel=%00"] {
        assert_eq!(ada.get(&format!("/v1/tools?{query}")).await.problem(), (422, "invalid-input"), "{query}");
    }
    let stranger = Client::new(server.address).ask(Request::get("/v1/tools")).await;
    assert_eq!(stranger.problem(), (401, "unauthenticated"));
    assert_eq!(world.setup.run(&["tools", "--role", "nobody"]).code, Some(2));

    // What does not fit does not start.
    fs::write(world.setup.folder.join("commands/odd.toml"), "name = \"odd\"\ncategory = \"naviagtion\"\neffect = \"gesture\"\n")
        .unwrap();
    let refused = world.setup.run(&["tools"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(refused.stderr.starts_with("commands/odd.toml:2:12: unknown-category: "), "{refused:?}");
    assert!(refused.stderr.contains("did you mean \"navigation\"?"), "{refused:?}");
}

#[test]
fn the_examples_fit() {
    let folder = tempfile::tempdir().unwrap();
    let example = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bookkeeping/frontdesk.toml");
    let setup = testkit::Setup::new(folder.path(), "sqlite:unused.db");
    let tools = |role: &str| {
        let ran = setup.run(&["tools", "--json", "--role", role, "--config", example.to_str().unwrap()]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let list: Value = serde_json::from_str(&ran.stdout).unwrap();
        let items = list["items"].as_array().unwrap().clone();
        let admitted = items.iter().filter(|item| item["admitted"] == true);
        admitted
            .map(|item| format!("{} {}", item["name"].as_str().unwrap(), item["verdict"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    let bookkeeper =
        ["open_invoice run", "reconnect_accounting run", "render_on_canvas run", "submit_invoice requires_human", "whoami run"];
    assert_eq!(tools("bookkeeper"), bookkeeper);
    let support = ["book_sales_call run", "open_invoice run", "open_support_chat run", "render_on_canvas run", "whoami run"];
    assert_eq!(tools("support"), support);
    assert!(!folder.path().join("unused.db").exists(), "a list needs no database");
}
