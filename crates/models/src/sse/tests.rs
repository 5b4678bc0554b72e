use proptest::prelude::*;

use super::*;

/// Frames of `bytes` cut at the places of `cuts`, as (event, data).
fn read(bytes: &[u8], cuts: &[usize]) -> Vec<(String, String)> {
    let mut reader = Reader::default();
    let mut frames = Vec::new();
    let mut from = 0;
    for &cut in cuts.iter().chain([&bytes.len()]) {
        let cut = cut.clamp(from, bytes.len());
        reader.push(&bytes[from..cut]).expect("small");
        from = cut;
        while let Some(frame) = reader.next_frame() {
            frames.push(frame);
        }
    }
    frames.extend(reader.finish());
    frames.into_iter().map(|frame| (frame.event, String::from_utf8(frame.data).expect("utf-8"))).collect()
}

fn message(data: &str) -> (String, String) {
    (String::new(), data.to_owned())
}

#[test]
fn every_line_end_gives_the_same_frames() {
    let lf = ": hello\n\ndata: a\ndata:b\n\nevent: x\ndata: 猫🦀\nretry: 3\n\ndata\n\n";
    let expected = [message("a\nb"), ("x".to_owned(), "猫🦀".to_owned()), message("")];
    for end in ["\n", "\r\n", "\r"] {
        let text = lf.replace('\n', end);
        assert_eq!(read(text.as_bytes(), &[]), expected, "{end:?}");
        let every: Vec<usize> = (0..text.len()).collect();
        assert_eq!(read(text.as_bytes(), &every), expected, "{end:?} byte by byte");
    }
}

#[test]
fn a_mark_an_id_and_an_unfinished_frame() {
    assert_eq!(read(b"\xef\xbb\xbfdata: a\n\n", &[1, 2]), [message("a")]);
    assert_eq!(read(b"data: a\n\ndata: b", &[]), [message("a"), message("b")]);
    let mut reader = Reader::default();
    reader.push(b"id: 7\ndata: a\n\ndata: b\n\n").expect("small");
    assert_eq!(reader.next_frame().map(|frame| frame.id), Some("7".to_owned()));
    assert_eq!(reader.next_frame().map(|frame| frame.id), Some("7".to_owned()));
    assert_eq!(reader.next_frame(), None);
    assert_eq!(reader.finish(), None);
}

#[test]
fn a_frame_has_a_bound_and_keep_alives_have_none() {
    let mut reader = Reader::new(31);
    for _ in 0..100 {
        reader.push(b": keep-alive\n\n: again\n").expect("comments are dropped");
    }
    reader.push(b"data: 0123456789\n").expect("small");
    assert_eq!(reader.push(b"data: 0123456789\n").err(), Some(TooLarge { max: 31 }));
    assert_eq!(Reader::new(32).push(&[b'x'; 33]).err(), Some(TooLarge { max: 32 }));
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_frames(text in "(data: [a-c猫🦀:]{0,3}|:[a-c]|event: e|\r|\n|\r\n){0,30}", mut cuts in prop::collection::vec(0usize..200, 0..20)) {
        cuts.sort_unstable();
        prop_assert_eq!(read(text.as_bytes(), &cuts), read(text.as_bytes(), &[]));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut reader = Reader::new(64);
        let _ = reader.push(&bytes);
        while reader.next_frame().is_some() {}
        let _ = reader.finish();
    }
}
