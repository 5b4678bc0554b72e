//! The checker finds what it is there to find.
#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::*;

fn said(id: &str) -> Said {
    Said {
        user: "ada".into(),
        thread: "t".into(),
        id: id.into(),
        text: format!("x «{id}»"),
        answer: None,
        tries: 1,
        terminal: None,
        violations: Vec::new(),
    }
}

/// A request for `id` after rounds of these call ids, from `at` until `end`.
fn asked(n: u64, id: &str, rounds: &[&str], at: u64, end: Option<u64>) -> Asked {
    let mut messages = vec![json!({"role": "user", "content": format!("x «{id}»\n<context>\nnow\n</context>")})];
    for call in rounds {
        messages.push(json!({"role": "assistant", "tool_calls": [{"id": call}]}));
        messages.push(json!({"role": "tool", "tool_call_id": call, "content": "r"}));
    }
    let end = end.map(|at| (End::Done, at));
    Asked { n, at, body: json!({"messages": messages}), authorized: true, end }
}

fn check(said: &[Said], asked: &[Asked], expected: &[&str]) {
    let mut violations = Vec::new();
    requests(said, asked, &mut violations);
    assert_eq!(violations.len(), expected.len(), "{violations:?}");
    for (violation, expected) in violations.iter().zip(expected) {
        assert!(violation.contains(expected), "{violation}");
    }
}

#[test]
fn an_uncommitted_step_may_be_asked_again_and_a_committed_one_not() {
    let one = [said("1")];
    check(&one, &[asked(1, "1", &[], 0, Some(1)), asked(2, "1", &[], 5, Some(6)), asked(3, "1", &["a"], 7, Some(8))], &[]);
    let again = [asked(1, "1", &["a"], 0, Some(1)), asked(2, "1", &[], 5, Some(6))];
    check(&one, &again, &["asks a committed step again"]);
    let other_call = [asked(1, "1", &["a"], 0, Some(1)), asked(2, "1", &["b"], 5, Some(6))];
    check(&one, &other_call, &["asks a committed step again"]);
}

#[test]
fn two_requests_of_a_run_at_once_are_found() {
    let one = [said("1")];
    check(&one, &[asked(1, "1", &[], 0, Some(9_000)), asked(2, "1", &[], 5, Some(6))], &["at once"]);
    check(&one, &[asked(1, "1", &[], 0, None), asked(2, "1", &[], 5, Some(6))], &["at once"]);
    check(&one, &[asked(1, "2", &[], 0, Some(1))], &["answers nothing that was said"]);
}

#[test]
fn a_thread_is_asked_in_its_order() {
    let (one, two) = (said("1"), said("2"));
    let requests = [asked(1, "2", &[], 0, Some(1)), asked(2, "1", &[], 2, Some(3))];
    let mut found = Vec::new();
    in_order(&["1", "2"], &[&one, &two], &requests, &mut |what| found.push(what));
    assert_eq!(found, ["1 was asked after 2, which comes later"]);
    let mut found = Vec::new();
    in_order(&["2", "1"], &[&one, &two], &requests, &mut |what| found.push(what));
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn the_answers_of_one_turn() {
    let row = |id: &str, role: &str, text: &str| json!({"id": id, "role": role, "parts": [{"type": "text", "content": text}]});
    let rows = [row("1", "user", "q"), row("a", "assistant", "x"), row("b", "assistant", "y"), row("2", "user", "q")];
    assert_eq!(answers(&rows, "1"), ["x", "y"]);
    assert_eq!(answers(&rows, "2"), Vec::<String>::new());
}
