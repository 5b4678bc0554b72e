//! Every wire fed with bytes that were damaged in every way, the same ones each time.

use super::*;
use crate::speech::{ALL, Fault, Speech, Stop};

/// Rounds for each wire; more by `FRONTDESK_FUZZ_ROUNDS`, from another start by `FRONTDESK_FUZZ_SEED`.
const ROUNDS: u64 = 600;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap()
    }
}

fn model() -> ModelRef {
    ModelRef { provider: "p".into(), name: "m".into() }
}

/// What a client would put together.
type Seen = (String, String, Vec<(String, String)>, String, Result<ChatEvent, ModelError>);

fn seen(api: Api, pieces: &[&[u8]]) -> Seen {
    let (events, end) = read(api, &model(), pieces);
    let (mut text, mut reasoning, mut seal) = (String::new(), String::new(), String::new());
    let mut calls: Vec<(String, String)> = Vec::new();
    for event in events {
        match event {
            ChatEvent::Text(more) => text.push_str(&more),
            ChatEvent::Reasoning(more) => reasoning.push_str(&more),
            ChatEvent::ReasoningSignature(more) => seal.push_str(&more),
            ChatEvent::ToolCall { index, name } => {
                assert_eq!(index, calls.len());
                calls.push((name, String::new()));
            }
            ChatEvent::ToolArguments { index, delta } => calls[index].1.push_str(&delta),
            ChatEvent::Model(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(matches!(end, Ok(ChatEvent::Done { .. }) | Err(_)), "{end:?}");
    (text, reasoning, calls, seal, end)
}

/// Words that a provider's JSON may hold where something else was expected.
const ODD: &[&str] =
    &["null", "0", "-1", "4000000000", "1e400", "\"\"", "\"x\"", "[]", "{}", "[null]", "{\"text\":1}", "true", "\"\\ud83e\""];

fn damage(bytes: &mut Vec<u8>, random: &mut Random, other: &[u8]) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let to = (at + random.below(60)).min(bytes.len());
        match random.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..to)),
            2 => {
                let again = bytes[at..to].to_vec();
                let place = random.below(bytes.len());
                bytes.splice(place..place, again);
            }
            3 => {
                let from = random.below(other.len());
                let until = (from + random.below(200)).min(other.len());
                bytes.splice(at..at, other[from..until].iter().copied());
            }
            4 => bytes.insert(at, [b'\n', b'\r', 0, 0xff, b'"', b'\\', b':', b'{'][random.below(8)]),
            // A value in place of the one after a colon.
            5 | 6 => {
                if let Some(colon) = bytes[at..].windows(2).position(|pair| pair == b"\":").map(|found| at + found + 2) {
                    let end = bytes[colon..]
                        .iter()
                        .position(|byte| matches!(byte, b',' | b'}' | b'\n'))
                        .map_or(bytes.len(), |n| colon + n);
                    bytes.splice(colon..end, ODD[random.below(ODD.len())].bytes());
                }
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
        if bytes.is_empty() {
            return;
        }
    }
}

fn everything(speech: Speech) -> Vec<u8> {
    let faults: String = [Fault::Overloaded, Fault::RateLimited, Fault::Odd].map(|fault| speech.fault(fault)).concat();
    let before_end = speech.begin() + &speech.text("a") + &faults + &speech.whole().to_string();
    (speech.rich() + &before_end + &speech.stop(Stop::Said) + &speech.hello()).into_bytes()
}

#[test]
fn damaged_bytes_end_in_one_way_whatever_their_pieces() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let rounds = number("FRONTDESK_FUZZ_ROUNDS").unwrap_or(ROUNDS);
    let start = number("FRONTDESK_FUZZ_SEED").unwrap_or(1);
    for speech in ALL {
        let other: Vec<u8> = ALL.into_iter().flat_map(everything).collect();
        for round in 0..rounds {
            let mut random = Random((start.wrapping_add(round)).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            let mut bytes = speech.rich().into_bytes();
            damage(&mut bytes, &mut random, &other);
            let mut pieces = Vec::new();
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let (piece, left) = rest.split_at(1 + random.below(rest.len().min(40)));
                pieces.push(piece);
                rest = left;
            }
            let whole = seen(speech.0, &[&bytes]);
            assert_eq!(seen(speech.0, &pieces), whole, "{speech:?} round {round}: {}", String::from_utf8_lossy(&bytes));
        }
    }
}

/// What a fuzzer kept (`fuzz/`): the first byte names the wire, the second the length of the pieces.
#[test]
fn the_corpus_ends_in_one_way_too() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/stream");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap().flatten() {
        let input = std::fs::read(file.path()).unwrap();
        let [wire, length, body @ ..] = input.as_slice() else { continue };
        let (_, api) = Api::ALL[usize::from(*wire) % Api::ALL.len()];
        let pieces: Vec<&[u8]> = body.chunks(usize::from(*length).max(1)).collect();
        assert_eq!(seen(api, &pieces), seen(api, &[body]), "{}", file.path().display());
        count += 1;
    }
    assert!(count >= Api::ALL.len());
}

#[test]
fn an_undamaged_answer_is_whole() {
    for speech in ALL {
        let (text, reasoning, calls, seal, end) = seen(speech.0, &[speech.rich().as_bytes()]);
        assert_eq!((text.as_str(), reasoning.as_str(), calls.len()), (crate::speech::TEXT, crate::speech::THOUGHT, 2));
        assert_eq!(seal.is_empty(), speech.0 == Api::Chat);
        assert!(end.is_ok(), "{speech:?}");
    }
}
