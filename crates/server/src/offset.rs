//! Offsets on the wire: the value of `id:` lines, of `Last-Event-ID` and of `?offset=`.
//!
//! A run id may hold any character but controls, a header only visible ASCII; so what is neither is percent-encoded
//! (and `%` itself). For the ids clients really make the wire form is [`Bookmark::encode`] unchanged.

use domain::{Bookmark, RunId};

pub(crate) fn encode(mark: &Bookmark, run: &RunId) -> String {
    let plain = mark.encode(run);
    if plain.bytes().all(is_plain) {
        return plain;
    }
    let mut out = String::with_capacity(plain.len() * 3);
    for byte in plain.bytes() {
        if is_plain(byte) { out.push(char::from(byte)) } else { out.push_str(&format!("%{byte:02X}")) }
    }
    out
}

/// `None`: not one of ours.
pub(crate) fn decode(text: &str) -> Option<(RunId, Bookmark)> {
    if !text.bytes().all(|byte| is_plain(byte) || byte == b'%') {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Bookmark::decode(std::str::from_utf8(&bytes).ok()?)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'%'
}

#[cfg(test)]
mod tests {
    use domain::Offset;

    use super::*;

    #[test]
    fn an_offset_fits_a_header_and_comes_back() {
        let mark = Bookmark { offset: Offset { attempt: 2, seq: 17 }, bridged: 1, open: "t1".into() };
        for (id, wire) in [
            ("run-1796066840634-em98on", "run-1796066840634-em98on:2.17.1~t1"),
            ("a:1.2", "a:1.2:2.17.1~t1"),
            (" é%猫 ", "%20%C3%A9%25%E7%8C%AB%20:2.17.1~t1"),
        ] {
            let run = RunId::parse(id).unwrap();
            assert_eq!(encode(&mark, &run), wire);
            assert_eq!(decode(wire), Some((run, mark.clone())));
        }
    }

    #[test]
    fn foreign_offsets_are_refused() {
        for text in ["", "5", "memory:v1:run:3", "run:1", "run:1.2%", "run:1.2%zz", "run: 1.2", "%FF:1.2", "r%0A:1.2", "-1"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
