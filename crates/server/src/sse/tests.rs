use domain::Offset;
use futures::{StreamExt, stream};
use http_body::Body as _;
use http_body_util::BodyExt;

use super::*;

type Item = Result<StreamItem, FollowError>;

fn item(seq: i64, kind: ItemKind, json: &str) -> Item {
    Ok(StreamItem { mark: Some(Offset { attempt: 1, seq }.into()), json: Bytes::copy_from_slice(json.as_bytes()), kind })
}

fn sse<S: Stream<Item = Item> + Send + Unpin + 'static>(events: S, dialect: Dialect) -> Sse<S> {
    Sse::new(events, RunId::parse("r").unwrap(), dialect)
}

async fn chunk<B: http_body::Body<Data = Bytes, Error = io::Error> + Unpin>(body: &mut B) -> Option<Result<String, String>> {
    let frame = body.frame().await?;
    Some(frame.map(|frame| String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()).map_err(|error| error.to_string()))
}

#[tokio::test]
async fn ready_events_go_together_and_nothing_follows_the_terminal() {
    let events = stream::iter([
        item(0, ItemKind::Started, r#"{"a":1}"#),
        item(1, ItemKind::Event, r#"{"b":2}"#),
        item(2, ItemKind::Terminal, r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}"#),
        item(3, ItemKind::Event, r#"{"never":1}"#),
    ]);
    let mut body = sse(events, Dialect::Legacy);
    let legacy = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","metadata":{"frontdesk":{"status":"cancelled"}}}"#;
    let expected = format!("id: r:1.0\ndata: {{\"a\":1}}\n\nid: r:1.1\ndata: {{\"b\":2}}\n\nid: r:1.2\ndata: {legacy}\n\n");
    assert_eq!(chunk(&mut body).await, Some(Ok(expected)));
    assert!(body.is_end_stream());
    assert_eq!(chunk(&mut body).await, None);
}

/// Such as an end that is this response's only: with the place of the event before it a client would drop it.
#[tokio::test]
async fn what_is_no_place_has_no_id() {
    let end = StreamItem { mark: None, json: Bytes::from_static(b"{}"), kind: ItemKind::Terminal };
    let mut body = sse(stream::iter([item(1, ItemKind::Event, "[]"), Ok(end)]), Dialect::One);
    assert_eq!(chunk(&mut body).await, Some(Ok("id: r:1.1\ndata: []\n\ndata: {}\n\n".to_owned())));
    assert_eq!(chunk(&mut body).await, None);
}

#[tokio::test]
async fn a_chunk_is_bounded() {
    let long = format!("\"{}\"", "x".repeat(10_000));
    let events: Vec<Item> = (0..4).map(|seq| item(seq, ItemKind::Event, &long)).collect();
    let mut body = sse(stream::iter(events), Dialect::One);
    let mut sizes = Vec::new();
    while let Some(Ok(text)) = chunk(&mut body).await {
        sizes.push(text.matches("data: ").count());
    }
    assert_eq!(sizes, [2, 2]);
}

#[tokio::test]
async fn a_stream_that_fails_is_broken_off_after_what_came_before() {
    let events = stream::iter([item(1, ItemKind::Event, "{}"), Err(FollowError::Expired)]);
    let mut body = sse(events, Dialect::One);
    assert_eq!(chunk(&mut body).await, Some(Ok("id: r:1.1\ndata: {}\n\n".to_owned())));
    assert!(!body.is_end_stream());
    assert!(chunk(&mut body).await.unwrap().is_err());
    assert_eq!(chunk(&mut body).await, None);
}

#[tokio::test(start_paused = true)]
async fn silence_is_filled_every_ten_seconds_counted_from_the_last_event() {
    let start = Instant::now();
    let late = stream::once(Box::pin(async {
        tokio::time::sleep(Duration::from_secs(7)).await;
        item(1, ItemKind::Event, "{}")
    }));
    let mut body = sse(late.chain(stream::pending()), Dialect::One);
    assert_eq!(chunk(&mut body).await, Some(Ok("id: r:1.1\ndata: {}\n\n".to_owned())));
    let mut seen = Vec::new();
    for _ in 0..2 {
        assert_eq!(chunk(&mut body).await, Some(Ok(": keepalive\n\n".to_owned())));
        seen.push(start.elapsed().as_secs());
    }
    assert_eq!(seen, [17, 27]);
}

#[tokio::test]
async fn a_run_has_the_name_its_client_gave_it_and_places_have_the_runs_own() {
    let started = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
    let custom = r#"{"type":"CUSTOM","name":"n","value":{"runId":"r"}}"#;
    let ended = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#;
    let events =
        stream::iter([item(0, ItemKind::Started, started), item(1, ItemKind::Event, custom), item(2, ItemKind::Terminal, ended)]);
    let mut body = sse(events, Dialect::Legacy).named(RunId::parse("mine").unwrap());
    let mine = |json: &str| json.replace(r#""runId":"r""#, r#""runId":"mine""#);
    let expected =
        format!("id: r:1.0\ndata: {}\n\nid: r:1.1\ndata: {custom}\n\nid: r:1.2\ndata: {}\n\n", mine(started), mine(ended));
    assert_eq!(chunk(&mut body).await, Some(Ok(expected)));
}
