//! What browsers are told about pages of other origins.

use axum::{body::Body, http::Request};
use serde_json::json;
use server::{AuthMode, AuthSettings, Settings};

use crate::world::{Answer, Options, World, input};

const APP: &str = "https://app.example.com";
const KNOWN: &str = "authorization, content-type, last-event-id, x-run-id, accept";

fn options(origins: &[&str]) -> Options {
    let mut options = Options { workers: false, ..Options::default() };
    options.settings.allowed_origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
    options
}

async fn ask(world: &World, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request =
        headers.iter().fold(Request::builder().method(method).uri(path), |all, (name, value)| all.header(*name, *value));
    world.send(request.body(Body::empty()).unwrap()).await
}

async fn preflight(world: &World, path: &str, origin: &str) -> Answer {
    ask(world, "OPTIONS", path, &[("origin", origin), ("access-control-request-method", "POST")]).await
}

/// The names of all headers that are CORS's.
fn cors(answer: &Answer) -> Vec<&str> {
    answer.headers.keys().map(|name| name.as_str()).filter(|name| name.starts_with("access-control-")).collect()
}

#[tokio::test]
async fn an_allowed_origin_may_ask_at_every_address() {
    let world = World::with(options(&["http://localhost:5173", APP])).await;
    for path in ["/v1/agui", "/v1/runs/r1", "/v1/runs/r1/cancel", "/healthz", "/nowhere"] {
        let answer = preflight(&world, path, APP).await;
        assert_eq!((answer.status.as_u16(), answer.body.as_str()), (204, ""), "{path}");
        for (name, expected) in [
            ("access-control-allow-origin", APP),
            ("access-control-allow-methods", "GET, HEAD, POST, PATCH, DELETE"),
            ("access-control-allow-headers", KNOWN),
            ("access-control-max-age", "7200"),
            ("vary", "origin"),
        ] {
            assert_eq!(answer.header(name), Some(expected), "{path}");
        }
        assert_eq!(cors(&answer).len(), 4, "{path}");
    }
}

#[tokio::test]
async fn other_origins_are_told_nothing() {
    let world = World::with(options(&[APP])).await;
    for origin in [
        "https://evil.example",
        "http://app.example.com",
        "https://app.example.com:8443",
        "https://app.example.com.evil.example",
        "https://sub.app.example.com",
        "https://APP.example.com",
        "https://app.example.com/",
        "null",
        "",
        "*",
    ] {
        let answer = preflight(&world, "/v1/agui", origin).await;
        assert_eq!(answer.problem(), (403, "forbidden".to_owned()), "{origin}");
        assert_eq!(cors(&answer), Vec::<&str>::new(), "{origin}");
        let answer = ask(&world, "GET", "/healthz", &[("origin", origin)]).await;
        assert_eq!((answer.status.as_u16(), cors(&answer)), (200, vec![]), "{origin}");
        assert_eq!(answer.header("vary"), Some("origin"), "{origin}");
    }
    let two = [("origin", APP), ("origin", "https://evil.example")];
    assert_eq!(cors(&ask(&world, "GET", "/healthz", &two).await), Vec::<&str>::new());
    // No preflight without the method that is to follow, and none from what is no browser.
    for headers in [&[("origin", APP)][..], &[("access-control-request-method", "POST")]] {
        assert_eq!(ask(&world, "OPTIONS", "/v1/agui", headers).await.problem().0, 405);
    }
}

#[tokio::test]
async fn headers_asked_for_are_allowed_if_they_are_names() {
    let world = World::with(options(&[APP])).await;
    for (asked, expected) in [
        ("content-type,x-run-id", KNOWN.to_owned()),
        ("If-Match, x-trace", format!("{KNOWN}, if-match, x-trace")),
        ("bad name, , x-ok, a\"b", format!("{KNOWN}, x-ok")),
        (&vec!["x-many"; 1_000].join(","), format!("{KNOWN}{}", ", x-many".repeat(32))),
    ] {
        let headers = [("origin", APP), ("access-control-request-method", "POST"), ("access-control-request-headers", asked)];
        let answer = ask(&world, "OPTIONS", "/v1/agui", &headers).await;
        assert_eq!(answer.header("access-control-allow-headers"), Some(expected.as_str()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_streams_and_problems_may_be_read() {
    let world = World::with(Options { workers: true, ..options(&[APP]) }).await;
    let request = world.request("POST", "/v1/agui").await.header("content-type", "application/json").header("origin", APP);
    let stream = world.send(request.body(Body::from(input("t", "r1", "hello").to_string())).unwrap()).await;
    assert_eq!(stream.kinds().last().map(String::as_str), Some("RUN_FINISHED"));
    let refused = ask(&world, "GET", "/v1/runs/r1", &[("origin", APP)]).await;
    assert_eq!(refused.problem().0, 401);
    let unknown = ask(&world, "GET", "/nowhere", &[("origin", APP)]).await;
    assert_eq!(unknown.problem().0, 404);
    for answer in [stream, refused, unknown] {
        assert_eq!(answer.header("access-control-allow-origin"), Some(APP));
        assert_eq!(answer.header("access-control-expose-headers"), Some("retry-after, www-authenticate"));
        assert_eq!(answer.header("vary"), Some("origin"));
        assert_eq!(cors(&answer).len(), 2, "{:?}", answer.headers);
    }
}

#[tokio::test]
async fn all_origins_may_be_allowed_but_never_their_credentials() {
    let world = World::with(options(&["*"])).await;
    for origin in ["https://anybody.example", "null"] {
        let answer = preflight(&world, "/v1/agui", origin).await;
        assert_eq!((answer.status.as_u16(), answer.header("access-control-allow-origin")), (204, Some("*")));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
    }
}

#[tokio::test]
async fn without_origins_nothing_changes() {
    let world = World::with(options(&[])).await;
    let answer = preflight(&world, "/v1/agui", APP).await;
    assert_eq!((answer.problem().0, cors(&answer), answer.header("vary")), (405, vec![], None));
    let answer = ask(&world, "GET", "/healthz", &[("origin", APP)]).await;
    assert_eq!((answer.status.as_u16(), cors(&answer), answer.header("vary")), (200, vec![], None));
}

#[tokio::test]
async fn demo_tokens_stay_at_home() {
    for origins in [&["*"][..], &[APP, "http://localhost:1"]] {
        let auth = AuthSettings { mode: AuthMode::Demo, ..AuthSettings::default() };
        let allowed_origins = options(origins).settings.allowed_origins;
        let settings = Settings { auth, allowed_origins, ..Settings::default() };
        let world = World::with(Options { settings, ..options(&[]) }).await;
        let path = "/v1/auth/demo";
        let answer = preflight(&world, path, APP).await;
        assert_eq!((answer.problem().0, cors(&answer)), (403, vec![]), "{origins:?}");
        let answer = ask(&world, "POST", path, &[("host", "localhost:1"), ("origin", APP)]).await;
        assert_eq!((answer.problem().0, cors(&answer)), (403, vec![]), "{origins:?}");
        let answer = ask(&world, "POST", path, &[("host", "localhost:1"), ("origin", "http://localhost:1")]).await;
        assert_eq!((&answer.json()["user"], cors(&answer)), (&json!("local"), vec![]), "{origins:?}");
    }
}
