use bytes::Bytes;
use domain::{FinishReason, ModelRef, TokenUsage};
use egress::EgressError;
use proptest::prelude::*;
use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::{Api, answer::Answer};

const IDLE: Duration = Duration::from_secs(30);

/// Everything that may happen in one answer: a comment, reasoning, wide characters, two interleaved calls, usage.
const RECORDED: &str = concat!(
    ": hello\r\n\r\n",
    "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hm…\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"时间 ⏰\"}}]}\r\n\r\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" 🦀\"}}]}\r\r",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"p\",\"function\":{\"name\":\"one\",\"arguments\":\"{\\\"a\\\":\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":2,\"id\":\"q\",\"function\":{\"name\":\"two\",\"arguments\":\"\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\"\\\"猫\\\"}\"}},{\"index\":2,\"function\":{\"arguments\":\"{}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\n",
    "data: [DONE]\n\n",
);

/// What an answer came to.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    text: String,
    reasoning: String,
    calls: Vec<(String, String)>,
    end: Result<(FinishReason, TokenUsage), ModelError>,
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().expect("runtime")
}

async fn seen(mut events: ChatStream) -> Seen {
    let mut seen = Seen { text: String::new(), reasoning: String::new(), calls: Vec::new(), end: Err(ModelError::Auth) };
    let mut ended = false;
    while let Some(event) = events.next().await {
        assert!(!ended, "{event:?} after the end");
        match event {
            Ok(ChatEvent::Text(text)) => seen.text.push_str(&text),
            Ok(ChatEvent::Reasoning(text)) => seen.reasoning.push_str(&text),
            Ok(ChatEvent::ToolCall { index, name }) => {
                assert_eq!(index, seen.calls.len());
                seen.calls.push((name, String::new()));
            }
            Ok(ChatEvent::ToolArguments { index, delta }) => seen.calls[index].1.push_str(&delta),
            Ok(ChatEvent::Done { finish, usage, .. }) => (seen.end, ended) = (Ok((finish, usage)), true),
            Ok(_) => {}
            Err(error) => (seen.end, ended) = (Err(error), true),
        }
    }
    assert!(ended, "a stream without an end");
    seen
}

fn reading(chunks: Chunks) -> Reading {
    let deadline = Instant::now() + Duration::from_secs(600);
    let answer = Answer::new(ModelRef { provider: "p".into(), name: "m".into() });
    let patience = Patience { first: IDLE, idle: IDLE, deadline };
    Reading::new(chunks, Decoding::new(Api::Chat.wire().decoder(), answer), patience, CancellationToken::new())
}

type Piece = Result<Bytes, EgressError>;

fn pieces(bytes: &[u8], cuts: &[usize]) -> Vec<Piece> {
    let mut from = 0;
    let mut out = Vec::new();
    for &cut in cuts.iter().chain([&bytes.len()]) {
        let cut = cut.clamp(from, bytes.len());
        out.push(Ok(Bytes::copy_from_slice(&bytes[from..cut])));
        from = cut;
    }
    out
}

async fn read(pieces: Vec<Piece>) -> Seen {
    seen(reading(stream::iter(pieces).boxed()).into_stream()).await
}

fn reset() -> Piece {
    Err(EgressError::Transport { host: "h".to_owned(), reason: "it was reset" })
}

#[test]
fn a_recorded_answer_is_the_same_byte_by_byte() {
    runtime().block_on(async {
        let whole = read(pieces(RECORDED.as_bytes(), &[])).await;
        let usage = TokenUsage { input_tokens: Some(7), output_tokens: Some(3), ..TokenUsage::default() };
        let expected = Seen {
            text: "时间 ⏰ 🦀".into(),
            reasoning: "hm…".into(),
            calls: vec![("one".into(), "{\"a\":\"猫\"}".into()), ("two".into(), "{}".into())],
            end: Ok((FinishReason::ToolCalls, usage)),
        };
        assert_eq!(whole, expected);
        let every: Vec<usize> = (0..RECORDED.len()).collect();
        assert_eq!(read(pieces(RECORDED.as_bytes(), &every)).await, expected);
    });
}

#[test]
fn a_cut_at_any_byte_is_a_beginning_and_one_end() {
    runtime().block_on(async {
        let whole = read(pieces(RECORDED.as_bytes(), &[])).await;
        let finished =
            RECORDED.find("\"finish_reason\":\"tool_calls\"}]}").expect("there") + "\"finish_reason\":\"tool_calls\"}]}".len();
        for cut in 0..RECORDED.len() {
            for broken in [false, true] {
                let mut sent = pieces(&RECORDED.as_bytes()[..cut], &[]);
                sent.extend(broken.then(reset));
                let seen = read(sent).await;
                assert!(whole.text.starts_with(&seen.text), "{cut}");
                assert!(seen.calls.len() <= whole.calls.len(), "{cut}");
                for (part, call) in seen.calls.iter().zip(&whole.calls) {
                    assert!(part.0 == call.0 && call.1.starts_with(&part.1), "{cut}");
                }
                match seen.end {
                    Ok((finish, _)) => assert!(cut >= finished && finish == FinishReason::ToolCalls, "{cut}"),
                    Err(error) => assert!(cut < finished + 2 && error == ModelError::Cut, "{cut} {error:?}"),
                }
            }
        }
    });
}

