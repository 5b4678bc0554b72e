//! The wires over real sockets, against a server that says exactly what a test scripts.

#![allow(clippy::unwrap_used)]

mod failover;
mod local;
mod peer;
mod speech;
mod suite;
mod support;

use std::{io::Write, sync::Arc};

use domain::{FinishReason, ModelError};
use models::Api;

use peer::{Peer, Reply, json, response, sse};
use support::{KEY, LONG, ask, config, model};

#[tokio::test]
async fn a_wait_beyond_the_deadline_fails_at_once() {
    for (status, name, value) in
        [(429, "retry-after", "120"), (503, "retry-after", "Fri, 31 Dec 2100 23:59:59 GMT"), (529, "retry-after-ms", "1e12")]
    {
        let peer = Peer::start(vec![Reply::Bytes(response(status, &[(name, value)], b""))]).await;
        let seen = ask(&*model(config(&peer.base(), Api::Chat)), LONG).await;
        match seen.end {
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
    let seen = ask(&*model(config(&closed, Api::Chat)), LONG).await;
    let Err(ModelError::Unavailable(words)) = seen.end else { panic!("{seen:?}") };
    assert!(words.contains("127.0.0.1") && words.contains("refused"), "{words}");
    assert_eq!(seen.failed.len(), 2);
}

#[tokio::test]
async fn a_connection_that_closes_without_an_answer_is_tried_twice() {
    let hello = || Reply::Bytes(sse(&speech::Speech(Api::Chat).hello()));
    let closes = || Reply::Bytes(Vec::new());
    let peer = Peer::start(vec![closes(), hello(), closes(), closes()]).await;
    let model = model(config(&peer.base(), Api::Chat));
    assert_eq!(ask(&*model, LONG).await.end, Ok((FinishReason::Stop, 1)));
    let seen = ask(&*model, LONG).await;
    assert!(matches!(seen.end, Err(ModelError::Unavailable(_))), "{seen:?}");
    assert_eq!((seen.failed.len(), peer.requests().len()), (2, 4));
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
    let model = model(config(&peer.base(), Api::Chat));
    for _ in 0..2 {
        assert!(ask(&*model, LONG).await.end.is_err());
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
