#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use async_trait::async_trait;
use domain::{Category, ChannelName, Contract, Effect, OrgId, Principal, RunId, ThreadId, ToolName, UserId};
use storage::{Durability, Store, StoreOptions};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{Catalog, Read, tools};

struct Fixed;

impl domain::Clock for Fixed {
    fn now_ms(&self) -> i64 {
        1_796_066_840_634
    }
}

/// Does what its argument `do` says.
struct Odd(Contract);

#[async_trait]
impl Read for Odd {
    fn contract(&self) -> &Contract {
        &self.0
    }

    async fn call(&self, ctx: &CallContext, args: Args) -> Result<Output, ToolError> {
        match args.0["do"].as_str().unwrap() {
            "panic" => panic!("as asked"),
            "hang" => std::future::pending().await,
            "fail" => Err(ToolError::new("the printer is on fire")),
            "wrong" => Ok(Output(json!({"text": 3}))),
            "write" => {
                ctx.store.read().await?.execute("DELETE FROM memberships", &[]).await?;
                Ok(Output(json!({"text": "written"})))
            }
            "large" => Ok(Output(json!({"text": "é".repeat(1_000)}))),
            text => Ok(Output(json!({ "text": text }))),
        }
    }
}

fn odd() -> Odd {
    Odd(Contract {
        name: ToolName::parse("odd").unwrap(),
        title: String::new(),
        description: String::new(),
        input: json!({"type": "object", "properties": {"do": {"type": "string"}, "n": {}}, "required": ["do"]}),
        output: json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}),
        category: Category::parse("test").unwrap(),
        effect: Effect::Read,
    })
}

struct Bench {
    catalog: Catalog,
    ctx: CallContext,
    _dir: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", dir.path().join("t.db").display());
        let store =
            Store::open(StoreOptions { url, durability: Durability::Normal, connections: 0, application: None }).await.unwrap();
        let (org, user) = (OrgId::parse("acme").unwrap(), UserId::parse("ada").unwrap());
        store.add_organization(&org).await.unwrap();
        store.add_user(&org, &user, None).await.unwrap();
        let mut principal = Principal::new(org, user, ChannelName::parse("web").unwrap());
        principal.zone = Some("Asia/Tokyo".to_owned());
        let ctx = CallContext {
            principal,
            store: store.into(),
            clock: Arc::new(Fixed),
            thread: ThreadId::parse("t").unwrap(),
            run: RunId::parse("r").unwrap(),
            cancel: CancellationToken::new(),
        };
        Self { catalog: tools::builtin().read(odd()).build().unwrap(), ctx, _dir: dir }
    }

    async fn call(&self, name: &str, arguments: &str) -> (String, bool) {
        let bounds = CallBounds { timeout: Duration::from_secs(20), result_bytes: 500 };
        self.call_within(name, arguments, bounds).await
    }

    async fn call_within(&self, name: &str, arguments: &str, bounds: CallBounds) -> (String, bool) {
        let entry = self.catalog.own().get(&ToolName::parse(name).unwrap()).unwrap();
        let result = entry.call(&self.ctx, arguments, bounds).await;
        (result.content, result.error)
    }

    async fn check(&self, arguments: &str, content: Value, error: bool) {
        assert_eq!(self.call("odd", arguments).await, (content.to_string(), error), "{arguments}");
    }
}

