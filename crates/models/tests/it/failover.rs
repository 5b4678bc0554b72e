//! Which model answers when one cannot.

use std::time::Duration;

use domain::{FinishReason, ModelError};
use models::{Api, Config, Fallback};
use serde_json::json;

use crate::{
    peer::{Peer, Reply, json as json_reply, response, sse},
    speech::{Speech, Stop},
    support::{LONG, Seen, ask, config, model},
};

const CHAT: Speech = Speech(Api::Chat);

/// Settings with so many models, all served by one peer in the order of the requests.
fn chain(peer: &Peer, names: &[&str]) -> Config {
    let behind = |name: &&str| Fallback { provider: "openai-compatible".to_owned(), name: (*name).to_owned(), api_key: None };
    Config { fallbacks: names.iter().map(behind).collect(), ..config(&peer.base(), Api::Chat) }
}

fn refused(status: u16, headers: &[(&str, &str)]) -> Reply {
    Reply::Bytes(response(status, headers, b"{\"error\":{\"message\":\"leak\"}}"))
}

fn hello() -> Reply {
    Reply::Bytes(sse(&CHAT.hello()))
}

/// Which models were asked.
fn asked(peer: &Peer) -> Vec<String> {
    let model = |request: &String| {
        let body = request.split("\r\n\r\n").nth(1).unwrap();
        serde_json::from_str::<serde_json::Value>(body).unwrap()["model"].as_str().unwrap().to_owned()
    };
    peer.requests().iter().map(model).collect()
}

async fn ask_chain(replies: Vec<Reply>, names: &[&str]) -> (Seen, Vec<String>) {
    let peer = Peer::start(replies).await;
    let seen = ask(&*model(chain(&peer, names)), LONG).await;
    (seen, asked(&peer))
}

#[tokio::test]
async fn the_next_model_answers_before_the_first_visible_byte() {
    let idle = sse(&CHAT.begin());
    for first in [
        refused(429, &[("retry-after", "3600")]),
        refused(529, &[]),
        refused(500, &[]),
        refused(401, &[]),
        refused(404, &[]),
        Reply::Bytes(sse("")),
        Reply::Bytes(idle),
        Reply::Bytes(sse(&(CHAT.begin() + "data: {\"error\":{\"message\":\"leak\"}}\n\n"))),
        Reply::Bytes(response(200, &[("content-type", "text/html")], b"leak")),
    ] {
        let (seen, asked) = ask_chain(vec![first, hello()], &["b"]).await;
        assert_eq!((seen.end, seen.failed.len()), (Ok((FinishReason::Stop, 1)), 1), "{:?}", seen.failed);
        assert_eq!(asked, ["m", "b"]);
        assert_eq!(seen.failed[0].0, "m");
    }
}

#[tokio::test]
async fn a_chain_of_429_529_and_a_cut_after_the_first_word() {
    let cut = Reply::Bytes(sse(&(CHAT.begin() + &CHAT.text("a"))));
    let (seen, asked) = ask_chain(vec![refused(429, &[]), refused(529, &[]), cut, hello()], &["b", "c"]).await;
    assert_eq!((seen.text.as_str(), seen.end), ("a", Err(ModelError::Cut)), "never after the first visible byte");
    assert_eq!(asked, ["m", "b", "c"]);
    let errors: Vec<_> = seen.failed.into_iter().map(|(_, error)| error).collect();
    assert_eq!(errors, [ModelError::RateLimited { retry_after: None }, ModelError::Overloaded { retry_after: None }]);
    // A call is as visible as a word, and so is a thought.
    for begun in [CHAT.call(&json!(0), "x", "one"), CHAT.thought("hm")] {
        let (seen, asked) = ask_chain(vec![Reply::Bytes(sse(&begun)), hello()], &["b"]).await;
        assert_eq!((seen.end, asked.len()), (Err(ModelError::Cut), 1));
    }
}

