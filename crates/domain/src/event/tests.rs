use proptest::prelude::*;

use super::*;

fn message(id: &str) -> MessageId {
    MessageId::parse(id).expect("a valid id")
}

fn start(id: &str) -> Event {
    Event::TextMessageStart { message_id: message(id), role: "assistant".into() }
}

fn finished() -> Event {
    Event::RunFinished {
        thread_id: ThreadId::parse("t").expect("valid"),
        run_id: RunId::parse("r").expect("valid"),
        outcome: None,
        usage: Vec::new(),
        metadata: None,
    }
}

#[test]
fn optional_fields_are_left_out() {
    assert_eq!(serde_json::to_string(&finished()).expect("json"), r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#);
    assert_eq!(
        serde_json::to_string(&Event::error(Code::Deadline, "too long")).expect("json"),
        r#"{"type":"RUN_ERROR","message":"too long","code":"deadline"}"#
    );
}

#[test]
fn the_order_is_held() {
    let mut verifier = Verifier::new();
    assert_eq!(verifier.accept(&start("a")), Err(EventError::BeforeStart("TEXT_MESSAGE_START")));
    let mut verifier = Verifier::started();
    assert_eq!(
        verifier.accept(&Event::TextMessageContent { message_id: message("a"), delta: "x".into() }),
        Err(EventError::NotOpen { kind: "TEXT_MESSAGE_CONTENT", id: "a".into() })
    );
    verifier.accept(&start("a")).expect("opens");
    assert!(matches!(verifier.accept(&start("a")), Err(EventError::AlreadyOpen { .. })));
    assert_eq!(verifier.accept(&finished()), Err(EventError::FinishedOpen("a".into())));
    verifier.accept(&Event::TextMessageEnd { message_id: message("a") }).expect("closes");
    verifier.accept(&finished()).expect("ends");
    assert_eq!(verifier.accept(&Event::error(Code::Internal, "late")), Err(EventError::AfterEnd("RUN_ERROR")));
}

#[test]
fn an_error_may_come_with_open_spans_and_only_once() {
    let mut verifier = Verifier::started();
    verifier.accept(&start("a")).expect("opens");
    verifier.accept(&Event::error(Code::Internal, "x")).expect("an error ends");
    assert!(verifier.accept(&finished()).is_err());
}

proptest! {
    /// Whatever order the events are offered in, what was accepted can be closed and finished.
    #[test]
    fn what_is_open_can_always_be_closed(picks in proptest::collection::vec((0u8..6, 0u8..3), 0..60)) {
        let mut verifier = Verifier::started();
        for (what, which) in picks {
            let id = message(&format!("m{which}"));
            let call = ToolCallId::parse(format!("c{which}")).expect("valid");
            let event = match what {
                0 => start(id.as_str()),
                1 => Event::TextMessageEnd { message_id: id },
                2 => Event::ToolCallStart { tool_call_id: call, tool_call_name: "t".into(), parent_message_id: None },
                3 => Event::ToolCallEnd { tool_call_id: call },
                4 => Event::ReasoningStart { message_id: id },
                _ => Event::ReasoningMessageStart { message_id: id, role: "reasoning".into() },
            };
            let _ = verifier.accept(&event);
        }
        for event in verifier.closing() {
            verifier.accept(&event).expect("a closing event is valid");
        }
        prop_assert!(verifier.accept(&finished()).is_ok());
    }
}
