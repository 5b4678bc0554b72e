use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use domain::{OrgId, UserId};
use serde_json::{Value, json};

use crate::world::{Answer, World, input};

async fn send(world: &World, method: &str, path: &str, body: &str) -> Answer {
    let request = world.request(method, path).await.header("content-type", "application/json");
    world.send(request.body(Body::from(body.to_owned())).unwrap()).await
}

async fn as_bob(world: &World, method: &str, path: &str) -> Answer {
    let (org, bob) = (OrgId::parse("acme").unwrap(), UserId::parse("bob").unwrap());
    world.store.add_user(&org, &bob, None).await.unwrap();
    let token = world.token("bob").await;
    let request = Request::builder().method(method).uri(path).header("authorization", format!("Bearer {token}"));
    let request = request.header("content-type", "application/json");
    world.send(request.body(Body::from(r#"{"title": "mine"}"#)).unwrap()).await
}

fn ids(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_are_listed_in_pages() {
    let world = World::new().await;
    assert_eq!(world.get("/v1/threads").await.json(), json!({"items": []}));
    for number in 1..=5 {
        world.agui(input(&format!("t{number}"), &format!("r{number}"), "hello")).await;
    }
    let mut seen = Vec::new();
    let mut path = "/v1/threads?limit=2".to_owned();
    for expected in [2, 2, 1] {
        let page = world.get(&path).await.json();
        assert_eq!(page["items"].as_array().unwrap().len(), expected, "{page}");
        seen.extend(ids(&page).into_iter().map(ToOwned::to_owned));
        assert_eq!(page["nextCursor"].is_string(), expected == 2 && seen.len() < 5, "{page}");
        path = format!("/v1/threads?limit=2&cursor={}", page["nextCursor"].as_str().unwrap_or_default());
    }
    let answer = world.get("/v1/threads?limit=5").await;
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let page = answer.json();
    assert_eq!((ids(&page), page.get("nextCursor")), (seen.iter().map(String::as_str).collect(), None));
    let mut item = page["items"].as_array().unwrap().iter().find(|item| item["id"] == "t5").unwrap().clone();
    for time in ["createdAt", "updatedAt"] {
        assert!(item[time].take().as_str().unwrap().ends_with('Z'), "{page}");
    }
    assert_eq!(item, json!({"id": "t5", "channel": "web", "createdAt": null, "updatedAt": null, "messages": 2}));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_list_takes_is_refused() {
    let world = World::new().await;
    world.agui(input("t1", "r1", "hello")).await;
    let cursors = ["", "x", "MTIz", "MS4", "eC55", "%00", "MS4A"].map(|cursor| format!("/v1/threads?cursor={cursor}"));
    let limits = ["0", "101", "x", "-1", ""].map(|limit| format!("/v1/threads?limit={limit}"));
    let messages = ["limit=0", "before=", "before=%00"].map(|query| format!("/v1/threads/t1/messages?{query}"));
    for path in cursors.iter().chain(&limits).chain(&messages) {
        assert_eq!(world.get(path).await.problem(), (400, "invalid-request".to_owned()), "{path}");
    }
    assert_eq!(world.get("/v1/threads?limit=100").await.status, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_read_and_renamed() {
    let world = World::new().await;
    world.agui(input("a/b ü", "r1", "hello")).await;
    let path = "/v1/threads/a%2Fb%20%C3%BC";
    let before = world.get(path).await.json();
    assert_eq!((&before["id"], &before["activeRun"], before.get("title")), (&json!("a/b ü"), &json!(null), None));
    let renamed = send(&world, "PATCH", path, r#"{"title": "Das blaue Auto", "pinned": true}"#).await;
    let mut expected = before.clone();
    expected["title"] = json!("Das blaue Auto");
    assert_eq!((renamed.status, renamed.json()), (StatusCode::OK, expected.clone()));
    assert_eq!(send(&world, "PATCH", path, "{}").await.json(), expected);
    assert_eq!(world.get("/v1/threads").await.json()["items"][0]["title"], "Das blaue Auto");
    assert_eq!(send(&world, "PATCH", path, r#"{"title": null}"#).await.json(), before);
    for (body, code) in [(r#"{"title": ""}"#, 422), (r#"{"title": "a\nb"}"#, 422), ("[]", 422), ("{", 400)] {
        assert_eq!(send(&world, "PATCH", path, body).await.problem().0, code, "{body}");
    }
    let plain = world.request("PATCH", path).await.body(Body::from(r#"{"title": "x"}"#)).unwrap();
    assert_eq!(world.send(plain).await.problem().0, 415);
    assert_eq!(world.get(path).await.json(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_threads_messages_come_in_pages() {
    let world = World::new().await;
    for number in 1..=2 {
        world.agui(input("t", &format!("r{number}"), "hello")).await;
    }
    let whole = world.get("/v1/threads/t/messages").await.json();
    assert_eq!(whole, json!({"items": world.get("/v1/agui?threadId=t").await.json()["messages"]}));
    let whole = ids(&whole);
    assert_eq!(whole.len(), 4);
    let newer = world.get("/v1/threads/t/messages?limit=3").await.json();
    assert_eq!((ids(&newer), &newer["nextCursor"]), (whole[1..].to_vec(), &json!(whole[1])));
    let older = world.get(&format!("/v1/threads/t/messages?limit=3&before={}", whole[1])).await.json();
    assert_eq!((ids(&older), older.get("nextCursor")), (whole[..1].to_vec(), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_deleted() {
    let world = World::new().await;
    world.agui(input("t", "r", "hello")).await;
    let deleted = send(&world, "DELETE", "/v1/threads/t", "").await;
    assert_eq!((deleted.status, deleted.body.as_str()), (StatusCode::NO_CONTENT, ""));
    for (method, path) in [
        ("DELETE", "/v1/threads/t"),
        ("GET", "/v1/threads/t"),
        ("PATCH", "/v1/threads/t"),
        ("GET", "/v1/threads/t/messages"),
        ("GET", "/v1/threads/%00"),
    ] {
        assert_eq!(
            send(&world, method, path, r#"{"title": "x"}"#).await.problem(),
            (404, "not-found".to_owned()),
            "{method} {path}"
        );
    }
    assert_eq!(world.get("/v1/runs/r").await.problem().0, 404);
    world.agui(input("t", "r", "hello again")).await;
    assert_eq!(world.get("/v1/threads/t").await.json()["messages"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_deleted_in_mid_run() {
    let world = World::new().await;
    let delete = async {
        world.until("/v1/runs/r", StatusCode::OK).await;
        assert_eq!(world.get("/v1/threads/t").await.json()["activeRun"], json!({"runId": "r"}));
        send(&world, "DELETE", "/v1/threads/t", "").await.status
    };
    let (answer, status) = tokio::join!(world.agui(input("t", "r", "wait")), delete);
    assert_eq!(status, StatusCode::NO_CONTENT);
    let events = answer.events();
    let (_, last) = events.last().unwrap();
    assert_eq!((&last["type"], &last["code"]), (&json!("RUN_ERROR"), &json!("run-not-found")));
    assert_eq!(answer.kinds().iter().filter(|kind| kind.starts_with("RUN_")).count(), 2);
    assert_eq!(world.get("/v1/threads").await.json(), json!({"items": []}));
    // The place its worker took is free again.
    assert!(world.agui(input("t", "r", "hello")).await.kinds().contains(&"RUN_FINISHED".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strangers_thread_looks_like_none() {
    let world = World::new().await;
    world.agui(input("t", "r", "hello")).await;
    for (method, path) in
        [("GET", "/v1/threads/t"), ("PATCH", "/v1/threads/t"), ("DELETE", "/v1/threads/t"), ("GET", "/v1/threads/t/messages")]
    {
        assert_eq!(as_bob(&world, method, path).await.problem(), (404, "not-found".to_owned()), "{method} {path}");
    }
    assert_eq!(as_bob(&world, "GET", "/v1/threads").await.json(), json!({"items": []}));
    assert_eq!(world.get("/v1/threads/t").await.json().get("title"), None);
}
