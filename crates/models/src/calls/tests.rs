use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::*;
use crate::shape::json_text;

/// A call's delta as chat completions send it.
#[derive(Default, Deserialize)]
struct Sent<'a> {
    index: Option<Value>,
    id: Option<String>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
}

#[derive(Default, Deserialize)]
struct Function<'a> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

fn push(calls: &mut Calls, sent: &Sent<'_>, out: &mut VecDeque<ChatEvent>) -> Result<(), ModelError> {
    let key = sent.index.as_ref().map(|index| index.as_u64().map_or_else(|| Key::Text(index.to_string()), Key::Number));
    let function = sent.function.as_ref();
    let text = function.and_then(|function| function.arguments).map_or(Cow::Borrowed(""), json_text);
    let name = function.and_then(|function| function.name.as_deref()).unwrap_or_default();
    calls.push(&Delta { key, id: sent.id.as_deref().unwrap_or_default(), name, text }, out)
}

/// Feeds the `tool_calls` lists of several deltas; gives (name, arguments) by index.
fn check(deltas: &[&str], expected: &[(&str, &str)]) {
    let mut calls = Calls::default();
    let mut out = VecDeque::new();
    for delta in deltas {
        let list: Vec<Sent<'_>> = serde_json::from_str(delta).expect("JSON");
        for call in &list {
            push(&mut calls, call, &mut out).expect("within bounds");
        }
    }
    let mut seen: Vec<(String, String)> = Vec::new();
    for event in out {
        match event {
            ChatEvent::ToolCall { index, name } => {
                assert_eq!(index, seen.len(), "dense: {deltas:?}");
                seen.push((name, String::new()));
            }
            ChatEvent::ToolArguments { index, delta } => seen[index].1.push_str(&delta),
            other => panic!("{other:?}"),
        }
    }
    let seen: Vec<_> = seen.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(seen, expected, "{deltas:?}");
    assert!(calls.are_named());
}

#[test]
fn an_index_only_tells_calls_apart() {
    for [a, b] in [["0", "1"], ["1", "2"], ["4000000000", "18446744073709551615"], ["7", "-3"], ["\"x\"", "1e300"]] {
        let deltas = [
            format!(r#"[{{"index":{a},"id":"p","type":"function","function":{{"name":"one","arguments":""}}}}]"#),
            format!(r#"[{{"index":{a},"function":{{"arguments":"{{\"n\":"}}}}]"#),
            format!(r#"[{{"index":{b},"id":"q","function":{{"name":"two","arguments":"{{"}}}}]"#),
            format!(r#"[{{"index":{a},"function":{{"arguments":"1}}"}}}},{{"index":{b},"function":{{"arguments":"}}"}}}}]"#),
        ];
        let deltas: Vec<&str> = deltas.iter().map(String::as_str).collect();
        check(&deltas, &[("one", r#"{"n":1}"#), ("two", "{}")]);
    }
}

#[test]
fn whole_calls_without_or_with_one_index_are_as_many_calls() {
    let expected = &[("one", "{}"), ("two", r#"{"a":1}"#)];
    check(
        &[
            r#"[{"id":"p","function":{"name":"one","arguments":"{}"}},{"id":"q","function":{"name":"two","arguments":"{\"a\":1}"}}]"#,
        ],
        expected,
    );
    check(
        &[r#"[{"function":{"name":"one","arguments":"{}"}}]"#, r#"[{"function":{"name":"two","arguments":{"a":1}}}]"#],
        expected,
    );
    // The same index for all, as some compatible servers send.
    check(
        &[
            r#"[{"index":0,"id":"p","function":{"name":"one","arguments":"{}"}}]"#,
            r#"[{"index":0,"id":"q","function":{"name":"two","arguments":"{\"a\":1}"}}]"#,
        ],
        expected,
    );
    // The same id for all.
    check(
        &[
            r#"[{"index":0,"id":"p","function":{"name":"one","arguments":"{}"}},{"index":1,"id":"p","function":{"name":"two","arguments":"{\"a\":1}"}}]"#,
        ],
        expected,
    );
    check(
        &[
            r#"[{"id":"p","function":{"name":"one","arguments":"{}"}}]"#,
            r#"[{"id":"p","function":{"name":"two","arguments":"{\"a\":1}"}}]"#,
        ],
        expected,
    );
    check(&[r#"[{"index":0,"function":{"name":"one"}},{"index":0,"function":{"name":"two"}}]"#], &[("one", ""), ("two", "")]);
}

#[test]
fn pieces_find_their_call_without_an_index() {
    let begin = r#"[{"id":"p","function":{"name":"one","arguments":"{\"a\":"}}]"#;
    check(&[begin, r#"[{"id":"p","function":{"arguments":"1}"}}]"#], &[("one", r#"{"a":1}"#)]);
    check(&[begin, r#"[{"function":{"arguments":"1}"}}]"#], &[("one", r#"{"a":1}"#)]);
    // The name again with every piece.
    check(&[begin, r#"[{"id":"p","function":{"name":"one","arguments":"1}"}}]"#], &[("one", r#"{"a":1}"#)]);
    // Another id with every piece, no name.
    check(
        &[
            r#"[{"index":0,"id":"p","function":{"name":"one","arguments":"{"}}]"#,
            r#"[{"index":0,"id":"z","function":{"arguments":"}"}}]"#,
        ],
        &[("one", "{}")],
    );
}

#[test]
fn a_call_sent_twice_is_one_call() {
    let call = r#"[{"index":1,"id":"p","function":{"name":"one","arguments":"{\"a\":\"}\\\"\"}"}}]"#;
    check(&[call, call], &[("one", r#"{"a":"}\""}"#)]);
}

#[test]
fn arguments_are_passed_on_as_they_came() {
    for (sent, expected) in [
        ("null", ""),
        (r#""""#, ""),
        (r#""{\"a\":""#, r#"{"a":"#),
        (r#"{"n": 9007199254740993}"#, r#"{"n": 9007199254740993}"#),
        ("[1, 2]", "[1, 2]"),
        ("7", "7"),
        (r#""猫\ud83e\udd80""#, "猫🦀"),
    ] {
        check(&[&format!(r#"[{{"index":0,"function":{{"name":"one","arguments":{sent}}}}}]"#)], &[("one", expected)]);
    }
    check(&[r#"[{"index":0,"id":"p","function":{"name":"one"}}]"#], &[("one", "")]);
    check(
        &[
            r#"[{"index":0,"id":"p","function":null}, {"index":0,"function":{"arguments":"{"}}]"#,
            r#"[{"index":0,"function":{"name":"late","arguments":"}"}}]"#,
        ],
        &[("late", "{}")],
    );
}

#[test]
fn calls_and_their_bytes_have_a_bound() {
    let push = |calls: &mut Calls, json: &str| push(calls, &serde_json::from_str(json).expect("JSON"), &mut VecDeque::new());
    let mut calls = Calls::default();
    for index in 0..MAX_CALLS {
        push(&mut calls, &format!(r#"{{"index":{index},"function":{{"name":"t"}}}}"#)).expect("allowed");
    }
    assert!(matches!(push(&mut calls, r#"{"index":64,"function":{"name":"t"}}"#), Err(ModelError::Protocol(_))));

    let mut calls = Calls::default();
    let piece = format!(r#"{{"index":0,"function":{{"name":"t","arguments":"{}"}}}}"#, "x".repeat(MAX_BYTES / 2));
    push(&mut calls, &piece).expect("allowed");
    assert!(matches!(push(&mut calls, &piece), Err(ModelError::Protocol(_))));
}
