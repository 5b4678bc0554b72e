//! The suite of broken streams: every way in which a provider's bytes can go wrong, over every wire and a real socket.
//! What comes out is the same text, one error, or a clean cut: never a hang, a call twice, a panic or unbounded memory.

use std::time::Duration;

use domain::{FinishReason, ModelError};
use models::Api;
use serde_json::{Value, json};

use crate::{
    peer::{Peer, Reply, gzip, json as json_reply, response, sse},
    speech::{ALL, Fault, Speech, Stop, TEXT, THOUGHT},
    support::{KEY, LONG, Seen, ask, config, model, request},
};

/// What each of the replies came to, with this patience.
async fn all_within(speech: Speech, replies: Vec<Reply>, idle: Duration, timeout: Duration) -> Vec<Seen> {
    let count = replies.len();
    let peer = Peer::start(replies).await;
    let model = model(models::Config { idle_timeout: idle, ..config(&peer.base(), speech.0) });
    let mut seen = Vec::with_capacity(count);
    for _ in 0..count {
        seen.push(ask(&*model, timeout).await);
    }
    assert_eq!(peer.requests().len(), count, "{speech:?}: each was asked once");
    seen
}

async fn all(speech: Speech, replies: Vec<Reply>) -> Vec<Seen> {
    all_within(speech, replies, LONG, LONG).await
}

async fn one(speech: Speech, reply: Reply) -> Seen {
    all(speech, vec![reply]).await.remove(0)
}

async fn of(speech: Speech, body: &str) -> Seen {
    one(speech, Reply::Bytes(sse(body))).await
}

/// Where it is served below a server's address, and the header that holds the key.
fn door(speech: Speech) -> (&'static str, &'static str) {
    match speech.0 {
        Api::Chat => ("/v1/chat/completions", "authorization: Bearer "),
        Api::Responses => ("/v1/responses", "authorization: Bearer "),
        Api::Anthropic => ("/v1/messages", "x-api-key: "),
        Api::Gemini => ("/v1/models/m:streamGenerateContent?alt=sse", "x-goog-api-key: "),
    }
}

