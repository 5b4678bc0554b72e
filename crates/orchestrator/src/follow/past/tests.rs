use domain::RunKey;

use super::*;

fn past(sent: i64, committed: i64, events: &[Event]) -> Vec<Event> {
    let mut past = Past::new(sent);
    for (seq, event) in (1..).zip(events) {
        past.event(seq, &serde_json::to_vec(event).unwrap());
    }
    past.committed(committed);
    past.bridge()
}

fn message(id: &str) -> MessageId {
    MessageId::parse(id).unwrap()
}

fn start(id: &str) -> Event {
    Event::TextMessageStart { message_id: message(id), role: "assistant".into() }
}

fn end(id: &str) -> Event {
    Event::TextMessageEnd { message_id: message(id) }
}

#[test]
fn open_texts_end_and_uncommitted_messages_are_named() {
    let events = [start("kept"), end("kept"), start("lost"), end("lost"), start("open")];
    assert_eq!(past(5, 2, &events), [end("open"), Event::custom(SUPERSEDED, json!({ "messageIds": ["lost", "open"] }))],);
}

#[test]
fn what_was_not_sent_is_not_named() {
    let events = [start("kept"), end("kept"), start("lost"), end("lost")];
    assert_eq!(past(2, 0, &events), [Event::custom(SUPERSEDED, json!({ "messageIds": ["kept"] }))]);
    assert_eq!(past(2, 2, &events), []);
    assert_eq!(past(0, 0, &events), []);
}

fn noted(events: &[Event]) -> Open {
    let mut open = Open::default();
    for event in events {
        open.take(&serde_json::to_vec(event).unwrap(), &RunKey::parse("run").unwrap(), 1);
    }
    open
}

#[test]
fn what_was_sent_and_never_stored_is_named() {
    let mut past = Past::new(9);
    past.event(1, &serde_json::to_vec(&start("kept")).unwrap());
    past.event(2, &serde_json::to_vec(&end("kept")).unwrap());
    past.committed(2);
    assert!(!past.is_whole());
    past.unseen(&noted(&[start("kept"), end("kept"), start("lost"), end("lost")]));
    assert_eq!(past.bridge(), [Event::custom(SUPERSEDED, json!({ "messageIds": ["lost"] }))]);
    let mut past = Past::new(2);
    past.event(2, &serde_json::to_vec(&start("kept")).unwrap());
    assert!(past.is_whole());
}

/// A text that is stored without its end, which was sent; and the other way round.
#[test]
fn what_is_open_is_as_noted_where_not_all_is_stored() {
    let mut past = Past::new(2);
    past.event(1, &serde_json::to_vec(&start("ended")).unwrap());
    past.unseen(&noted(&[start("ended"), end("ended")]));
    assert_eq!(past.bridge(), [Event::custom(SUPERSEDED, json!({ "messageIds": ["ended"] }))]);
    let mut past = Past::new(1);
    past.unseen(&noted(&[start("open")]));
    assert_eq!(past.bridge(), [end("open"), Event::custom(SUPERSEDED, json!({ "messageIds": ["open"] }))]);
}

#[test]
fn a_call_names_its_message_once() {
    let call = |id: &str| Event::ToolCallStart {
        tool_call_id: domain::ToolCallId::parse(id).unwrap(),
        tool_call_name: "clock".into(),
        parent_message_id: Some(message("m")),
    };
    let ended = |id: &str| Event::ToolCallEnd { tool_call_id: domain::ToolCallId::parse(id).unwrap() };
    assert_eq!(
        past(3, 0, &[call("a"), ended("a"), call("b")]),
        [ended("b"), Event::custom(SUPERSEDED, json!({ "messageIds": ["m"] }))],
    );
}
