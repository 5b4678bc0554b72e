//! The binary: the product's commands with the garage's tools.

use testkit::{Client, Provider, said, token};

use crate::support::Place;

on_both_engines! {
    serve_prints_the_product_s_line_and_fills_the_demo
    run_calls_a_tool_and_answers
    outside_demo_mode_nothing_is_filled
}

async fn serve_prints_the_product_s_line_and_fills_the_demo(place: Place) {
    let provider = Provider::start();
    let setup = place.setup().with("model.base_url", &provider.url()).with("model.name", "scripted");
    for _ in 0..2 {
        let mut server = setup.serve();
        for (org, expected) in [("local", "Renew the insurance of the Volvo"), ("empty", r#"{"todos":[]}"#)] {
            let ran = setup.run(&["token", "--sub", "local", "--org", org]);
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            let client = Client::new(server.address).with_token(ran.stdout.trim());
            let thread = format!("t-{}-{org}", server.process.pid());
            let items = client.say(&thread, &thread, &thread, "[[tool todo_list {}]]").await;
            assert!(said(&items).contains(expected), "{org}: {}", said(&items));
        }
        server.process.terminate();
        assert_eq!(server.process.wait().code(), Some(0));
    }
}

async fn run_calls_a_tool_and_answers(place: Place) {
    let provider = Provider::start();
    let setup = place.setup().with("model.base_url", &provider.url()).with("model.name", "scripted");
    let mut server = setup.serve();
    server.process.terminate();
    server.process.wait();
    let ran = setup.run(&["run", r#"[[tool todo_list {"text": "OIL", "status": "all"}]]"#]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("done: ") && ran.stdout.contains("Change the oil"), "{}", ran.stdout);
    let asked = provider.records();
    let tools = asked[0].body["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["clock", "garage_cars", "organization_info", "todo_detail", "todo_list", "whoami"]);
}

async fn outside_demo_mode_nothing_is_filled(place: Place) {
    let setup = place.setup().with("auth.jwt_secret", token::SECRET);
    let mut server = setup.serve();
    server.process.terminate();
    server.process.wait();
    let store = place.store().await;
    let mut tx = store.read().await.unwrap();
    assert!(tx.rows("SELECT 1 FROM garage_cars", &[]).await.unwrap().is_empty());
    assert!(!store.organizations().await.unwrap().iter().any(|organization| organization.id.as_str() == "empty"));
}
