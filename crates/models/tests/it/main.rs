//! The chat wire over real sockets, against a server that says exactly what a test scripts.

#![allow(clippy::unwrap_used)]

mod peer;

use std::{io::Write, sync::Arc, time::Duration};

use domain::{
    ChatEvent, ChatMessage, ChatModel, ChatRequest, Effort, FinishReason, ModelError, OrgId, Part, RunId, RunIdentity, RunKey,
    Secret, ThreadId, ToolChoice, UserId,
};
use egress::{Client, Reach};
use futures::StreamExt;
use models::{Config, build};
use tokio_util::sync::CancellationToken;

use peer::{Peer, Reply, gzip, json, response, sse};

const KEY: &str = "sk-very-secret-42";
const HELLO: &str = concat!(
    "data: {\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"你好 🦀\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: [DONE]\n\n",
);

fn model(base: &str, idle: Duration) -> Arc<dyn ChatModel> {
    let config = Config {
        base_url: Some(base.to_owned()),
        name: Some("m".to_owned()),
        api_key: Some(Secret::new(KEY)),
        idle_timeout: idle,
        ..Config::default()
    };
    build(config, Client::new(Reach::Anywhere)).unwrap().unwrap()
}

fn request(timeout: Duration) -> ChatRequest {
    ChatRequest {
        identity: RunIdentity {
            org: OrgId::parse("acme").unwrap(),
            user: UserId::parse("ada").unwrap(),
            thread: ThreadId::parse("t").unwrap(),
            run: RunId::parse("r").unwrap(),
            key: RunKey::parse("k").unwrap(),
            attempt: 1,
            step: 1,
            parent_run: None,
            resume: Vec::new(),
            state: None,
        },
        system: "Be kind.".into(),
        messages: vec![ChatMessage::User { parts: vec![Part::Text { text: "hi".into() }] }],
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        max_output_tokens: 64,
        effort: Effort::Medium,
        timeout,
    }
}

const LONG: Duration = Duration::from_secs(60);

/// Text and end of one answer. Whatever goes wrong, the key is in no words about it.
async fn ask_within(peer: &Peer, idle: Duration, timeout: Duration) -> (String, Result<(FinishReason, u32), ModelError>) {
    let model = model(&peer.base(), idle);
    let mut text = String::new();
    let mut end = None;
    match model.stream(CancellationToken::new(), request(timeout)).await {
        Err(error) => end = Some(Err(error)),
        Ok(mut events) => {
            while let Some(event) = events.next().await {
                assert!(end.is_none(), "{event:?} after the end");
                match event {
                    Ok(ChatEvent::Text(piece)) => text.push_str(&piece),
                    Ok(ChatEvent::Done { finish, retries, .. }) => end = Some(Ok((finish, retries))),
                    Ok(_) => {}
                    Err(error) => end = Some(Err(error)),
                }
            }
        }
    }
    let end = end.expect("an end");
    if let Err(error) = &end {
        let words = format!("{error} {error:?}");
        assert!(!words.contains(KEY) && !words.contains("leak"), "{words}");
    }
    (text, end)
}

async fn ask(peer: &Peer) -> (String, Result<(FinishReason, u32), ModelError>) {
    ask_within(peer, LONG, LONG).await
}

const STOP: Result<(FinishReason, u32), ModelError> = Ok((FinishReason::Stop, 0));
const STOP_AFTER_ONE_RETRY: Result<(FinishReason, u32), ModelError> = Ok((FinishReason::Stop, 1));