#[tokio::test]
async fn what_is_wrong_with_the_request_is_asked_nowhere_else() {
    for (reply, expected) in [
        (refused(400, &[]), ModelError::Invalid { status: 400 }),
        (refused(422, &[]), ModelError::Invalid { status: 422 }),
        (refused(413, &[]), ModelError::ContextTooLong),
        (Reply::Bytes(json_reply(400, r#"{"error":{"code":"context_length_exceeded"}}"#)), ModelError::ContextTooLong),
        (Reply::Bytes(json_reply(400, r#"{"error":{"code":"content_policy_violation"}}"#)), ModelError::Refused),
    ] {
        let (seen, asked) = ask_chain(vec![reply, hello()], &["b"]).await;
        assert_eq!((seen.end, asked.len()), (Err(expected), 1));
    }
}

#[tokio::test]
async fn when_all_refuse_the_soonest_is_asked_again() {
    let replies = vec![
        refused(429, &[("retry-after-ms", "40")]),
        refused(503, &[("retry-after-ms", "1")]),
        refused(500, &[]),
        refused(503, &[("retry-after-ms", "1")]),
        hello(),
    ];
    let (seen, asked) = ask_chain(replies, &["b", "c"]).await;
    assert_eq!(seen.end, Ok((FinishReason::Stop, 4)));
    assert_eq!(asked, ["m", "b", "c", "b", "m"], "each at most twice, what cannot help not again");
    // A wait that does not fit into the deadline is not begun.
    let (seen, asked) = ask_chain(vec![refused(429, &[("retry-after", "61")]), refused(500, &[]), hello()], &["b"]).await;
    assert_eq!((asked.len(), seen.failed.len()), (2, 2));
    assert!(seen.end.is_err());
}

#[tokio::test]
async fn a_model_that_hangs_leaves_time_for_the_next() {
    let peer = Peer::start(vec![Reply::Hold(sse(&CHAT.begin())), hello()]).await;
    // Half of the whole budget, although the idle timer alone would take all of it.
    let seen = ask(&*model(chain(&peer, &["b"])), Duration::from_millis(400)).await;
    assert_eq!(seen.failed, [("m".to_owned(), ModelError::Idle)]);
    assert_eq!(seen.end, Ok((FinishReason::Stop, 1)));
}

#[tokio::test]
async fn a_model_that_keeps_failing_is_asked_last() {
    let mut replies = Vec::new();
    for _ in 0..3 {
        replies.extend([refused(500, &[]), hello()]);
    }
    replies.extend([hello(), refused(500, &[]), hello()]);
    let peer = Peer::start(replies).await;
    let model = model(chain(&peer, &["b"]));
    for _ in 0..4 {
        assert!(ask(&*model, LONG).await.end.is_ok());
    }
    assert_eq!(asked(&peer), ["m", "b", "m", "b", "m", "b", "b"], "the breaker is open");
    let seen = ask(&*model, LONG).await;
    assert_eq!(seen.end, Ok((FinishReason::Stop, 1)), "but if nothing else is left it is asked");
    assert_eq!(asked(&peer)[7..], ["b", "m"]);
}

#[tokio::test]
async fn a_model_alone_is_never_kept_from_answering() {
    let mut replies: Vec<_> = (0..5).map(|_| refused(500, &[])).collect();
    replies.push(hello());
    let peer = Peer::start(replies).await;
    let model = model(chain(&peer, &[]));
    for _ in 0..5 {
        assert!(ask(&*model, LONG).await.end.is_err());
    }
    assert!(ask(&*model, LONG).await.end.is_ok());
}

#[tokio::test]
async fn a_model_that_limits_its_rate_is_left_alone_until_then() {
    let replies = vec![refused(429, &[("retry-after", "30")]), hello(), hello()];
    let peer = Peer::start(replies).await;
    let model = model(chain(&peer, &["b"]));
    for _ in 0..2 {
        assert!(ask(&*model, LONG).await.end.is_ok());
    }
    assert_eq!(asked(&peer), ["m", "b", "b"]);
}

#[tokio::test]
async fn models_of_several_providers_stand_behind_each_other() {
    let peer = Peer::start(vec![refused(529, &[]), Reply::Bytes(sse(&Speech(Api::Anthropic).hello()))]).await;
    // A provider of its own address cannot be named twice, so the second wire is spoken by the same server.
    let first = Config { api: Some(Api::Anthropic), ..chain(&peer, &["b"]) };
    let seen = ask(&*model(first), LONG).await;
    assert_eq!((seen.end, seen.model.as_deref()), (Ok((FinishReason::Stop, 1)), Some("m-1")));
    let unnamed = CHAT.text("a").replace("\"model\":\"m-1\",", "") + &CHAT.stop(Stop::Said) + &CHAT.end();
    let (seen, _) = ask_chain(vec![refused(500, &[]), Reply::Bytes(sse(&unnamed))], &["b"]).await;
    assert_eq!(seen.model.as_deref(), Some("b"), "who answers is said, also if the provider does not");
}
