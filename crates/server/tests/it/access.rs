use axum::{body::Body, http::Request};
use domain::{OrgId, UserId};
use serde_json::json;
use server::{AuthMode, AuthSettings, Memberships, Settings};

use crate::world::{Answer, Options, World, input};

fn idle() -> Options {
    Options { workers: false, ..Options::default() }
}

async fn get(world: &World, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    world.send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn a_caller_needs_a_token_and_a_membership() {
    let world = World::with(idle()).await;
    for (headers, challenge) in [
        (vec![], "Bearer"),
        (vec![("authorization", "Basic x")], "Bearer error=\"invalid_token\""),
        (vec![("authorization", "Bearer x.y.z")], "Bearer error=\"invalid_token\""),
        (vec![("authorization", "Bearer ")], "Bearer error=\"invalid_token\""),
    ] {
        let answer = get(&world, "/v1/runs/r1", &headers).await;
        assert_eq!(answer.problem(), (401, "unauthenticated".to_owned()));
        assert_eq!(answer.header("www-authenticate"), Some(challenge));
    }
    let eve = format!("Bearer {}", world.token("eve").await);
    for path in ["/v1/runs/r1", "/v1/agui?threadId=t", "/v1/agui?runId=r&offset=-1"] {
        assert_eq!(get(&world, path, &[("authorization", &eve)]).await.problem(), (403, "not-a-member".to_owned()));
    }
    assert_eq!(world.get("/v1/runs/r1").await.problem().0, 404);
    world.clock.0.fetch_add(3_605_000, std::sync::atomic::Ordering::SeqCst);
    let later = world.token("ada").await;
    assert_eq!(get(&world, "/v1/runs/r1", &[("authorization", &format!("bearer {later}"))]).await.problem().0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn anothers_runs_and_threads_are_unknown() {
    let world = World::new().await;
    world.agui(input("main", "r1", "hello")).await;
    world.store.add_user(&OrgId::parse("acme").unwrap(), &UserId::parse("bob").unwrap(), None).await.unwrap();
    let bob = format!("Bearer {}", world.token("bob").await);
    let auth = [("authorization", bob.as_str())];
    assert_eq!(get(&world, "/v1/runs/r1", &auth).await.problem(), (404, "run-not-found".to_owned()));
    assert_eq!(get(&world, "/v1/agui?runId=r1&offset=-1", &auth).await.problem(), (404, "run-not-found".to_owned()));
    assert_eq!(get(&world, "/v1/agui?threadId=main", &auth).await.json()["messages"], json!([]));
}

#[tokio::test]
async fn with_claims_a_valid_token_is_a_membership() {
    let mut options = idle();
    options.settings.auth.memberships = Memberships::Claims;
    let world = World::with(options).await;
    // The store's clock is the real one, the token's must outlive it.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    world.clock.0.store(i64::try_from(now.as_millis()).unwrap(), std::sync::atomic::Ordering::SeqCst);
    let eve = format!("Bearer {}", world.token("eve").await);
    for _ in 0..2 {
        assert_eq!(get(&world, "/v1/runs/r1", &[("authorization", &eve)]).await.problem(), (404, "run-not-found".to_owned()));
    }
}

#[tokio::test]
async fn demo_gives_its_token_only_at_home() {
    let auth = AuthSettings { mode: AuthMode::Demo, ..AuthSettings::default() };
    let world = World::with(Options { settings: Settings { auth, ..Settings::default() }, ..idle() }).await;
    let ask = async |headers: &[(&str, &str)]| {
        let mut request = Request::builder().method("POST").uri("/v1/auth/demo");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        world.send(request.body(Body::empty()).unwrap()).await
    };
    for headers in [
        vec![],
        vec![("host", "evil.example:8080")],
        vec![("host", "127.0.0.1:8080"), ("origin", "http://evil.example")],
        vec![("host", "127.0.0.1:8080"), ("origin", "null")],
    ] {
        assert_eq!(ask(&headers).await.problem(), (403, "forbidden".to_owned()), "{headers:?}");
    }
    for headers in [vec![("host", "127.0.0.1:8080")], vec![("host", "localhost:1"), ("origin", "http://localhost:1")]] {
        let answer = ask(&headers).await.json();
        assert_eq!((&answer["user"], &answer["organization"]), (&json!("local"), &json!("local")));
        assert!(answer["expiresAt"].as_str().unwrap().ends_with('Z'));
        let bearer = format!("Bearer {}", answer["token"].as_str().unwrap());
        let seen = get(&world, "/v1/runs/r1", &[("authorization", &bearer)]).await;
        assert_eq!(seen.problem(), (404, "run-not-found".to_owned()));
    }
    let world = World::with(idle()).await;
    assert_eq!(world.post("/v1/auth/demo").await.problem(), (404, "not-found".to_owned()));
}

#[tokio::test]
async fn only_allowed_hosts_are_answered() {
    let mut options = idle();
    options.settings.allowed_hosts = vec!["desk.example.com".to_owned()];
    let world = World::with(options).await;
    assert_eq!(get(&world, "/healthz", &[("host", "evil.example")]).await.problem(), (403, "forbidden".to_owned()));
    assert_eq!(get(&world, "/healthz", &[]).await.status.as_u16(), 403);
    assert_eq!(get(&world, "/healthz", &[("host", "desk.example.com:8080")]).await.status.as_u16(), 200);
}

#[tokio::test]
async fn what_is_not_there_is_a_problem_too() {
    let world = World::with(idle()).await;
    assert_eq!(world.get("/nowhere").await.problem(), (404, "not-found".to_owned()));
    let answer = world.post("/healthz").await;
    assert_eq!(answer.problem(), (405, "method-not-allowed".to_owned()));
    assert_eq!(answer.header("allow"), Some("GET,HEAD"));
    let head = world.send(Request::builder().method("HEAD").uri("/healthz").body(Body::empty()).unwrap()).await;
    assert_eq!((head.status.as_u16(), head.body.as_str()), (200, ""));
    assert_eq!(world.get("/v1/runs/a%00b").await.problem(), (404, "run-not-found".to_owned()));
    assert_eq!(world.get("/v1/runs/%FF").await.problem(), (404, "run-not-found".to_owned()));
}

#[tokio::test]
async fn a_body_is_checked_before_it_is_read_further() {
    let world = World::with(idle()).await;
    for (kind, body, expected) in [
        ("text/plain", "{}".to_owned(), (415, "unsupported-media-type")),
        ("application/json; charset=utf-8", "{".to_owned(), (400, "invalid-json")),
        ("Application/JSON", "{}".to_owned(), (422, "invalid-input")),
        ("application/json", "x".repeat(100_001), (413, "body-too-large")),
        ("application/json", json!({"protocolVersion": "2.0"}).to_string(), (400, "unsupported-protocol-version")),
    ] {
        let request = world.request("POST", "/v1/agui").await.header("content-type", kind);
        let problem = world.send(request.body(Body::from(body)).unwrap()).await.problem();
        assert_eq!(problem, (expected.0, expected.1.to_owned()));
    }
    let anonymous = Request::builder().method("POST").uri("/v1/agui").body(Body::from("{")).unwrap();
    assert_eq!(world.send(anonymous).await.problem().0, 401);
}