#[tokio::test]
async fn an_answer_arrives_whatever_its_bytes_travel_like() {
    let whole = sse(HELLO);
    let zipped = response(200, &[("content-type", "text/event-stream"), ("content-encoding", "gzip")], &gzip(HELLO.as_bytes()));
    let crlf = sse(&HELLO.replace('\n', "\r\n"));
    let plain = json(200, r#"{"choices":[{"message":{"content":"你好 🦀"},"finish_reason":"stop"}]}"#);
    for reply in [
        Reply::Bytes(whole.clone()),
        Reply::ByteByByte(whole),
        Reply::Bytes(zipped),
        Reply::ByteByByte(crlf),
        Reply::Bytes(plain),
    ] {
        let peer = Peer::start(vec![reply]).await;
        assert_eq!(ask(&peer).await, ("你好 🦀".to_owned(), STOP));
        let sent = peer.requests().remove(0);
        assert!(sent.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{sent}");
        assert!(sent.contains(&format!("authorization: Bearer {KEY}\r\n")), "{sent}");
        assert!(sent.contains(r#""messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"hi"}]"#), "{sent}");
    }
}

#[tokio::test]
async fn one_retry_before_the_first_byte() {
    for status in [429, 503, 529] {
        let refusal = || Reply::Bytes(response(status, &[("retry-after-ms", "1")], b"{\"error\":{\"message\":\"leak\"}}"));
        let peer = Peer::start(vec![refusal(), Reply::Bytes(sse(HELLO))]).await;
        assert_eq!(ask(&peer).await, ("你好 🦀".to_owned(), STOP_AFTER_ONE_RETRY), "{status}");
        assert_eq!(peer.requests().len(), 2, "{status}");

        let peer = Peer::start(vec![refusal(), refusal(), Reply::Bytes(sse(HELLO))]).await;
        let (text, end) = ask(&peer).await;
        assert!(text.is_empty() && matches!(end, Err(ModelError::RateLimited { .. } | ModelError::Overloaded { .. })), "{end:?}");
        assert_eq!(peer.requests().len(), 2, "{status}");
    }
}

#[tokio::test]
async fn what_cannot_help_is_not_asked_again() {
    for (status, expected) in [
        (400, ModelError::Invalid { status: 400 }),
        (401, ModelError::Auth),
        (404, ModelError::Invalid { status: 404 }),
        (413, ModelError::ContextTooLong),
        (500, ModelError::Unavailable("it answered with status 500".to_owned())),
    ] {
        let peer = Peer::start(vec![Reply::Bytes(json(status, &format!(r#"{{"error":{{"message":"leak {KEY}"}}}}"#)))]).await;
        assert_eq!(ask(&peer).await, (String::new(), Err(expected)), "{status}");
        assert_eq!(peer.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn a_wait_beyond_the_deadline_fails_at_once() {
    for (status, name, value) in
        [(429, "retry-after", "120"), (503, "retry-after", "Fri, 31 Dec 2100 23:59:59 GMT"), (529, "retry-after-ms", "1e12")]
    {
        let peer = Peer::start(vec![Reply::Bytes(response(status, &[(name, value)], b""))]).await;
        let (_, end) = ask(&peer).await;
        match end {
            Err(ModelError::RateLimited { retry_after: Some(wait) } | ModelError::Overloaded { retry_after: Some(wait) }) => {
                assert!(wait > LONG, "{wait:?}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(peer.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_refused_connection_is_tried_twice_and_said() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let closed = format!("http://127.0.0.1:{port}/v1");
    let error = model(&closed, LONG).stream(CancellationToken::new(), request(LONG)).await.err().unwrap();
    let ModelError::Unavailable(words) = error else { panic!("{error:?}") };
    assert!(words.contains("127.0.0.1") && words.contains("refused"), "{words}");
}

#[tokio::test]
async fn what_is_no_answer_is_said_to_be_none() {
    let html = response(200, &[("content-type", "text/html; charset=utf-8")], b"<html>leak</html>");
    let other = response(200, &[("content-type", "application/octet-stream")], b"leak");
    let list = json(200, r#"{"object":"list"}"#);
    for reply in [html, other, list] {
        let peer = Peer::start(vec![Reply::Bytes(reply)]).await;
        let (text, end) = ask(&peer).await;
        assert!(text.is_empty() && matches!(end, Err(ModelError::Protocol(_))), "{end:?}");
    }
    let peer =
        Peer::start(vec![Reply::Bytes(json(200, r#"{"error":{"code":"context_length_exceeded","message":"leak"}}"#))]).await;
    assert_eq!(ask(&peer).await.1, Err(ModelError::ContextTooLong));
}

#[tokio::test]
async fn a_redirect_takes_the_key_nowhere() {
    let thief = Peer::start(vec![Reply::Bytes(sse(HELLO))]).await;
    for status in [301, 302, 307, 308] {
        let location = format!("{}/chat/completions", thief.base());
        let peer = Peer::start(vec![Reply::Bytes(response(status, &[("location", &location)], b""))]).await;
        assert_eq!(ask(&peer).await.1, Err(ModelError::Invalid { status }));
    }
    assert_eq!(thief.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn a_cut_is_a_cut_and_a_broken_stream_ends_in_one_error() {
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    // The connection closes although the body's length said that more would come.
    let mut cut = response(200, &[("content-type", "text/event-stream")], text.as_bytes());
    let length = format!("content-length: {}", text.len());
    let promised = String::from_utf8(cut).unwrap().replace(&length, "content-length: 9999");
    cut = promised.into_bytes();
    let error = sse(&format!("{text}data: {{\"error\":{{\"message\":\"leak\",\"code\":500}}}}\n\n"));
    let mut huge = sse(text);
    huge.extend_from_slice(b"data: ");
    huge.resize(huge.len() + 10 * 1024 * 1024, b'x');
    for (reply, expected) in [
        (cut, ModelError::Cut),
        (sse(text), ModelError::Cut),
        (error, ModelError::Unavailable("it answered with status 500".to_owned())),
        (huge, ModelError::Protocol("an event of more than 1 MiB")),
    ] {
        let peer = Peer::start(vec![Reply::Bytes(reply)]).await;
        assert_eq!(ask(&peer).await, ("a".to_owned(), Err(expected)));
    }
}

#[tokio::test]
async fn keep_alives_and_silence_are_idle() {
    let idle = Duration::from_millis(50);
    let begun = sse("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n");
    let peer = Peer::start(vec![Reply::ForEver(begun.clone(), b": still here\n\n".to_vec())]).await;
    assert_eq!(ask_within(&peer, idle, LONG).await, ("a".to_owned(), Err(ModelError::Idle)));
    let peer = Peer::start(vec![Reply::Hold(begun.clone())]).await;
    assert_eq!(ask_within(&peer, idle, LONG).await, ("a".to_owned(), Err(ModelError::Idle)));
    let peer = Peer::start(vec![Reply::Hold(Vec::new())]).await;
    assert_eq!(ask_within(&peer, idle, LONG).await, (String::new(), Err(ModelError::Idle)), "slow headers");
    let peer = Peer::start(vec![Reply::Hold(begun)]).await;
    assert_eq!(ask_within(&peer, LONG, idle).await, ("a".to_owned(), Err(ModelError::Cut)), "the deadline");
}

#[tokio::test]
async fn cancelling_or_dropping_closes_the_connection() {
    let begun = sse("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n");
    let peer = Peer::start(vec![Reply::Hold(begun.clone()), Reply::Hold(begun), Reply::Hold(Vec::new())]).await;
    let model = model(&peer.base(), LONG);

    let cancel = CancellationToken::new();
    let mut events = model.stream(cancel.clone(), request(LONG)).await.unwrap();
    assert_eq!(events.next().await, Some(Ok(ChatEvent::Text("a".into()))));
    cancel.cancel();
    assert_eq!(events.next().await, Some(Err(ModelError::Cut)));
    assert_eq!(events.next().await, None);
    peer.closed(1).await;

    let events = model.stream(CancellationToken::new(), request(LONG)).await.unwrap();
    drop(events);
    peer.closed(2).await;

    let cancel = CancellationToken::new();
    let waiting = model.stream(cancel.clone(), request(LONG));
    let cancelled = async {
        peer.asked(3).await;
        cancel.cancel();
    };
    let (opened, ()) = tokio::join!(waiting, cancelled);
    assert_eq!(opened.err(), Some(ModelError::Cut));
    peer.closed(3).await;
}

#[tokio::test]
async fn no_log_line_holds_the_key_or_a_body() {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(lines.clone()).finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let peer = Peer::start(vec![
        Reply::Bytes(json(400, &format!(r#"{{"error":{{"code":"{KEY}","type":"bad_thing","message":"leak {KEY}"}}}}"#))),
        Reply::Bytes(sse("data: {\"error\":{\"message\":\"leak\"}}\n\n")),
    ])
    .await;
    for _ in 0..2 {
        assert!(ask(&peer).await.1.is_err());
    }
    drop(guard);
    let text = String::from_utf8(std::mem::take(&mut *lines.0.lock().unwrap())).unwrap();
    assert!(text.contains("bad_thing"), "{text}");
    assert!(!text.contains(KEY) && !text.contains("leak") && !text.contains("Be kind"), "{text}");
}

#[derive(Clone, Default)]
struct Lines(Arc<std::sync::Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl tracing_subscriber::fmt::MakeWriter<'_> for Lines {
    type Writer = Self;
    fn make_writer(&self) -> Self {
        self.clone()
    }
}
