//! What reading an answer costs, on each wire, from the body's bytes to the events: no socket, no timer.

use std::time::{Duration, Instant};

use domain::ModelRef;
use models::Api;
use serde_json::{Value, json};

use crate::{Figure, figure};

/// Pieces of text of one answer: about as many tokens.
const DELTAS: u32 = 5_000;
/// Each is read as often, and the fastest time counts.
const ROUNDS: usize = 20;
/// Bytes of one read of a connection, about.
const CHUNK: usize = 1_400;

pub(crate) fn measure() -> Vec<Figure> {
    let apis = Api::ALL.iter().map(|(name, api)| (name, cost(*api)));
    apis.map(|(name, cost)| {
        let thousand = cost.as_secs_f64() * 1e3 * 1_000.0 / f64::from(DELTAS);
        let whole = cost.as_secs_f64() * 1e3;
        figure(
            format!("{name}: CPU per 1,000 deltas / an answer of 5,000"),
            format!("{thousand:.2} / {whole:.1} ms"),
            "<= 2 / 10 ms",
        )
    })
    .collect()
}

fn cost(api: Api) -> Duration {
    let body = body(api);
    let pieces: Vec<&[u8]> = body.as_bytes().chunks(CHUNK).collect();
    let model = ModelRef { provider: "bench".to_owned(), name: "m".to_owned() };
    let round = || {
        let started = Instant::now();
        let (events, end) = models::read(api, &model, &pieces);
        let took = started.elapsed();
        assert!(events.len() >= DELTAS as usize && end.is_ok(), "{api:?} {end:?}");
        took
    };
    (0..ROUNDS).map(|_| round()).min().unwrap_or_default()
}

/// An answer as each provider sends it, with the fields beside the text that a real one has.
fn body(api: Api) -> String {
    let frame = |value: Value| match api {
        Api::Chat | Api::Gemini => format!("data: {value}\n\n"),
        Api::Responses | Api::Anthropic => format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap()),
    };
    let delta = |place: u32| match api {
        Api::Chat => {
            json!({"id": "chatcmpl-0123456789abcdef", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "m",
            "service_tier": "default", "system_fingerprint": "fp_0123456789",
            "choices": [{"index": 0, "delta": {"content": " word"}, "logprobs": null, "finish_reason": null}], "obfuscation": "abcdef"})
        }
        Api::Responses => {
            json!({"type": "response.output_text.delta", "sequence_number": place, "item_id": "msg_0123456789abcdef0123456789",
            "output_index": 0, "content_index": 0, "delta": " word", "logprobs": [], "obfuscation": "abcdef"})
        }
        Api::Anthropic => json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": " word"}}),
        Api::Gemini => json!({"candidates": [{"content": {"parts": [{"text": " word"}], "role": "model"}, "index": 0}],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": place, "totalTokenCount": 10 + place,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}]}, "modelVersion": "m", "responseId": "0123456789abcdef"}),
    };
    let end = match api {
        Api::Chat => json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        Api::Responses => json!({"type": "response.completed", "response": {"status": "completed"}}),
        Api::Anthropic => json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        Api::Gemini => json!({"candidates": [{"finishReason": "STOP", "index": 0}]}),
    };
    (0..DELTAS).map(|place| frame(delta(place))).chain([frame(end)]).collect()
}
