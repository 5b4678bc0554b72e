#![allow(clippy::unwrap_used)]

use domain::{MessageId, Reasoning, ToolName};
use proptest::prelude::*;

use super::*;

fn message_id(n: usize) -> MessageId {
    MessageId::parse(format!("m{n}")).unwrap()
}

fn call_id(n: u8) -> ToolCallId {
    ToolCallId::parse(format!("c{n}")).unwrap()
}

/// `u:text`, `n:text`, `a:text[|call=arguments …]`, `t:call=content`.
fn rows(script: &[&str]) -> Vec<Message> {
    script
        .iter()
        .enumerate()
        .map(|(n, line)| {
            let id = message_id(n);
            let (kind, rest) = line.split_once(':').unwrap();
            match kind {
                "u" => Message::User { id, parts: vec![Part::Text { text: rest.to_owned() }] },
                "n" => Message::Note { id, text: rest.to_owned() },
                "t" => {
                    let (call, content) = rest.split_once('=').unwrap();
                    Message::Tool { id, call: ToolCallId::parse(call).unwrap(), content: content.to_owned(), error: false }
                }
                _ => {
                    let mut pieces = rest.split('|');
                    let text = pieces.next().unwrap().to_owned();
                    let tool_calls = pieces
                        .map(|piece| {
                            let (call, arguments) = piece.split_once('=').unwrap();
                            let name = ToolName::parse("look").unwrap();
                            ToolCall { id: ToolCallId::parse(call).unwrap(), name, arguments: arguments.to_owned() }
                        })
                        .collect();
                    Message::Assistant { id, text, reasoning: None, tool_calls, partial: false }
                }
            }
        })
        .collect()
}

fn shown(messages: &[ChatMessage]) -> Vec<String> {
    messages
        .iter()
        .map(|message| match message {
            ChatMessage::User { parts } => {
                let texts: Vec<_> = parts
                    .iter()
                    .map(|part| match part {
                        Part::Text { text } => text.as_str(),
                        _ => "?",
                    })
                    .collect();
                format!("u:{}", texts.join("+"))
            }
            ChatMessage::Assistant { text, tool_calls, .. } => {
                let calls: String = tool_calls.iter().map(|call| format!("|{}={}", call.id, call.arguments)).collect();
                format!("a:{text}{calls}")
            }
            ChatMessage::Tool { call, content, .. } => format!("t:{call}={content}"),
        })
        .collect()
}

fn check(script: &[&str], expected: &[&str]) {
    let mut transcript = Transcript::default();
    transcript.push(&rows(script));
    assert_eq!(shown(transcript.messages()), expected, "{script:?}");
    strict(transcript.messages());
}

/// What the strictest provider asks of a conversation.
fn strict(messages: &[ChatMessage]) {
    let mut seen = HashSet::new();
    let mut rest = messages;
    if let Some(first) = messages.first() {
        assert!(matches!(first, ChatMessage::User { .. }), "begins with a user");
    }
    let mut before_was_user = false;
    while let Some((message, after)) = rest.split_first() {
        rest = after;
        match message {
            ChatMessage::User { parts } => {
                assert!(!before_was_user, "two user messages in a row");
                assert!(!parts.is_empty());
                before_was_user = true;
            }
            ChatMessage::Assistant { text, tool_calls, .. } => {
                before_was_user = false;
                assert!(!text.trim().is_empty() || !tool_calls.is_empty());
                for call in tool_calls {
                    assert!(seen.insert(call.id.clone()), "an id twice");
                    assert!(serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok(), "{}", call.arguments);
                    let Some((ChatMessage::Tool { call: answered, .. }, after)) = rest.split_first() else {
                        panic!("no result for {}", call.id)
                    };
                    assert_eq!(*answered, call.id);
                    rest = after;
                }
                assert!(!matches!(rest.first(), Some(ChatMessage::Assistant { .. })) || !tool_calls.is_empty());
            }
            ChatMessage::Tool { call, .. } => panic!("an orphan: {call}"),
        }
    }
}

const NONE: &str = "There is no result: the call was cut off.";

