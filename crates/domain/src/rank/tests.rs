use super::*;

fn best<'a>(query: &str, texts: &[&'a str]) -> Vec<&'a str> {
    let scores = scores(query, texts.iter().copied());
    let mut places: Vec<usize> = (0..texts.len()).filter(|place| scores[*place] > 0.0).collect();
    places.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    places.into_iter().map(|place| texts[place]).collect()
}

#[test]
fn words_are_taken_apart_as_names_are_written() {
    let check = |text: &str, expected: &[&str]| assert_eq!(words(text), expected, "{text}");
    check("todo_list: Lists todos", &["todo", "list", "list", "todo"]);
    check("openInvoice2 bank-statement", &["open", "invoice2", "bank", "statement"]);
    check("Über straße ss", &["über", "straße", "ss"]);
    check("車を売る", &["車", "車を", "を売", "売る"]);
    check(" \u{0} ", &[]);
}

#[test]
fn rare_words_and_short_texts_come_first() {
    let texts =
        ["show a list of todos", "show a car and what it costs", "show what the person may see of the many costs of all cars"];
    assert_eq!(best("what does my car cost", &texts), [texts[1], texts[2]]);
    assert_eq!(best("many of", &texts), [texts[2], texts[0]]);
    assert_eq!(best("zzz", &texts), [""; 0]);
    assert_eq!(scores("x", []), [0.0; 0]);
    assert_eq!(scores("", texts), [0.0; 3]);
}
