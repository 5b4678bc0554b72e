use domain::{Code, Event};
use serde_json::json;

use super::*;
use crate::log;

#[test]
fn a_frame_holds_an_event_a_line() {
    let frame = Frame { attempt: 1, first: 7, last: 8, committed: false, body: b"{\"a\":1}\n{\"b\":2}\n".to_vec() };
    let lines: Vec<_> = lines(&frame).collect();
    assert_eq!(lines, [(7, Bytes::from_static(b"{\"a\":1}")), (8, Bytes::from_static(b"{\"b\":2}"))]);
}

#[test]
fn an_end_is_known_by_its_type() {
    assert!(is_terminal(&log::json(&Event::error(Code::Deadline, "late"))));
    assert!(!is_terminal(&log::json(&Event::custom("RUN_ERROR", json!({ "type": "RUN_ERROR" })))));
}