#[tokio::test]
async fn a_read_writes_nothing() {
    let bench = Bench::new().await;
    let (content, error) = bench.call("odd", r#"{"do":"write"}"#).await;
    assert!(error && content.contains("the data cannot be"), "{content}");
    // The membership it tried to delete is still there.
    bench.check(r#"{"do":"hi"}"#, json!({"text": "hi"}), false).await;
}

#[tokio::test]
async fn no_text_holds_what_a_database_refuses() {
    let bench = Bench::new().await;
    let (content, error) = bench.call("odd", r#"{"do":"hi","n":[{"a":"x\u0000"}]}"#).await;
    assert!(error && content.contains("U+0000") && content.contains("/n/[]/a"), "{content}");
}

#[tokio::test]
async fn every_end_is_a_result() {
    let bench = Bench::new().await;
    bench.check(r#"{"do":"hi"}"#, json!({"text": "hi"}), false).await;
    bench.check(r#""{\"do\":\"hi\"}""#, json!({"text": "hi"}), false).await;
    bench.check(r#"{"do":"fail"}"#, json!({"error": "the printer is on fire"}), true).await;
    bench.check(r#"{"do":"panic"}"#, json!({"error": "the tool failed unexpectedly"}), true).await;
    bench.check(r#"{"do":"wrong"}"#, json!({"error": "the tool's result does not fit its contract"}), true).await;
    let missing = json!({"error": "the arguments do not fit: at /: \"do\" is a required property"});
    for nothing in ["", " ", "null", "{}"] {
        bench.check(nothing, missing.clone(), true).await;
    }
    bench.check(r#"{"do":7}"#, json!({"error": "the arguments do not fit: at /do: 7 is not of type \"string\""}), true).await;
    bench.check("[1]", json!({"error": "the arguments are not a JSON object"}), true).await;
    let (cut, _) = bench.call("odd", r#"{"do":"#).await;
    assert!(cut.contains("not valid JSON"), "{cut}");
}

#[tokio::test]
async fn integers_that_readers_would_change_are_refused() {
    let bench = Bench::new().await;
    for fine in ["9007199254740991", "-9007199254740991", "0.1", "1e3", "12345.678e-2"] {
        let (content, error) = bench.call("odd", &format!(r#"{{"do":"hi","n":{fine}}}"#)).await;
        assert!(!error, "{fine}: {content}");
    }
    for bad in ["9007199254740992", "-9007199254740992", "18446744073709551615", "99999999999999999999999", "1e300"] {
        let (content, error) = bench.call("odd", &format!(r#"{{"do":"hi","n":[{{"deep":{bad}}}]}}"#)).await;
        assert!(error && content.contains("at /n/[]/deep: integers beyond"), "{bad}: {content}");
    }
}

#[tokio::test]
async fn a_long_result_is_cut_between_characters_and_says_so() {
    let bench = Bench::new().await;
    let (content, error) = bench.call("odd", r#"{"do":"large"}"#).await;
    assert!(!error);
    assert!(content.len() <= 500 && content.len() > 490, "{}", content.len());
    assert!(content.ends_with(" of 2011 bytes]"), "{content}");
}

#[tokio::test]
async fn a_call_that_hangs_is_given_up_or_stopped() {
    let bench = Bench::new().await;
    let soon = CallBounds { timeout: Duration::from_millis(20), result_bytes: 500 };
    let (content, error) = bench.call_within("odd", r#"{"do":"hang"}"#, soon).await;
    assert_eq!((content.as_str(), error), (r#"{"error":"the tool did not answer within 0 s"}"#, true));
    bench.ctx.cancel.cancel();
    let (content, error) = bench.call("odd", r#"{"do":"hang"}"#).await;
    assert_eq!((content.as_str(), error), (r#"{"error":"the call was stopped before it ended"}"#, true));
}

#[tokio::test]
async fn only_members_call() {
    let bench = Bench::new().await;
    let Principal { org, user, .. } = &bench.ctx.principal;
    assert!(bench.ctx.store.store().remove_user(org, user).await.unwrap());
    let (content, error) = bench.call("whoami", "").await;
    assert!(error && content.contains("no longer a member"), "{content}");
}

#[tokio::test]
async fn the_built_in_tools() {
    let bench = Bench::new().await;
    let (content, _) = bench.call("whoami", "").await;
    assert_eq!(content, json!({"channel": "web", "organization": "acme", "user": "ada"}).to_string());
    let (content, _) = bench.call("clock", "{}").await;
    let expected = json!({"now": "2026-12-01T04:27:20+09:00", "date": "2026-12-01", "weekday": "Tuesday", "zone": "Asia/Tokyo"});
    assert_eq!(serde_json::from_str::<Value>(&content).unwrap(), expected);
    let (content, _) = bench.call("clock", r#"{"zone":"America/New_York"}"#).await;
    assert!(content.contains("2026-11-30T14:27:20-05:00"), "{content}");
    let (content, error) = bench.call("clock", r#"{"zone":"Mars"}"#).await;
    assert!(error && content.contains("use an IANA name"), "{content}");
}
