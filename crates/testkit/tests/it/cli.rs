//! The command line: what it prints and how it ends.

use serde_json::{Value, json};
use testkit::{Engine, Setup, World, input, token, wait};

on_both_engines! {
    run_answers_in_process
    run_asks_a_server
    run_is_interrupted
    what_a_killed_command_leaves_is_gone_on_with
    the_dead_letter
}

/// Without the keys only a server reads.
fn alone(world: &World) -> Setup {
    world.setup.clone().without("auth.jwt_secret").without("auth.memberships")
}

async fn run_answers_in_process(world: World) {
    let setup = alone(&world);
    let ran = setup.run(&["run", "[[say hello world]]"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "hello world\n"), "{}", ran.stderr);
    let ran = setup.run_with_input(&["run", "-"], "[[say from input]]\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "from input\n"), "{}", ran.stderr);

    let ran = setup.run(&["run", "--json", "--thread", "t", "[[tool whoami {}]]"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let events: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut verifier = domain::Verifier::new();
    for event in &events {
        verifier.accept(&serde_json::from_value(event.clone()).unwrap()).unwrap();
    }
    assert!(verifier.is_ended());
    assert_eq!((&events[0]["threadId"], &events[events.len() - 1]["type"]), (&json!("t"), &json!("RUN_FINISHED")));
    let result = events.iter().find(|event| event["type"] == "TOOL_CALL_RESULT").unwrap();
    assert!(result["content"].as_str().unwrap().contains("local"), "{result}");

    let ran = setup.run(&["run", "--thread", "t", "[[say more]]"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "more\n"), "{}", ran.stderr);
    assert!(world.provider.asked("[[say more]]")[0].transcript().len() > 3);

    let ran = setup.run(&["run", "[[error 500]]"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("model-unavailable") || ran.stderr.contains("model"), "{}", ran.stderr);

    let listed = setup.run(&["threads", "list"]);
    assert_eq!((listed.code, listed.stdout.contains('t')), (Some(0), true), "{listed:?}");
    let shown = setup.run(&["threads", "show", "t"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for part in ["whoami", "more", "scripted"] {
        assert!(shown.stdout.contains(part), "no {part} in {}", shown.stdout);
    }
    let unknown = setup.run(&["threads", "show", "unknown"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(1), ""), "{unknown:?}");
}

async fn run_asks_a_server(world: World) {
    let mut server = world.setup.serve();
    let url = format!("http://{}", server.address);
    let away = Setup { environment: Vec::new(), ..world.setup.clone() };
    let with = |token: &str| away.clone().variable("FRONTDESK_TOKEN", token);
    let ran = with(&token::token("ada", "acme")).run(&["run", "--server", &url, "--thread", "t", "[[say hello]]"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "hello\n"), "{}", ran.stderr);
    assert_eq!(server.client("ada").transcript("t").await, ["user: [[say hello]]", "assistant: hello"]);
    let ran = with(&token::token("ada", "acme")).run(&["run", "--server", &url, "[[error 500]]"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let ran = with("nonsense").run(&["run", "--server", &url, "x"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("unauthenticated"), "{}", ran.stderr);
    // Told to go, its worker's row is gone with it.
    server.process.terminate();
    server.process.wait();
    let idle = world.setup.clone().with("worker.concurrency", "0").serve();
    let url = format!("http://{}", idle.address);
    let ran = with(&token::token("bob", "acme")).run(&["run", "--server", &url, "x"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("no-worker"), "{}", ran.stderr);
}

async fn run_is_interrupted(world: World) {
    let setup = alone(&world);
    let mut asked = testkit::Process::spawn(&setup, &["run", "--thread", "t", "[[words 4]][[gate never after 2]]"]);
    world.provider.reached("never").await;
    testkit::signal(asked.pid(), "INT");
    assert_eq!(asked.wait().code(), Some(130), "{}", asked.stderr());
    wait::until("the provider's socket to close", async || world.provider.records()[0].end).await;
    let shown = setup.run(&["threads", "show", "t"]);
    assert!(shown.stdout.contains("cancelled") && shown.stdout.contains("w1 w2"), "{shown:?}");
    let ran = setup.run(&["run", "--thread", "t", "[[say next]]"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "next\n"), "{}", ran.stderr);
}

async fn what_a_killed_command_leaves_is_gone_on_with(world: World) {
    let setup = alone(&world);
    let mut first = testkit::Process::spawn(&setup, &["run", "--thread", "t", "[[words 4]][[gate go after 2]]"]);
    world.provider.reached("go").await;
    first.kill();
    world.provider.open("go");
    let ran = setup.run(&["run", "--thread", "t", "[[say second]]"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "second\n"), "{}", ran.stderr);
    let asked = world.provider.asked("[[say second]]");
    let expected = ["user: [[words 4]][[gate go after 2]]", "assistant: w1 w2 w3 w4"];
    assert_eq!(asked[0].transcript()[..2], expected);
}

async fn the_dead_letter(world: World) {
    let setup = world.setup.clone().with("threads.on_disconnect", "detach");
    let mut server = setup.serve();
    let ada = server.client("ada");
    drop(ada.post(&input("t", "r", "m", "[[words 2]][[gate never after 1]]")).await.stream());
    world.provider.reached("never").await;
    for attempt in 1..=3 {
        wait::until("the next attempt", async || (world.provider.records().len() == attempt).then_some(())).await;
        server.process.kill();
        server = setup.serve();
    }
    let ada = server.client("ada");
    let run = ada.status("r", "abandoned").await;
    assert_eq!(run["error"]["code"], "abandoned", "{run}");
    let items = ada.join("r", "-1").await.stream().rest().await;
    let last = &items.last().unwrap().json;
    assert_eq!((&last["type"], &last["code"]), (&json!("RUN_ERROR"), &json!("abandoned")));
    let dead = world.setup.run(&["bus", "dead"]);
    assert_eq!(dead.code, Some(0), "{dead:?}");
    assert!(dead.stdout.lines().count() == 1 && dead.stdout.contains('r'), "{dead:?}");
    assert_eq!(testkit::said(&ada.say("t", "r2", "m2", "[[say fine]]").await), "fine");
}

#[test]
fn wrong_configuration_says_where_and_what() {
    let world = World::new(Engine::Sqlite).unwrap();
    let refuses = |setup: &Setup, arguments: &[&str], said: &[&str]| {
        let ran = setup.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        for part in said {
            assert!(ran.stderr.contains(part), "no {part} in {}", ran.stderr);
        }
        assert!(!ran.stderr.contains(token::SECRET), "{}", ran.stderr);
    };
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    refuses(&world.setup.clone().variable("FRONTDESK__LIMITS__STEP", "3"), &serve, &["limits.step", "STEPS"]);
    refuses(&world.setup.clone().with("limits.steps", "many"), &serve, &["steps"]);
    refuses(&world.setup.clone().with("store.url", "mysql://x"), &serve, &["store.url"]);
    refuses(&world.setup.clone().with("auth.jwt_secret", "short"), &serve, &["auth.jwt_secret"]);
    refuses(&world.setup.clone().variable("AI_TEST_PROVIDER", "true"), &serve, &["AI_TEST_PROVIDER"]);
    let demo = alone(&world);
    refuses(&demo, &["serve", "--listen", "0.0.0.0:0"], &["demo"]);
    refuses(&demo, &["serve", "--nonsense"], &["--nonsense"]);
    std::fs::write(world.setup.folder.join("frontdesk.toml"), "[limits]\nsteps = 5\nstepz = 5\n").unwrap();
    refuses(&world.setup, &serve, &["frontdesk.toml:3", "stepz", "steps"]);
}

/// The scripted model in the process answers only in the test binary, and there only when asked for.
#[test]
fn the_test_binary_has_a_model_of_its_own() {
    let world = World::new(Engine::Sqlite).unwrap();
    let setup = alone(&world).without("model.base_url").without("model.name");
    let setup = Setup { binary: testkit::binary::binary("frontdesk-test"), ..setup };
    let ran = setup.clone().variable("AI_TEST_PROVIDER", "true").run(&["run", "[[tool whoami {}]]"]);
    assert_eq!((ran.code, ran.stdout.starts_with("done: ")), (Some(0), true), "{ran:?}");
    let ran = setup.run(&["run", "[[say hi]]"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""), "{ran:?}");
    assert!(ran.stderr.contains("model-unconfigured"), "{}", ran.stderr);
}

#[test]
fn organizations_users_and_migrations() {
    let world = World::new(Engine::Sqlite).unwrap();
    let done = |arguments: &[&str]| {
        let ran = world.setup.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
        ran.stdout
    };
    done(&["migrate"]);
    done(&["migrate"]);
    done(&["org", "add", "acme"]);
    assert!(done(&["org", "list"]).contains("acme"));
    done(&["user", "add", "ada", "--org", "acme"]);
    assert!(done(&["user", "list", "--org", "acme"]).contains("ada"));
    done(&["user", "remove", "ada", "--org", "acme"]);
    assert!(!done(&["user", "list", "--org", "acme"]).contains("ada"));
    let made = done(&["token", "--sub", "ada", "--org", "acme", "--ttl", "1h"]);
    assert_eq!((made.lines().count(), made.trim_end().split('.').count()), (1, 3), "{made}");
    assert_eq!(world.setup.run(&["user", "add", "ada", "--org", "nowhere"]).code, Some(1));
    let help = done(&["--help"]);
    for command in ["serve", "worker", "run", "token", "org", "user", "threads", "bus", "migrate"] {
        assert!(help.contains(command), "{help}");
    }
}
