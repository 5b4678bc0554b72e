//! The recorded bodies of `ag-ui.md` 1.3 and 1.4, with call ids of ours.

use domain::{Answer, AnsweredBy};
use serde_json::{Value, json};

use crate::wire::input::{Posted, parse};

const C1: &str = "call_01J00000000000000000000001";
const C2: &str = "call_01J00000000000000000000002";

fn posted(messages: Value, more: Value) -> Posted {
    let mut body = json!({"threadId": "th1", "runId": "r2", "state": {}, "messages": messages, "tools": [], "context": [],
                          "forwardedProps": {}});
    if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
        body.extend(more);
    }
    parse(body.to_string().as_bytes()).unwrap()
}

fn user(id: &str) -> Value {
    json!({"id": id, "role": "user", "content": "hi"})
}

fn assistant(calls: &[&str]) -> Value {
    let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "get_location", "arguments": "{}"}});
    json!({"id": "msg-1", "role": "assistant", "content": "", "toolCalls": calls.iter().map(call).collect::<Vec<_>>()})
}

fn tool(call: &str, content: &str) -> Value {
    json!({"id": format!("tool-{call}"), "role": "tool", "toolCallId": call, "content": content,
           "metadata": {"tanstack": {"toolResult": {}}}})
}

/// `(call, content, error, id of the interrupt)` of each answer.
fn given(posted: &Posted) -> Vec<(&str, &str, bool, &str)> {
    let one = |answer: &'_ Answer| match &answer.by {
        AnsweredBy::Row => "",
        AnsweredBy::Resume(id) => Box::leak(id.clone().into_boxed_str()),
    };
    posted.answers.iter().map(|answer| (answer.call.as_str(), answer.content.as_str(), answer.error, one(answer))).collect()
}

/// What a continuation is read as: no message, the last user row, these answers.
#[track_caller]
fn goes_on(posted: &Posted, last_user: Option<&str>, answers: &[(&str, &str, bool, &str)]) {
    assert_eq!(posted.message, None);
    assert_eq!(posted.last_user.as_ref().map(domain::MessageId::as_str), last_user);
    assert_eq!(given(posted), answers);
}

#[test]
fn a_frontend_tools_result_of_an_http_agent() {
    let messages =
        json!([user("u1"), assistant(&[C1]), {"id": "tr1", "role": "tool", "content": "{\"lat\":1}", "toolCallId": C1}]);
    goes_on(&posted(messages, json!({"protocolVersion": "1.0"})), Some("u1"), &[(C1, "{\"lat\":1}", false, "")]);
}

#[test]
fn b_an_interrupted_client_tool() {
    let id = format!("client_tool_{C1}");
    let messages = json!([user("u1"), assistant(&[C1]), tool(C1, "{\"lat\":1,\"lng\":2}")]);
    let resume = json!([{"interruptId": id, "payload": {"lat": 1, "lng": 2}, "status": "resolved"}]);
    let read = posted(messages, json!({"parentRunId": "r1", "resume": resume}));
    assert_eq!(read.parent_run.as_ref().map(domain::RunId::as_str), Some("r1"));
    let content = "{\"lat\":1,\"lng\":2}";
    goes_on(&read, Some("u1"), &[(C1, content, false, &id), (C1, content, false, "")]);
}

#[test]
fn b_a_tool_that_threw() {
    let id = format!("client_tool_{C1}");
    let mut row = tool(C1, "null");
    row["error"] = json!("denied by browser");
    let resume = json!([{"interruptId": id, "payload": {"error": "denied by browser"}, "status": "resolved"}]);
    let content = "{\"error\":\"denied by browser\"}";
    let read = posted(json!([user("u1"), assistant(&[C1]), row]), json!({"resume": resume}));
    goes_on(&read, Some("u1"), &[(C1, content, true, &id), (C1, content, true, "")]);
    // What only looks like it is a result.
    let resume = json!([{"interruptId": id, "payload": {"error": "none", "at": 1}, "status": "resolved"}]);
    let read = posted(json!([]), json!({"resume": resume}));
    goes_on(&read, None, &[(C1, "{\"at\":1,\"error\":\"none\"}", false, &id)]);
}

#[test]
fn b_results_by_rows_alone() {
    let messages = json!([user("u1"), assistant(&[C1, C2]), tool(C1, "1"), tool(C2, "2"), {"role": "activity", "id": "a"}]);
    goes_on(&posted(messages, json!({})), Some("u1"), &[(C1, "1", false, ""), (C2, "2", false, "")]);
}

