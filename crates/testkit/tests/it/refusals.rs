//! What is refused before anything is stored: problem documents, tokens, a server that cannot answer.

use serde_json::{Value, json};
use testkit::{Client, Engine, Request, World, input, said, token, wait};

on_both_engines! {
    malformed_requests
    without_a_model
    without_a_worker
}

/// Sends a body as it is.
async fn raw(client: &Client, body: &str) -> testkit::Plain {
    let request = Request {
        method: "POST",
        path: "/v1/agui".into(),
        headers: vec![("content-type".into(), "application/json".into())],
        body: body.into(),
    };
    client.ask(request).await
}

async fn malformed_requests(world: World) {
    let server = world.setup.serve();
    let ada = server.client("ada");
    let with = |key: &str, value: Value| {
        let mut body = input("t", "r", "m", "x");
        body[key] = value;
        body.to_string()
    };
    let without = |key: &str| {
        let mut body = input("t", "r", "m", "x");
        body.as_object_mut().unwrap().remove(key);
        body.to_string()
    };
    let cases: Vec<(String, (u16, &str))> = vec![
        ("{".into(), (400, "invalid-json")),
        (String::new(), (400, "invalid-json")),
        ("[]".into(), (422, "invalid-input")),
        (without("threadId"), (422, "invalid-input")),
        (without("messages"), (422, "invalid-input")),
        (with("threadId", json!("")), (422, "invalid-input")),
        (with("threadId", json!("a\nb")), (422, "invalid-input")),
        (with("threadId", json!("é".repeat(201))), (422, "invalid-input")),
        (with("runId", json!(7)), (422, "invalid-input")),
        (with("messages", json!([])), (422, "invalid-input")),
        (with("messages", json!([{"id": "m", "role": "user", "content": ""}])), (422, "invalid-input")),
        (with("messages", json!([{"id": "m", "role": "user", "content": {"a": 1}}])), (422, "invalid-input")),
        (with("messages", json!([{"role": "user", "content": "x"}])), (422, "invalid-input")),
        (with("protocolVersion", json!("2.0")), (400, "unsupported-protocol-version")),
        (with("forwardedProps", json!({"frontdesk": {"replaces": "unknown"}})), (422, "invalid-input")),
    ];
    for (body, expected) in cases {
        let answer = raw(&ada, &body).await;
        assert_eq!(answer.problem(), expected, "{body}");
    }
    assert_eq!(ada.get("/nowhere").await.problem(), (404, "not-found"));
    let wrong = ada.ask(Request { method: "PUT", path: "/v1/agui".into(), ..Request::default() }).await;
    assert_eq!(wrong.problem(), (405, "method-not-allowed"));
    assert_eq!(ada.cancel("unknown").await.problem().0, 404);
    assert_eq!(ada.hydrate("t").await["messages"], json!([]));
    assert_eq!(world.provider.records().len(), 0);

    // What lenient clients send is taken: unknown keys, nulls, no runId, no protocolVersion.
    let mut lenient = input("t", "r", "m", "[[say ok]]");
    for key in ["runId", "protocolVersion", "tools", "context", "state"] {
        lenient.as_object_mut().unwrap().remove(key);
    }
    lenient["parentRunId"] = Value::Null;
    lenient["data"] = json!({"anything": [1]});
    let items = ada.post(&lenient).await.stream().rest().await;
    assert_eq!(said(&items), "ok");
    assert!(items[0].json["runId"].as_str().is_some_and(|id| !id.is_empty()));
}

async fn without_a_model(world: World) {
    let server = world.setup.clone().without("model.base_url").without("model.name").serve();
    let ada = server.client("ada");
    let refused = ada.post(&input("t", "r", "m", "x")).await.plain();
    assert_eq!(refused.problem(), (503, "model-unconfigured"));
    assert_eq!(ada.hydrate("t").await["messages"], json!([]));
    assert_eq!(ada.run("r").await.problem().0, 404);
    assert!(server.process.stderr().contains("model"), "nothing says how to name a model");
}

async fn without_a_worker(world: World) {
    let setup = world.setup.clone().with("worker.concurrency", "0");
    let server = setup.serve();
    let ada = server.client("ada");
    assert_eq!((ada.get("/healthz").await.status, ada.get("/readyz").await.status), (200, 503));
    let refused = ada.post(&input("t", "r", "m", "x")).await.plain();
    assert_eq!(refused.problem(), (503, "no-worker"));
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    assert_eq!(ada.hydrate("t").await["messages"], json!([]));
    let _worker = setup.clone().with("worker.concurrency", "4").worker();
    wait::until("/readyz", async || (ada.get("/readyz").await.status == 200).then_some(())).await;
    assert_eq!(said(&ada.say("t", "r", "m", "[[say hi]]").await), "hi");
}

const ANY: &str = "/v1/agui?threadId=t";