/// A stream that sends the same bytes once a second for ever.
fn for_ever(bytes: &'static [u8]) -> Chunks {
    stream::unfold((), move |()| async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Some((Ok(Bytes::from_static(bytes)), ()))
    })
    .boxed()
}

fn begun_then(rest: Chunks) -> Chunks {
    let first = Bytes::from_static(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n");
    stream::iter([Ok(first)]).chain(rest).boxed()
}

#[test]
fn only_the_models_own_bytes_keep_a_stream_alive() {
    for keep_alive in [
        &b": keep-alive\n\n"[..],
        b"data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\n",
        b"data: {\"model\":\"m\",\"choices\":[]}\n\n",
        b"data: \n\n",
        b"\n",
    ] {
        let seen = runtime().block_on(async { seen(reading(begun_then(for_ever(keep_alive))).into_stream()).await });
        assert_eq!((seen.text.as_str(), seen.end), ("a", Err(ModelError::Idle)));
    }
    let talking = b"data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
    let seen = runtime().block_on(async { seen(reading(for_ever(talking)).into_stream()).await });
    assert_eq!(seen.end, Err(ModelError::Cut), "only the deadline ends it");
    assert!(seen.text.len() > 500);
}

#[test]
fn an_answer_that_has_ended_waits_only_a_little_for_the_rest() {
    let finished = Bytes::from_static(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n");
    runtime().block_on(async {
        let started = Instant::now();
        let chunks = stream::iter([Ok(finished)]).chain(stream::pending()).boxed();
        let seen = seen(reading(chunks).into_stream()).await;
        assert!(seen.end.is_ok());
        assert_eq!(started.elapsed(), TAIL);
    });
}

#[test]
fn a_reader_that_takes_its_time_does_not_make_the_provider_idle() {
    runtime().block_on(async {
        let later = stream::once(async {
            tokio::time::sleep(IDLE / 2).await;
            Ok(Bytes::from_static(b"data: [DONE]\n\n"))
        });
        let mut events = reading(begun_then(later.boxed())).into_stream();
        assert_eq!(events.next().await, Some(Ok(ChatEvent::Text("a".into()))));
        tokio::time::sleep(IDLE * 2).await;
        assert!(matches!(events.next().await, Some(Ok(ChatEvent::Done { .. }))));
        assert_eq!(events.next().await, None);
    });
}

#[test]
fn cancelling_ends_it_and_lets_the_connection_go() {
    runtime().block_on(async {
        let held = std::sync::Arc::new(());
        let guard = held.clone();
        let chunks = begun_then(
            stream::once(async move {
                let _guard = guard;
                std::future::pending().await
            })
            .boxed(),
        );
        let mut reading = reading(chunks);
        let cancel = CancellationToken::new();
        reading.cancel = cancel.clone();
        let mut events = reading.into_stream();
        assert!(matches!(events.next().await, Some(Ok(ChatEvent::Text(_)))));
        cancel.cancel();
        assert_eq!(events.next().await, Some(Err(ModelError::Cut)));
        assert_eq!(std::sync::Arc::strong_count(&held), 1);
        assert_eq!(events.next().await, None);
    });
}

#[test]
fn a_frame_without_an_end_is_refused() {
    runtime().block_on(async {
        let mut sent = pieces(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: ", &[]);
        sent.extend(std::iter::repeat_n(Ok(Bytes::from(vec![b'x'; 64 * 1024])), 160));
        let seen = read(sent).await;
        assert_eq!(seen.text, "a");
        assert!(matches!(seen.end, Err(ModelError::Protocol(_))));
    });
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_answer(mut cuts in prop::collection::vec(0usize..RECORDED.len(), 0..40), keep in 0usize..=RECORDED.len()) {
        cuts.sort_unstable();
        let bytes = &RECORDED.as_bytes()[..keep];
        let (apart, whole) = runtime().block_on(async { (read(pieces(bytes, &cuts)).await, read(pieces(bytes, &[])).await) });
        prop_assert_eq!(apart, whole);
    }

    #[test]
    fn any_bytes_end_in_one_way(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let framed = [b"data: ", bytes.as_slice(), b"\n\n"].concat();
        runtime().block_on(async {
            read(pieces(&bytes, &[bytes.len() / 2])).await;
            read(pieces(&framed, &[])).await;
        });
    }
}
