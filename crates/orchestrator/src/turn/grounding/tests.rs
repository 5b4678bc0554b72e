use super::*;

fn check(sentences: &[&str], expected: Option<(&str, bool)>) {
    let sentences: Vec<String> = sentences.iter().map(|&sentence| sentence.to_owned()).collect();
    let expected = expected.map(|(facts, cut)| Grounding { facts: facts.to_owned(), cut });
    assert_eq!(ground(&sentences), expected);
}

#[test]
fn sentences_are_cut_at_a_sentence_and_counted_in_characters() {
    check(&[], None);
    check(&["", "  "], None);
    check(&["The page is Orders.", " Order 7 is open. "], Some(("The page is Orders.\nOrder 7 is open.", false)));

    let long = format!("{}.", "ü".repeat(3_989));
    check(&[&long, "123456789"], Some((&format!("{long}\n123456789"), false)));
    check(&[&long, "A b. C d e"], Some((&format!("{long}\nA b."), true)));
    check(&[&long, "1234567890"], Some((&long, true)));
    check(&[&long, "Seventeen. Eighteen."], Some((&format!("{long}\nSeventeen."), true)));
    check(&["x.", &"y".repeat(4_000), "z."], Some(("x.", true)));
    check(&[&"y".repeat(4_001)], Some((&"y".repeat(4_000), true)));
}
