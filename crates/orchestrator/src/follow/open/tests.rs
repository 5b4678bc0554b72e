use super::*;
use crate::log::json;

const KEY: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn key() -> RunKey {
    RunKey::parse(KEY).unwrap()
}

fn message(id: &str) -> MessageId {
    MessageId::parse(id).unwrap()
}

fn text_start(id: &MessageId) -> Event {
    Event::TextMessageStart { message_id: id.clone(), role: "assistant".into() }
}

fn call_start(id: &str) -> Event {
    Event::ToolCallStart { tool_call_id: ToolCallId::parse(id).unwrap(), tool_call_name: "clock".into(), parent_message_id: None }
}

/// After each event its note, which says the same to whoever reads it.
fn check(steps: &[(Event, &str)]) {
    let mut open = Open::default();
    for (event, note) in steps {
        open.take(&json(event), &key(), 2);
        assert_eq!(&*open.note(), *note, "after {event:?}");
        let read = Open::noted(&open.note(), &key(), 2);
        assert_eq!(read.verifier().closing(), open.verifier().closing(), "after {event:?}");
        assert_eq!(read.texts().collect::<Vec<_>>(), open.texts().collect::<Vec<_>>());
    }
}

#[test]
fn a_note_says_what_is_open() {
    let (first, thought, later) = (reply(&key(), 2, 3), message("msg_T0"), message("msg_L0"));
    let delta = || "\"type\":\"TEXT_MESSAGE_END\"".to_owned();
    check(&[
        (Event::custom("frontdesk.model", serde_json::json!({})), ""),
        (Event::ReasoningStart { message_id: thought.clone() }, "hT0"),
        (Event::ReasoningMessageStart { message_id: thought.clone(), role: "reasoning".into() }, "rT0"),
        (Event::ReasoningMessageContent { message_id: thought.clone(), delta: delta() }, "rT0"),
        (Event::ReasoningMessageEnd { message_id: thought.clone() }, "hT0"),
        (Event::ReasoningEnd { message_id: thought }, ""),
        (text_start(&first), "t3"),
        (Event::TextMessageContent { message_id: first.clone(), delta: delta() }, "t3"),
        (Event::TextMessageEnd { message_id: first }, "s3"),
        (call_start("call_A"), "s3~cA"),
        (call_start("call_B"), "s3~cA~cB"),
        (Event::ToolCallEnd { tool_call_id: ToolCallId::parse("call_A").unwrap() }, "s3~cB"),
        (Event::ToolCallEnd { tool_call_id: ToolCallId::parse("call_B").unwrap() }, "s3"),
        (text_start(&later), "s3~mL0"),
        (Event::TextMessageEnd { message_id: later }, "s3~nL0"),
        (text_start(&reply(&key(), 2, 4)), "t4"),
    ]);
}

#[test]
fn what_cannot_be_said_is_known_to_its_own_reader_only() {
    let mut open = Open::default();
    open.take(&json(&text_start(&message("foreign"))), &key(), 1);
    assert_eq!(&*open.note(), "");
    assert_eq!(open.verifier().closing(), [Event::TextMessageEnd { message_id: message("foreign") }]);
    let mut open = Open::default();
    for n in 0..100 {
        open.take(&json(&call_start(&format!("call_{n:026}"))), &key(), 1);
        assert!(open.note().len() <= Bookmark::MAX_OPEN);
    }
    assert_eq!(open.verifier().closing().len(), 100);
}

#[test]
fn a_made_up_note_does_no_harm() {
    let noted = |note: &str| Open::noted(&note.into(), &key(), 1).verifier().closing();
    assert_eq!(noted("~~x1~t~tx~c~Zß"), [Event::ToolCallEnd { tool_call_id: ToolCallId::parse("call_").unwrap() }]);
    assert_eq!(noted("t1~t1~s2"), [Event::TextMessageEnd { message_id: reply(&key(), 1, 1) }]);
}