fn called(calls: &[(&str, &str)]) -> Vec<(String, String)> {
    calls.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn assert_rich(seen: &Seen, speech: Speech) {
    assert_eq!((seen.text.as_str(), seen.reasoning.as_str()), (TEXT, THOUGHT), "{speech:?}");
    assert_eq!(seen.calls, called(&[("one", "{\"a\":\"猫\"}"), ("two", "{}")]), "{speech:?}");
    assert_eq!(seen.end, Ok((FinishReason::ToolCalls, 0)), "{speech:?}");
    assert_eq!((seen.sealed, seen.tokens), (speech.0 != Api::Chat, Some(3)), "{speech:?}");
    assert_eq!(seen.model.as_deref(), Some("m-1"), "{speech:?}");
}

#[tokio::test]
async fn the_same_answer_however_its_bytes_travel() {
    for speech in ALL {
        let rich = speech.rich();
        let (crlf, cr) = (rich.replace('\n', "\r\n"), rich.replace('\n', "\r"));
        let zipped = [("content-type", "text/event-stream"), ("content-encoding", "gzip")];
        for reply in [
            Reply::Bytes(sse(&rich)),
            Reply::ByteByByte(sse(&rich)),
            Reply::Bytes(sse(&crlf)),
            Reply::ByteByByte(sse(&crlf)),
            Reply::ByteByByte(sse(&cr)),
            Reply::Bytes(response(200, &zipped, &gzip(rich.as_bytes()))),
            Reply::Bytes(response(200, &[], rich.as_bytes())),
        ] {
            assert_rich(&one(speech, reply).await, speech);
        }
        let whole = one(speech, Reply::Bytes(json_reply(200, &speech.whole().to_string()))).await;
        assert_eq!((whole.text.as_str(), whole.end), (TEXT, Ok((FinishReason::Stop, 0))), "{speech:?}");
    }
}

#[tokio::test]
async fn a_request_goes_where_and_as_it_should() {
    for speech in ALL {
        let peer = Peer::start(vec![Reply::Bytes(sse(&speech.hello()))]).await;
        let seen = ask(&*model(config(&peer.base(), speech.0)), LONG).await;
        assert_eq!((seen.text.as_str(), seen.end), (TEXT, Ok((FinishReason::Stop, 0))), "{speech:?}");
        let sent = peer.requests().remove(0);
        let (path, header) = door(speech);
        assert!(sent.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{sent}");
        assert!(sent.contains(&format!("{header}{KEY}\r\n")), "{sent}");
        assert!(sent.contains("Be kind.") && sent.contains("hi"), "{sent}");
        assert_eq!(sent.matches(KEY).count(), 1, "{sent}");
    }
}

#[tokio::test]
async fn a_cut_at_any_byte_is_a_beginning_and_one_end() {
    for speech in ALL {
        let rich = speech.rich();
        let decided = rich.find(speech.stop(Stop::Called).trim_end()).unwrap() + speech.stop(Stop::Called).trim_end().len();
        let replies = (0..rich.len()).map(|cut| Reply::Bytes(sse_bytes(&rich.as_bytes()[..cut]))).collect();
        for (cut, seen) in all(speech, replies).await.into_iter().enumerate() {
            let at = || format!("{speech:?} cut at {cut}");
            assert!(TEXT.starts_with(&seen.text) && THOUGHT.starts_with(&seen.reasoning), "{}", at());
            let whole = called(&[("one", "{\"a\":\"猫\"}"), ("two", "{}")]);
            assert!(seen.calls.len() <= 2, "{}", at());
            for (part, call) in seen.calls.iter().zip(&whole) {
                assert!(part.0 == call.0 && call.1.starts_with(&part.1), "{}", at());
            }
            match seen.end {
                Ok(end) => assert!(cut >= decided && end == (FinishReason::ToolCalls, 0), "{}", at()),
                Err(error) => assert!(cut < decided && error == ModelError::Cut, "{} {error:?}", at()),
            }
        }
    }
}

fn sse_bytes(body: &[u8]) -> Vec<u8> {
    [&sse("")[..], body].concat()
}

#[tokio::test]
async fn a_body_that_ends_before_its_length_is_a_cut() {
    for speech in ALL {
        let body = speech.begin() + &speech.text("a");
        let whole = String::from_utf8(response(200, &[("content-type", "text/event-stream")], body.as_bytes())).unwrap();
        let promised = whole.replace(&format!("content-length: {}", body.len()), "content-length: 99999");
        let seen = one(speech, Reply::Bytes(promised.into_bytes())).await;
        assert_eq!((seen.text.as_str(), seen.end), ("a", Err(ModelError::Cut)), "{speech:?}");
    }
}

#[tokio::test]
async fn an_end_without_its_last_event() {
    for speech in ALL {
        let begun = speech.begin() + &speech.text("a");
        let seen = of(speech, &begun).await;
        assert_eq!((seen.text.as_str(), seen.end), ("a", Err(ModelError::Cut)), "{speech:?}: no reason, no end");
        let seen = of(speech, &(begun.clone() + &speech.stop(Stop::Said))).await;
        assert_eq!(seen.end, Ok((FinishReason::Stop, 0)), "{speech:?}: no last event");
        let seen = of(speech, (begun.clone() + &speech.stop(Stop::Said)).trim_end()).await;
        assert_eq!(seen.end, Ok((FinishReason::Stop, 0)), "{speech:?}: no blank line");
        let seen = of(speech, &(begun + &speech.stop(Stop::Said) + &speech.end() + &speech.text("more"))).await;
        let after = if speech.end().is_empty() && speech.0 == Api::Gemini { "amore" } else { "a" };
        assert_eq!((seen.text.as_str(), seen.end), (after, Ok((FinishReason::Stop, 0))), "{speech:?}: words after the end");
    }
}

#[tokio::test]
async fn an_index_only_tells_calls_apart() {
    for speech in ALL {
        for [a, b] in [[0, 1], [1, 2], [4_000_000_000, u64::MAX], [7, 3]] {
            let (a, b) = (json!(a), json!(b));
            let interleaved = speech.call(&a, "x", "one")
                + &speech.call(&b, "y", "two")
                + &speech.arguments(&b, &json!("{\"n\":"))
                + &speech.arguments(&a, &json!("{}"))
                + &speech.arguments(&b, &json!("2}"));
            let whole = speech.called(&a, "x", "one", &json!("{}")) + &speech.called(&b, "y", "two", &json!("{\"n\":2}"));
            for calls in [interleaved, whole].iter().filter(|calls| !calls.is_empty()) {
                let seen = of(speech, &(speech.begin() + calls + &speech.stop(Stop::Called) + &speech.end())).await;
                assert_eq!(seen.calls, called(&[("one", "{}"), ("two", "{\"n\":2}")]), "{speech:?} {a} {b}");
                assert_eq!(seen.end, Ok((FinishReason::ToolCalls, 0)), "{speech:?}");
            }
        }
    }
}

#[tokio::test]
async fn arguments_are_passed_on_as_they_came() {
    for speech in ALL {
        for (sent, expected) in [
            (Value::Null, ""),
            (json!(""), ""),
            (json!("{\"a\":"), "{\"a\":"),
            (json!("{\"a\":1}"), "{\"a\":1}"),
            (json!([1, 2]), "[1,2]"),
            (json!({"a": 1}), "{\"a\":1}"),
            (json!("null"), "null"),
        ] {
            let call = speech.called(&json!(2), "x", "one", &sent);
            let seen = of(speech, &(speech.begin() + &call + &speech.stop(Stop::Called) + &speech.end())).await;
            assert_eq!(seen.calls, called(&[("one", expected)]), "{speech:?} {sent}");
            assert_eq!(seen.end, Ok((FinishReason::ToolCalls, 0)), "{speech:?}");
        }
    }
}

#[tokio::test]
async fn an_id_given_twice() {
    for speech in ALL {
        let end = speech.stop(Stop::Called) + &speech.end();
        let one_call = speech.called(&json!(2), "x", "one", &json!("{\"a\":1}"));
        let two = one_call.clone() + &speech.called(&json!(3), "x", "two", &json!("{}"));
        let seen = of(speech, &(speech.begin() + &two + &end)).await;
        assert_eq!(seen.calls, called(&[("one", "{\"a\":1}"), ("two", "{}")]), "{speech:?}: two calls");
        if speech.0 == Api::Gemini {
            let seen = of(speech, &(speech.begin() + &one_call + &one_call + &end)).await;
            assert_eq!(seen.calls, called(&[("one", "{\"a\":1}")]), "{speech:?}: the same call once more");
        }
    }
}

#[tokio::test]
async fn an_error_in_the_stream_ends_it_and_what_came_before_counts() {
    for speech in ALL {
        for (fault, expected) in [
            (Fault::Overloaded, ModelError::Overloaded { retry_after: None }),
            (Fault::RateLimited, ModelError::RateLimited { retry_after: None }),
            (Fault::Odd, ModelError::Unavailable("it reported an error".to_owned())),
        ] {
            let begun = speech.begin() + &speech.text("a");
            let seen = of(speech, &(begun + &speech.fault(fault) + &speech.text("never read"))).await;
            assert_eq!((seen.text.as_str(), seen.end), ("a", Err(expected.clone())), "{speech:?}");
            let seen = of(speech, &(speech.begin() + &speech.fault(fault))).await;
            assert_eq!((seen.failed, seen.end), (vec![("m".to_owned(), expected.clone())], Err(expected)), "{speech:?}: at once");
        }
        for garbage in ["data: {\n\n", "data: []\n\n", "data: \"x\"\n\n", "data: \u{0}\n\n"] {
            let seen = of(speech, &(speech.begin() + &speech.text("a") + garbage)).await;
            assert_eq!(seen.text, "a", "{speech:?} {garbage:?}");
            assert!(matches!(seen.end, Err(ModelError::Protocol(_))), "{speech:?} {garbage:?} {:?}", seen.end);
        }
    }
}

#[tokio::test]
async fn a_refusal_before_the_stream() {
    for speech in ALL {
        let body = speech.error(Fault::Odd).to_string();
        for (status, expected) in [
            (400, ModelError::Invalid { status: 400 }),
            (401, ModelError::Auth),
            (404, ModelError::Invalid { status: 404 }),
            (413, ModelError::ContextTooLong),
            (500, ModelError::Unavailable("it answered with status 500".to_owned())),
            (502, ModelError::Unavailable("it answered with status 502".to_owned())),
        ] {
            let html = response(status, &[("content-type", "text/html")], b"<html>leak</html>");
            for reply in [json_reply(status, &body), html] {
                let seen = one(speech, Reply::Bytes(reply)).await;
                assert_eq!((seen.text.as_str(), seen.end), ("", Err(expected.clone())), "{speech:?} {status}");
            }
        }
        // Asked once more, after the wait it named.
        for status in [429, 503, 529] {
            let refusal = || Reply::Bytes(response(status, &[("retry-after-ms", "1")], b"{\"error\":{\"message\":\"leak\"}}"));
            let peer = Peer::start(vec![refusal(), Reply::Bytes(sse(&speech.hello())), refusal(), refusal()]).await;
            let model = model(config(&peer.base(), speech.0));
            let seen = ask(&*model, LONG).await;
            assert_eq!((seen.text.as_str(), seen.end), (TEXT, Ok((FinishReason::Stop, 1))), "{speech:?} {status}");
            let seen = ask(&*model, LONG).await;
            assert!(matches!(seen.end, Err(ModelError::RateLimited { .. } | ModelError::Overloaded { .. })), "{:?}", seen.end);
            assert_eq!((seen.failed.len(), peer.requests().len()), (2, 4), "{speech:?} {status}");
        }
    }
}

#[tokio::test]
async fn what_is_no_answer_is_said_to_be_none() {
    for speech in ALL {
        let html = response(200, &[("content-type", "text/html; charset=utf-8")], b"<html>leak</html>");
        let other = response(200, &[("content-type", "application/octet-stream")], b"leak");
        let list = json_reply(200, r#"{"object":"list"}"#);
        for reply in [html, other, list, json_reply(200, "leak"), json_reply(200, "")] {
            let seen = one(speech, Reply::Bytes(reply)).await;
            assert!(seen.text.is_empty() && matches!(seen.end, Err(ModelError::Protocol(_))), "{speech:?} {:?}", seen.end);
        }
        let seen =
            one(speech, Reply::Bytes(json_reply(200, &json!({"error": {"code": 503, "message": "leak"}}).to_string()))).await;
        assert_eq!(seen.end, Err(ModelError::Overloaded { retry_after: None }), "{speech:?}");
    }
}

#[tokio::test]
async fn a_redirect_takes_the_key_nowhere() {
    for speech in ALL {
        let thief = Peer::start(vec![Reply::Bytes(sse(&speech.hello()))]).await;
        for status in [301, 307, 308] {
            let location = format!("{}/x", thief.base());
            let seen = one(speech, Reply::Bytes(response(status, &[("location", &location)], b""))).await;
            assert_eq!(seen.end, Err(ModelError::Invalid { status }), "{speech:?}");
        }
        assert_eq!(thief.requests(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn nothing_grows_without_a_bound() {
    for speech in ALL {
        let begun = speech.begin() + &speech.text("a");
        let mut huge = sse(&begun);
        huge.extend_from_slice(b"data: ");
        huge.resize(huge.len() + 10 * 1024 * 1024, b'x');
        let seen = one(speech, Reply::Bytes(huge)).await;
        assert_eq!((seen.text.as_str(), seen.end), ("a", Err(ModelError::Protocol("an event of more than 1 MiB"))), "{speech:?}");

        let endless = speech.text(&"x".repeat(64 * 1024)).into_bytes();
        let seen = one(speech, Reply::ForEver(sse(&begun), endless)).await;
        assert_eq!(seen.end, Err(ModelError::Protocol("an answer of more than 4 MiB")), "{speech:?}");
        assert!(seen.text.len() <= 4 * 1024 * 1024);

        let call = speech.called(&json!(2), "x", "one", &json!("y".repeat(64 * 1024))).into_bytes();
        let seen = one(speech, Reply::ForEver(sse(&begun), call)).await;
        assert!(matches!(seen.end, Err(ModelError::Protocol(_))), "{speech:?} {:?}", seen.end);
        let many = (2..200).map(|key| speech.called(&json!(key), &format!("x{key}"), "one", &json!("{}"))).collect::<String>();
        let seen = of(speech, &(begun + &many)).await;
        assert_eq!((seen.calls.len(), seen.end), (64, Err(ModelError::Protocol("more than 64 tool calls"))), "{speech:?}");
    }
}

#[tokio::test]
async fn keep_alives_and_silence_are_idle() {
    let idle = Duration::from_millis(50);
    for speech in ALL {
        let begun = sse(&(speech.begin() + &speech.text("a")));
        let quiet = (speech.quiet() + ": still here\n\n").into_bytes();
        for reply in [Reply::ForEver(begun.clone(), quiet), Reply::Hold(begun.clone())] {
            let seen = all_within(speech, vec![reply], idle, LONG).await.remove(0);
            assert_eq!((seen.text.as_str(), seen.end), ("a", Err(ModelError::Idle)), "{speech:?}");
        }
        let seen = all_within(speech, vec![Reply::Hold(Vec::new())], idle, LONG).await.remove(0);
        assert_eq!(seen.end, Err(ModelError::Idle), "{speech:?}: slow headers");
        let seen = all_within(speech, vec![Reply::Hold(begun)], LONG, idle).await.remove(0);
        assert_eq!((seen.text.as_str(), seen.end), ("a", Err(ModelError::Cut)), "{speech:?}: the deadline");
    }
}

#[tokio::test]
async fn leaving_closes_the_connection() {
    use futures::StreamExt;
    use tokio_util::sync::CancellationToken;
    for speech in ALL {
        let begun = sse(&(speech.begin() + &speech.text("a")));
        let peer = Peer::start(vec![Reply::Hold(begun.clone()), Reply::Hold(begun), Reply::Hold(Vec::new())]).await;
        let model = model(config(&peer.base(), speech.0));
        let cancel = CancellationToken::new();
        let mut events = model.stream(cancel.clone(), request(LONG)).await.unwrap();
        while !matches!(events.next().await, Some(Ok(domain::ChatEvent::Text(_)))) {}
        cancel.cancel();
        assert_eq!(events.next().await, Some(Err(ModelError::Cut)), "{speech:?}");
        assert_eq!(events.next().await, None);
        peer.closed(1).await;
        drop(model.stream(CancellationToken::new(), request(LONG)).await.unwrap());
        peer.closed(2).await;
        let cancel = CancellationToken::new();
        let waiting = model.stream(cancel.clone(), request(LONG));
        let cancelled = async {
            peer.asked(3).await;
            cancel.cancel();
        };
        let (opened, ()) = tokio::join!(waiting, cancelled);
        assert_eq!(opened.err(), Some(ModelError::Cut), "{speech:?}");
        peer.closed(3).await;
    }
}
