use super::*;

fn check(grounding: &str, context: &str, expected: &[&str]) {
    let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    let (grounding, context) = (raw(grounding), raw(context));
    assert_eq!(sentences(Some(&grounding), Some(&context)).unwrap(), expected);
}

#[test]
fn grounding_is_a_text_a_list_or_sources_then_context() {
    check(r#"" One. ""#, r#"[{"description":"page","value":"Invoice"}]"#, &["One.", "page: Invoice"]);
    check(r#"["One.","","Two."]"#, "[]", &["One.", "Two."]);
    check(
        r#"[{"source":"screen","title":"Invoice 12","facts":["total 40","due in May"]},{"source":"map","text":"Graz"},{"source":"x"}]"#,
        r#"[{"description":"cart","value":{"items":2}},{"description":"note","value":null},{"value":"bare"}]"#,
        &["Invoice 12: total 40", "Invoice 12: due in May", "map: Graz", r#"cart: {"items":2}"#, "note", "bare"],
    );
    check(r#"{"source":"s","facts":{"paid":false,"total":40}}"#, "[]", &["s: paid: false", "s: total: 40"]);
}
