//! A provider's bytes, whatever they are, in whatever pieces: the same answer, one end, no panic.
//!
//! The first byte names the wire, the second the length of the pieces; the rest is the body.
#![no_main]

use domain::ModelRef;
use libfuzzer_sys::fuzz_target;
use models::{Api, read};

fuzz_target!(|input: &[u8]| {
    let [wire, length, body @ ..] = input else { return };
    let (_, api) = Api::ALL[usize::from(*wire) % Api::ALL.len()];
    let model = ModelRef { provider: "p".to_owned(), name: "m".to_owned() };
    let pieces: Vec<&[u8]> = body.chunks(usize::from(*length).max(1)).collect();
    let (_, whole) = read(api, &model, &[body]);
    let (_, apart) = read(api, &model, &pieces);
    assert_eq!(whole, apart);
});