#[test]
fn c_to_e_answers_to_approvals_are_for_nothing_there_is_yet() {
    let id = format!("approval_{C1}");
    let synthetic = "{\"approved\":true,\"pendingExecution\":true,\"message\":\"User approved this action\"}";
    let resume = json!([{"interruptId": id, "payload": {"approved": true}, "status": "resolved"}]);
    let read = posted(json!([user("u1"), assistant(&[C1]), tool(C1, synthetic)]), json!({"resume": resume}));
    let unknown = format!("?{id}");
    goes_on(&read, Some("u1"), &[(&unknown, "{\"approved\":true}", false, &id), (C1, synthetic, false, "")]);

    let resume = json!([{"interruptId": id, "status": "cancelled"}]);
    let read = posted(json!([user("u1"), assistant(&[C1])]), json!({"resume": resume}));
    goes_on(&read, Some("u1"), &[(&unknown, "{\"error\":\"Tool execution cancelled\"}", true, &id)]);
}

#[test]
fn f_a_batch_of_both() {
    let (first, second) = (format!("client_tool_{C1}"), format!("client_tool_{C2}"));
    let resume = json!([{"interruptId": first, "status": "resolved"}, {"interruptId": second, "status": "cancelled"}]);
    let read = posted(json!([user("u1"), assistant(&[C1, C2])]), json!({"resume": resume}));
    let cancelled = "{\"error\":\"Tool execution cancelled\"}";
    goes_on(&read, Some("u1"), &[(C1, "null", false, &first), (C2, cancelled, true, &second)]);
}

#[test]
fn g_a_message_after_a_stop_brings_the_results_before_it() {
    let read =
        posted(json!([user("u1"), assistant(&[C1]), tool(C1, "1"), assistant(&[C2]), tool(C2, "2"), user("u2")]), json!({}));
    assert_eq!(read.message.as_ref().map(|message| message.id.as_str()), Some("u2"));
    assert_eq!((read.last_user.as_ref(), given(&read)), (None, vec![(C1, "1", false, ""), (C2, "2", false, "")]));
}

#[test]
fn h_a_retry_and_a_history_that_was_answered() {
    let read = posted(json!([user("u1")]), json!({}));
    assert_eq!((read.message.as_ref().map(|message| message.id.as_str()), given(&read)), (Some("u1"), vec![]));
    // Only what nobody has spoken after is news.
    let messages = json!([user("u1"), assistant(&[C1]), tool(C1, "1"), assistant(&[C2]), tool(C2, "2")]);
    goes_on(&posted(messages, json!({})), Some("u1"), &[(C2, "2", false, "")]);
}

#[test]
fn j_and_l_answers_without_a_history() {
    let id = format!("client_tool_{C1}");
    let resume = json!([{"interruptId": id, "status": "resolved", "payload": null}]);
    goes_on(&posted(json!([]), json!({"resume": resume})), None, &[(C1, "null", false, &id)]);
    goes_on(&posted(json!([tool(C1, "1")]), json!({})), None, &[(C1, "1", false, "")]);
}

#[test]
fn a_result_is_a_text_or_parts_or_json() {
    for (content, read) in [
        (json!("plain"), "plain"),
        (json!([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]), "ab"),
        (json!({"a": 1}), "{\"a\":1}"),
        (json!(null), ""),
    ] {
        let row = json!({"role": "tool", "id": "t", "toolCallId": C1, "content": content, "error": ""});
        goes_on(&posted(json!([row]), json!({})), None, &[(C1, read, false, "")]);
    }
}

#[test]
fn foreign_calls_and_more_results_than_are_looked_at() {
    let foreign = ["call-2", "call_short", "", "call_01J0000000000000000000000é"].map(|call| tool(call, "1"));
    let mut rows = foreign.to_vec();
    rows.extend((0..300).map(|n| tool(&format!("call_{n:026}"), "1")));
    rows.push(json!({"role": "tool", "toolCallId": 7}));
    rows.push(json!({"role": "tool"}));
    let read = posted(json!(rows), json!({}));
    assert_eq!(read.answers.len(), 254, "the last 256 rows, two of which are no answers");
    assert_eq!(read.answers.last().unwrap().call.as_str(), format!("call_{:026}", 299));
}