#[test]
fn eight_broken_histories() {
    // 1: an orphan result.
    check(&["u:hi", "t:c1=x", "a:yes"], &["u:hi", "a:yes"]);
    // 2: a call without a result.
    check(&["u:hi", "a:|c1={}", "u:and?"], &["u:hi", "a:|c1={}", &format!("t:c1={NONE}"), "u:and?"]);
    // 3: two results of one call.
    check(&["u:hi", "a:|c1={}", "t:c1=first", "t:c1=second", "a:ok"], &["u:hi", "a:|c1={}", "t:c1=first", "a:ok"]);
    // 4: one id used by two calls.
    check(&["u:hi", "a:|c1={}", "t:c1=x", "a:again|c1={}", "t:c1=y", "a:ok"], &["u:hi", "a:|c1={}", "t:c1=x", "a:again\n\nok"]);
    // 5: results in another order, and far away.
    check(
        &["u:hi", "a:|c1={}|c2={}", "t:c2=2", "u:more", "t:c1=1", "a:ok"],
        &["u:hi", "a:|c1={}|c2={}", "t:c1=1", "t:c2=2", "u:more", "a:ok"],
    );
    // 6: a result before its call.
    check(&["u:hi", "t:c1=early", "a:|c1={}"], &["u:hi", "a:|c1={}", &format!("t:c1={NONE}")]);
    // 7: arguments that are no JSON object.
    check(
        &["u:hi", "a:|c1={\"a\":|c2=|c3=\"{\\\"a\\\":1}\"|c4=[1]", "t:c1=bad", "t:c2=ok", "t:c3=ok", "t:c4=bad"],
        &[
            "u:hi",
            "a:|c1={}|c2={}|c3={\"a\":1}|c4={}",
            "t:c1=bad\n[the arguments of this call were not a JSON object and are shown as {}; they were: {\"a\":]",
            "t:c2=ok",
            "t:c3=ok",
            "t:c4=bad\n[the arguments of this call were not a JSON object and are shown as {}; they were: [1]]",
        ],
    );
    // 8: it begins with an answer, has an empty one, two in a row, and two questions in a row.
    check(
        &["a:hello|c1={}", "t:c1=x", "u:one", "u:two", "a: ", "a:part", "a:whole", "n:stopped", "u:three"],
        &["u:one+two", "a:part\n\nwhole", "u:<note>\nstopped\n</note>+three"],
    );
}

#[test]
fn a_note_stays_where_it_was_written() {
    check(
        &["u:hi", "a:|c1={}", "t:c1=x", "n:limit", "a:so far", "u:go on"],
        &["u:hi", "a:|c1={}", "t:c1=x", "u:<note>\nlimit\n</note>", "a:so far", "u:go on"],
    );
}

#[test]
fn context_goes_with_the_last_user_message_only() {
    let mut transcript = Transcript::default();
    transcript.push(&rows(&["u:one", "a:first", "u:two", "a:|c1={}", "t:c1=x"]));
    transcript.add_context("now".to_owned());
    assert_eq!(shown(transcript.messages()), ["u:one", "a:first", "u:two+now", "a:|c1={}", "t:c1=x"]);
}

#[test]
fn reasoning_alone_is_no_answer() {
    let mut transcript = Transcript::default();
    let thought = Message::Assistant {
        id: message_id(9),
        text: String::new(),
        reasoning: Some(Reasoning { text: "hm".to_owned(), signature: None }),
        tool_calls: Vec::new(),
        partial: true,
    };
    transcript.push(rows(&["u:hi"]).iter().chain([&thought]));
    assert_eq!(shown(transcript.messages()), ["u:hi"]);
}

fn any_row() -> impl Strategy<Value = Message> {
    let id = || any::<u16>().prop_map(|n| message_id(usize::from(n)));
    let call = || (0_u8..4).prop_map(call_id);
    let arguments = prop::sample::select(vec!["{}", "", "{\"a\":1}", "{\"a\":", "null", "[1]", "\"{}\"", "\u{0}"]);
    let tool_call = (call(), arguments).prop_map(|(id, arguments)| ToolCall {
        id,
        name: ToolName::parse("look").unwrap(),
        arguments: arguments.to_owned(),
    });
    let text = prop::sample::select(vec!["", " ", "x"]);
    prop_oneof![
        (id(), text.clone()).prop_map(|(id, text)| Message::User { id, parts: vec![Part::Text { text: text.to_owned() }] }),
        (id(), text.clone()).prop_map(|(id, text)| Message::Note { id, text: text.to_owned() }),
        (id(), text.clone(), prop::collection::vec(tool_call, 0..4)).prop_map(|(id, text, tool_calls)| {
            Message::Assistant { id, text: text.to_owned(), reasoning: None, tool_calls, partial: false }
        }),
        (id(), call(), text).prop_map(|(id, call, text)| Message::Tool { id, call, content: text.to_owned(), error: false }),
    ]
}

proptest! {
    #[test]
    fn whatever_is_stored_a_strict_provider_takes_it(rows in prop::collection::vec(any_row(), 0..24)) {
        let mut transcript = Transcript::default();
        transcript.push(&rows);
        strict(transcript.messages());
    }

    /// Every piece pushed at a turn's border, as turns do, gives the same bytes as all at once.
    #[test]
    fn turns_share_their_prefix(first in prop::collection::vec(any_row(), 0..12), second in prop::collection::vec(any_row(), 0..12)) {
        let mut apart = Transcript::default();
        apart.push(&first);
        let before = apart.messages().len();
        apart.push(&second);
        let mut early = Transcript::default();
        early.push(&first);
        // The last message may still grow; all before it stay.
        let kept = before.saturating_sub(1);
        prop_assert_eq!(&early.messages()[..kept], &apart.messages()[..kept]);
        strict(apart.messages());
    }
}
