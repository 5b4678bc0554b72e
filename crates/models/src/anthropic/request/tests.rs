use domain::Reasoning;
use serde_json::json;

use super::*;
use crate::{
    Api,
    example::{CALL, CALL_TOO, asked, assistant, body as body_of, body_text, call, endpoint, history, result, user},
};

fn claude(name: &str) -> Endpoint {
    endpoint(Api::Anthropic, "anthropic", name, None)
}

#[test]
fn the_body_is_these_bytes() {
    let expected = concat!(
        r#"{"model":"claude-3-5-haiku-latest","stream":true,"#,
        r#""tools":[{"name":"clock","description":"The time.","input_schema":{"properties":{},"type":"object"},"cache_control":{"type":"ephemeral"}}],"#,
        r#""system":[{"type":"text","text":"Be kind.","cache_control":{"type":"ephemeral"}}],"#,
        r#""messages":[{"role":"user","content":[{"type":"text","text":"what time is it? 猫"}]},"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"call_01JDXK3V8ZQ4R5S6T7V8W9X0Y1","name":"clock","input":{"zone": "UTC"}}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_01JDXK3V8ZQ4R5S6T7V8W9X0Y1","content":"12:00","cache_control":{"type":"ephemeral"}}]}],"#,
        r#""max_tokens":2048}"#,
    );
    assert_eq!(body_text(&claude("claude-3-5-haiku-latest"), &asked(history())), expected);
}

/// Without the marks, which are no content.
fn unmarked(text: &str) -> String {
    text.replace(r#","cache_control":{"type":"ephemeral"}"#, "")
}

#[test]
fn two_turns_share_their_bytes_up_to_the_new_message() {
    let model = claude("claude-sonnet-4-5");
    let turn = |question: &str, context: &str| {
        let mut messages = history();
        messages.push(assistant("It is noon.", None, Vec::new()));
        messages.push(user(&[question]));
        let ChatMessage::User { parts } = messages.last_mut().unwrap() else { panic!() };
        parts.push(Part::Text { text: context.into() });
        asked(messages)
    };
    let first = turn("and now?", "monday");
    let mut second = turn("and now?", "");
    second.messages.push(assistant("Still.", None, Vec::new()));
    second.messages.push(user(&["thanks", "tuesday"]));
    (second.tool_choice, second.effort, second.max_output_tokens) = (ToolChoice::None, Effort::High, 9);
    let (first, second) = (body_text(&model, &first), body_text(&model, &second));
    // The marks, at most four, say up to where: the second turn finds what the first one marked.
    for text in [&first, &second] {
        assert_eq!(text.matches("cache_control").count(), 4, "{text}");
    }
    let kept = first.find(r#"and now?","cache_control""#).expect("the person's own words are marked");
    assert!(first[kept..].contains("monday"));
    let (first, second) = (unmarked(&first), unmarked(&second));
    let shared = first.find("and now?").unwrap() + "and now?\"}".len();
    assert_eq!(first[..shared], second[..shared]);
    assert!(first.find(r#""messages""#).unwrap() < shared && second.find(r#""tool_choice":{"type":"none"}"#).unwrap() > shared);
}

#[test]
fn an_effort_is_a_budget_or_a_word() {
    let thinks = |name: &str, effort: Effort| {
        let mut request = asked(vec![user(&["hi"])]);
        request.effort = effort;
        let body = body_of(&claude(name), &request);
        (body["thinking"].clone(), body["output_config"].clone(), body["max_tokens"].clone())
    };
    assert_eq!(thinks("claude-3-5-haiku-latest", Effort::High), (Value::Null, Value::Null, json!(2_048)));
    assert_eq!(thinks("claude-sonnet-4-5", Effort::Minimal), (Value::Null, Value::Null, json!(2_048)));
    let budget = |tokens: u32| (json!({"type": "enabled", "budget_tokens": tokens}), Value::Null, json!(2_048 + tokens));
    assert_eq!(thinks("claude-sonnet-4-5", Effort::Low), budget(2_048));
    assert_eq!(thinks("claude-3-7-sonnet-latest", Effort::High), budget(16_384));
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    assert_eq!(thinks("claude-opus-4-7", Effort::Medium), (adaptive, json!({"effort": "medium"}), json!(2_048 + 8_192)));
}

#[test]
fn results_of_a_round_stand_in_one_row() {
    let calls = vec![call(CALL, "{}"), call(CALL_TOO, "half")];
    let messages =
        vec![user(&["hi"]), assistant(" ", None, calls), result(CALL, ""), result(CALL_TOO, "b"), user(&["  ", "go on"])];
    let body = body_of(&claude("claude-3-5-haiku-latest"), &asked(messages));
    let kinds = |row: usize| -> Vec<String> {
        let blocks = body["messages"][row]["content"].as_array().unwrap();
        blocks.iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(body["messages"].as_array().map(Vec::len), Some(3));
    assert_eq!(kinds(1), ["tool_use", "tool_use"]);
    assert_eq!(kinds(2), ["tool_result", "tool_result", "text"]);
    assert_eq!(body["messages"][1]["content"][1]["input"], json!({}));
}

#[test]
fn reasoning_without_a_seal_stays_at_home() {
    let thought = Reasoning { text: "hm".into(), signature: Some("not one of ours".into()) };
    let messages = vec![user(&["hi"]), assistant("a", Some(thought), Vec::new()), user(&["and?"])];
    let body = body_of(&claude("claude-sonnet-4-5"), &asked(messages));
    let only = json!([{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]);
    assert_eq!(body["messages"][1]["content"], only);
    assert_eq!(body["thinking"]["type"], "enabled", "earlier turns do not count");
}

#[test]
fn parts_become_blocks() {
    let data = |mime: &str| Source::Data { value: "QUJD".into(), mime: mime.into() };
    let url = || Source::Url { value: "https://x/a".into(), mime: None };
    let check = |part: Part, expected: Value| assert_eq!(serde_json::to_value(block(&part)).unwrap(), expected);
    let base64 = |mime: &str| json!({"type": "base64", "media_type": mime, "data": "QUJD"});
    let said = |text: &str| json!({"type": "text", "text": text});
    check(Part::Image { source: data("image/png") }, json!({"type": "image", "source": base64("image/png")}));
    check(Part::Image { source: url() }, json!({"type": "image", "source": {"type": "url", "url": "https://x/a"}}));
    check(Part::Image { source: data("image/tiff") }, said("[image left out: this model cannot read it]"));
    check(Part::Document { source: data("application/pdf") }, json!({"type": "document", "source": base64("application/pdf")}));
    check(Part::Document { source: url() }, json!({"type": "document", "source": {"type": "url", "url": "https://x/a"}}));
    check(Part::Audio { source: data("audio/mpeg") }, said("[audio left out: this model cannot read it]"));
    check(Part::Video { source: url() }, said("[video left out: this model cannot read it]"));
    check(Part::Text { text: " \n".into() }, Value::Null);
}