#[tokio::test]
async fn tokens() {
    let world = World::new(Engine::Sqlite).unwrap();
    let server = world.setup.clone().with("auth.issuer", "app").serve();
    let head = json!({"alg": "HS256", "typ": "JWT"});
    let claims = || {
        let mut claims = token::claims("ada", "acme");
        claims["iss"] = json!("app");
        claims
    };
    let with = |key: &str, value: Value| {
        let mut claims = claims();
        claims[key] = value;
        token::sign(token::SECRET, &head, &claims)
    };
    let without = |key: &str| {
        let mut claims = claims();
        claims.as_object_mut().unwrap().remove(key);
        token::sign(token::SECRET, &head, &claims)
    };
    let good = token::sign(token::SECRET, &head, &claims());
    let unsigned = token::sign(token::SECRET, &json!({"alg": "none"}), &claims());
    let bad = [
        "nonsense".to_owned(),
        token::sign("another secret of more than thirty-two bytes", &head, &claims()),
        unsigned.clone(),
        format!("{}.", unsigned.rsplit_once('.').unwrap().0),
        token::sign(token::SECRET, &json!({"alg": "HS512", "typ": "JWT"}), &claims()),
        with("exp", json!(token::in_seconds(-60))),
        with("nbf", json!(token::in_seconds(60))),
        with("aud", json!("other")),
        with("iss", json!("other")),
        with("sub", json!("")),
        with("sub", json!("x".repeat(201))),
        without("sub"),
        without("org"),
        without("exp"),
        without("aud"),
        without("iss"),
    ];
    for token in bad {
        let answer = Client::new(server.address).with_token(&token).get(ANY).await;
        assert_eq!(answer.problem(), (401, "unauthenticated"), "{token}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer error=\"invalid_token\""));
        assert!(!answer.body.to_string().contains(&token));
    }
    let answer = Client::new(server.address).get(ANY).await;
    assert_eq!(answer.problem(), (401, "unauthenticated"));
    let good =
        [good, with("aud", json!(["x", "frontdesk"])), with("exp", json!(token::in_seconds(-2))), with("name", json!("Ada"))];
    for token in good {
        assert_eq!(Client::new(server.address).with_token(&token).get(ANY).await.status, 200, "{token}");
    }
    assert_eq!(Client::new(server.address).with_token("").get("/healthz").await.status, 200);
}

#[tokio::test]
async fn memberships_in_the_store() {
    let world = World::new(Engine::Sqlite).unwrap();
    let setup = world.setup.clone().without("auth.memberships");
    let server = setup.serve();
    let ada = server.client("ada");
    assert_eq!(ada.post(&input("t", "r", "m", "x")).await.plain().problem(), (403, "not-a-member"));
    assert_eq!(setup.run(&["org", "add", "acme"]).code, Some(0));
    let added = setup.run(&["user", "add", "ada", "--org", "acme"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    assert_eq!(said(&ada.say("t", "r", "m", "[[say hi]]").await), "hi");
    assert_eq!(ada.hydrate("t").await["messages"].as_array().unwrap().len(), 2);
    let listed = setup.run(&["user", "list", "--org", "acme"]);
    assert!(listed.stdout.contains("ada"), "{listed:?}");
    let removed = setup.run(&["user", "remove", "ada", "--org", "acme"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert_eq!(ada.post(&input("t", "r2", "m2", "x")).await.plain().problem(), (403, "not-a-member"));
}

#[tokio::test]
async fn demo() {
    let world = World::new(Engine::Sqlite).unwrap();
    let setup = world.setup.clone().without("auth.jwt_secret").without("auth.memberships");
    let server = setup.serve();
    let nobody = Client::new(server.address);
    let request = || Request::post("/v1/auth/demo", &json!({}));
    let given = nobody.ask(request()).await;
    assert_eq!(given.status, 200, "{given:?}");
    assert_eq!((&given.body["user"], &given.body["organization"]), (&json!("local"), &json!("local")));
    assert!(given.body["expiresAt"].is_string() || given.body["expiresAt"].is_i64());
    let local = nobody.clone().with_token(given.body["token"].as_str().unwrap());
    assert_eq!(said(&local.say("t", "r", "m", "[[say hi]]").await), "hi");

    let own = format!("http://{}", server.address);
    assert_eq!(nobody.ask(request().header("origin", &own)).await.status, 200);
    assert_eq!(nobody.ask(request().header("origin", "http://evil.example")).await.status, 403);
    // The key is the store's: a token of the command line is good here, and after a restart.
    let made = setup.run(&["token", "--sub", "local", "--org", "local"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    assert_eq!(nobody.with_token(made.stdout.trim_end()).transcript("t").await.len(), 2);
    drop(server);
    let server = setup.serve();
    let again = Client { address: server.address, ..local };
    assert_eq!(again.transcript("t").await.len(), 2);
    // In jwt mode there is no such call.
    let jwt = world.setup.serve();
    assert_eq!(Client::new(jwt.address).ask(request()).await.status, 404);
}
