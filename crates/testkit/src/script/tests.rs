#![allow(clippy::unwrap_used)]

use super::*;

fn text(pieces: &[&str]) -> Vec<Piece> {
    pieces.iter().map(|piece| Piece::Text((*piece).to_owned())).collect()
}

#[test]
fn directives_are_found_inside_other_text() {
    assert_eq!(Script::parse("no directive"), None);
    let script = Script::parse("<context>x</context> [[say hello  big world]] now").unwrap();
    assert_eq!(script.phases, vec![Phase { pieces: text(&["hello", " ", " big", " world"]), ..Phase::default() }]);
}

#[test]
fn phases_follow_rounds_of_results() {
    let script = Script::parse("[[tool whoami {}]][[tool clock raw {\"zone\": ]][[then]][[words 2 delay 5]]").unwrap();
    let call = |name: &str, arguments: &str| Piece::Call { name: name.into(), arguments: arguments.into() };
    assert_eq!(script.phase(0, &[], true).pieces, vec![call("whoami", "{}"), call("clock", "{\"zone\": ")]);
    let second = script.phase(1, &["r".into()], true);
    assert_eq!((second.pieces, second.delay), (text(&["w1", " w2"]), Duration::from_millis(5)));
    assert_eq!(script.phase(2, &["r".into(), "s".into()], true).pieces, text(&["done:", " r", " |", " s"]));
}

#[test]
fn a_loop_ends_only_when_it_may_not_call() {
    let script = Script::parse("[[loop whoami]]").unwrap();
    let call = Piece::Call { name: "whoami".into(), arguments: "{}".into() };
    assert_eq!(script.phase(4, &["r".into()], true).pieces, vec![call]);
    assert_eq!(script.phase(5, &["r".into()], false).pieces, text(&["done:", " r"]));
}

#[test]
fn acts_stand_between_pieces() {
    let phase = |text: &str| Script::parse(text).unwrap().phases.remove(0);
    assert_eq!(
        phase("[[words 5]][[gate go after 3]][[cut]]").acts,
        vec![(3, Act::Gate("go".into())), (5, Act::Cut { clean: false })]
    );
    assert_eq!(phase("[[hang after 99]]").acts, vec![(10, Act::Hang)]);
    assert_eq!(
        phase("[[error 429 retry-after 1 times 2]]").refusal,
        Some(Refusal { status: 429, retry_after: Some(1), times: Some(2) })
    );
    assert_eq!(phase("[[empty]]").pieces, vec![]);
    assert_eq!(phase("[[words 2 wide 5]]").pieces, text(&["w1...", " w2.."]));
}
