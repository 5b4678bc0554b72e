use axum::http::HeaderValue;
use domain::{Code, MessageId, ThreadId, TokenUsage, Verifier};
use serde_json::Value;

use super::*;
use crate::sse::write_event;

const DIALECTS: [Dialect; 2] = [Dialect::One, Dialect::Legacy];

fn run(id: &str) -> RunId {
    RunId::parse(id).unwrap()
}

fn finished(outcome: Option<Outcome>, metadata: Option<Value>) -> Event {
    let usage = TokenUsage { model: Some("m".to_owned()), cached_input_tokens: Some(1), ..TokenUsage::default() };
    Event::RunFinished { thread_id: ThreadId::parse("t").unwrap(), run_id: run("r"), outcome, usage: vec![usage], metadata }
}

fn terminal(dialect: Dialect, event: &Event) -> Value {
    serde_json::from_slice(&dialect.terminal(serde_json::to_vec(event).unwrap().into())).unwrap()
}

/// What each row of the tolerance matrix (`ag-ui.md` 2.4) that depends on what an end says comes to for each generation.
#[test]
fn only_what_older_clients_refuse_is_changed() {
    let call = domain::ToolCallId::parse("c").unwrap();
    let interrupts = vec![json!({"id": "i", "reason": "x", "metadata": {"kind": "k"}})];
    let tanstack = json!({"tanstack": {"finishReason": "stop"}});
    let cancelled = json!({"frontdesk": {"status": "cancelled", "reason": "asked"}});
    let bare =
        || json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "usage": [{"model": "m", "cachedInputTokens": 1}]});
    let with = |key: &str, value: Value| {
        let mut event = bare();
        event[key] = value;
        event
    };
    let rows = [
        // usage is a list, also of one; no null anywhere.
        (finished(None, None), bare(), bare()),
        // extra keys are under metadata, never in an outcome.
        (finished(None, Some(tanstack.clone())), with("metadata", tanstack.clone()), with("metadata", tanstack)),
        // outcome.pendingToolCallIds
        (
            finished(Some(Outcome::Success { pending_tool_call_ids: vec![call] }), None),
            with("outcome", json!({"type": "success", "pendingToolCallIds": ["c"]})),
            bare(),
        ),
        // outcome cancelled
        (
            finished(Some(Outcome::Cancelled), Some(cancelled.clone())),
            {
                let mut event = with("outcome", json!({"type": "cancelled"}));
                event["metadata"] = cancelled.clone();
                event
            },
            with("metadata", cancelled),
        ),
        (
            finished(Some(Outcome::Cancelled), None),
            with("outcome", json!({"type": "cancelled"})),
            with("metadata", json!({"frontdesk": {"status": "cancelled"}})),
        ),
        // extra keys inside an interrupt are read by all.
        (
            finished(Some(Outcome::Interrupt { interrupts: interrupts.clone() }), None),
            with("outcome", json!({"type": "interrupt", "interrupts": interrupts})),
            with("outcome", json!({"type": "interrupt", "interrupts": interrupts})),
        ),
        // RUN_ERROR is read by all.
        (
            Event::error(Code::Internal, "m"),
            json!({"type": "RUN_ERROR", "message": "m", "code": "internal"}),
            json!({"type": "RUN_ERROR", "message": "m", "code": "internal"}),
        ),
    ];
    for (event, one, legacy) in rows {
        assert_eq!([terminal(Dialect::One, &event), terminal(Dialect::Legacy, &event)], [one, legacy]);
    }
    for dialect in DIALECTS {
        assert_eq!(dialect.terminal(Bytes::from_static(b"not json")), "not json");
    }
}

