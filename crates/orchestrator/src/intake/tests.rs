use domain::{ChannelName, ClientTool, OrgId, UserId};
use serde_json::json;

use super::*;

fn submission(parts: Vec<Part>) -> Submission {
    Submission {
        thread: ThreadId::parse("t").unwrap(),
        run: RunId::parse("r").unwrap(),
        message: Some(NewMessage { id: MessageId::parse("m").unwrap(), parts }),
        replaces: None,
        last_user: None,
        answers: Vec::new(),
        parent_run: None,
        input: RunInput::default(),
        need_worker: false,
    }
}

fn text(text: impl Into<String>) -> Part {
    Part::Text { text: text.into() }
}

fn tool(parameters: serde_json::Value) -> ClientTool {
    ClientTool { name: "t".into(), description: String::new(), parameters, effect: None }
}

fn code(submission: &Submission, limits: &Limits) -> Option<Code> {
    check(submission, limits).err().map(|error| error.code)
}

#[test]
fn a_message_is_bounded_in_bytes_of_text_and_never_empty() {
    let limits = Limits { input_bytes: 4, ..Limits::default() };
    let image = Part::Image { source: domain::Source::Data { value: "AAAAAAAA".into(), mime: "image/png".into() } };
    for (parts, expected) in [
        (vec![text("äö")], None),
        (vec![text("äö"), text("a")], Some(Code::InputTooLarge)),
        (vec![], Some(Code::InvalidInput)),
        (vec![text(" \n")], Some(Code::InvalidInput)),
        (vec![text(""), image], None),
    ] {
        assert_eq!(code(&submission(parts.clone()), &limits), expected, "{parts:?}");
    }
}

#[test]
fn client_tools_are_bounded_in_number_and_in_bytes_of_their_schemas() {
    let limits = Limits { tools: 2, tool_schema_bytes: 30, ..Limits::default() };
    let mut submission = submission(vec![text("hi")]);
    submission.input.client_tools = vec![tool(json!({"type": "object"})); 2];
    assert_eq!(json_bytes(&json!({"type": "object"})), 17);
    assert_eq!(code(&submission, &limits), Some(Code::InputTooLarge));
    submission.input.client_tools = vec![tool(json!({})); 3];
    assert_eq!(code(&submission, &limits), Some(Code::InvalidInput));
    submission.input.client_tools = vec![tool(json!({})); 2];
    assert_eq!(code(&submission, &limits), None);
}

#[test]
fn grounding_is_cut_over_all_sources() {
    let principal = Principal {
        locale: Some("de".into()),
        ..Principal::new(OrgId::parse("o").unwrap(), UserId::parse("u").unwrap(), ChannelName::parse("c").unwrap())
    };
    let grounding = vec!["ä".repeat(3_999), "öü".into(), "never".into()];
    let input = known(RunInput { grounding, ..RunInput::default() }, &principal);
    assert_eq!(input.grounding, ["ä".repeat(3_999), "ö".into()]);
    assert_eq!(input.locale.as_deref(), Some("de"));
}

#[test]
fn waiting_times_are_said_in_whole_seconds() {
    assert_eq!(
        refused(Refusal::RateLimited { retry_after: Duration::from_millis(1_200) }).detail,
        "too many messages in a short time; send again in 2 s"
    );
    assert_eq!(refused(Refusal::NoWorker).retry_after, Some(SOON));
}

#[test]
fn a_message_is_no_tools_result() {
    let mut submission = submission(vec![text("hi")]);
    submission.message.as_mut().unwrap().id = MessageId::parse("tool_call_01JABCDEFGHJKMNPQRSTVWXYZ0").unwrap();
    assert_eq!(code(&submission, &Limits::default()), Some(Code::InvalidInput));
    submission.message.as_mut().unwrap().id = MessageId::parse("tool-call_1").unwrap();
    assert_eq!(code(&submission, &Limits::default()), None);
}