/// What no client is ever sent, because some client would fail: it cannot be written, or the verifier refuses it.
#[test]
fn what_some_client_refuses_is_never_sent() {
    let message = MessageId::parse("m").unwrap();
    let start = Event::RunStarted {
        thread_id: ThreadId::parse("t").unwrap(),
        run_id: run("r"),
        parent_run_id: None,
        protocol_version: None,
    };
    // `parentRunId: null`, `metadata: null`: what is absent is left out.
    assert_eq!(json!(start), json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r"}));
    // CRLF, `[DONE]`, a second `data:` line: one line, whatever is in it.
    let text = Event::TextMessageContent { message_id: message.clone(), delta: "a\r\n\u{2028}[DONE]\n\n".to_owned() };
    let mut out = bytes::BytesMut::new();
    write_event(&mut out, Some("r:1.1"), &serde_json::to_vec(&text).unwrap());
    let out = String::from_utf8(out.to_vec()).unwrap();
    assert_eq!((out.matches('\n').count(), out.contains('\r'), out.starts_with("id: r:1.1\ndata: {")), (3, false, true));
    // CUSTOM before RUN_STARTED, an end with an open text or open reasoning, RUN_ERROR after RUN_FINISHED, a second end, a
    // second RUN_STARTED.
    let refused = |events: &[Event]| {
        let mut verifier = Verifier::new();
        let (last, before) = events.split_last().unwrap();
        assert!(before.iter().all(|event| verifier.accept(event).is_ok()));
        verifier.accept(last).is_err()
    };
    let open = Event::TextMessageStart { message_id: message.clone(), role: "assistant".to_owned() };
    let thought = Event::ReasoningStart { message_id: message };
    assert!(refused(&[Event::custom("x", json!(1))]));
    assert!(refused(&[start.clone(), open, finished(None, None)]));
    assert!(refused(&[start.clone(), thought, finished(None, None)]));
    assert!(refused(&[start.clone(), finished(None, None), Event::error(Code::Internal, "m")]));
    assert!(refused(&[start.clone(), finished(None, None), finished(None, None)]));
    assert!(refused(&[start.clone(), start]));
    // A file source is new in 1.0.
    let part = Part::Image { source: Source::File { value: "f".to_owned(), mime: None } };
    assert_eq!(DIALECTS.map(|dialect| dialect.reads(&part)), [true, false]);
}

#[test]
fn an_interrupt_for_its_tool_is_only_for_a_client_that_shows_that_it_reads_it() {
    let none = HeaderMap::new();
    let mut tanstack = HeaderMap::new();
    tanstack.insert(RUN_ID, HeaderValue::from_static("run-1"));
    for (headers, configured, style) in [
        (&none, ClientToolStyle::Universal, ClientToolStyle::Universal),
        (&tanstack, ClientToolStyle::Universal, ClientToolStyle::Universal),
        (&none, ClientToolStyle::Interrupt, ClientToolStyle::Universal),
        (&tanstack, ClientToolStyle::Interrupt, ClientToolStyle::Interrupt),
    ] {
        assert_eq!(client_tool_style(headers, configured), style);
    }
    assert_eq!((run_of(&none), run_of(&tanstack)), (None, Some(run("run-1"))));
}

#[test]
fn a_run_is_shown_under_another_name() {
    let named = |event: Value| -> Value { serde_json::from_slice(&renamed(event.to_string().into(), &run("mine"))).unwrap() };
    let interrupt = |of: &str| json!({"id": "i", "metadata": {"tanstack:interruptBinding": {"interruptedRunId": of}}});
    for (event, expected) in [
        (
            json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r", "parentRunId": "p"}),
            json!({"type": "RUN_STARTED", "threadId": "t", "runId": "mine", "parentRunId": "p"}),
        ),
        (
            json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "interrupt", "interrupts": [interrupt("r")]}}),
            json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "mine", "outcome": {"type": "interrupt", "interrupts": [interrupt("mine")]}}),
        ),
        (json!({"type": "RUN_ERROR", "message": "m"}), json!({"type": "RUN_ERROR", "message": "m"})),
    ] {
        assert_eq!(named(event), expected);
    }
}
