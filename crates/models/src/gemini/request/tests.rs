use serde_json::json;

use super::*;
use crate::{
    Api,
    example::{asked, assistant, body as body_of, body_text, endpoint, history, user},
};

fn gemini(name: &str) -> Endpoint {
    endpoint(Api::Gemini, "gemini", name, None)
}

#[test]
fn the_body_is_these_bytes() {
    let expected = concat!(
        r#"{"tools":[{"functionDeclarations":[{"name":"clock","description":"The time.","parametersJsonSchema":{"properties":{},"type":"object"}}]}],"#,
        r#""systemInstruction":{"parts":[{"text":"Be kind."}]},"#,
        r#""contents":[{"role":"user","parts":[{"text":"what time is it? 猫"}]},"#,
        r#"{"role":"model","parts":[{"functionCall":{"id":"call_01JDXK3V8ZQ4R5S6T7V8W9X0Y1","name":"clock","args":{"zone": "UTC"}}}]},"#,
        r#"{"role":"user","parts":[{"functionResponse":{"id":"call_01JDXK3V8ZQ4R5S6T7V8W9X0Y1","name":"clock","response":{"result":"12:00"}}}]}],"#,
        r#""generationConfig":{"maxOutputTokens":2048}}"#,
    );
    assert_eq!(body_text(&gemini("gemini-2.0-flash"), &asked(history())), expected);
}

#[test]
fn two_turns_share_their_bytes_up_to_the_new_message() {
    let model = gemini("gemini-2.5-flash");
    let (first, mut second) = (asked(history()), asked(history()));
    second.messages.push(assistant("noon", None, Vec::new()));
    second.messages.push(user(&["and now?"]));
    (second.tool_choice, second.effort) = (ToolChoice::None, Effort::High);
    let (first, second) = (body_text(&model, &first), body_text(&model, &second));
    let shared = first.find(r#"],"generationConfig"#).expect("after the contents");
    assert_eq!(first[..shared], second[..shared]);
    assert!(second[shared..].contains(r#""toolConfig":{"functionCallingConfig":{"mode":"NONE"}}"#), "{second}");
}

#[test]
fn an_effort_is_a_budget_or_a_level() {
    let thinks = |name: &str, effort: Effort| {
        let mut request = asked(vec![user(&["hi"])]);
        request.effort = effort;
        let body = body_of(&gemini(name), &request);
        (body["generationConfig"]["thinkingConfig"].clone(), body["generationConfig"]["maxOutputTokens"].clone())
    };
    assert_eq!(thinks("gemini-2.0-flash", Effort::High), (Value::Null, json!(2_048)));
    let budget = |tokens: u32| json!({"includeThoughts": tokens > 0, "thinkingBudget": tokens});
    assert_eq!(thinks("gemini-2.5-flash", Effort::Minimal).0, budget(0));
    assert_eq!(thinks("gemini-2.5-pro", Effort::Minimal).0, budget(128));
    assert_eq!(thinks("gemini-2.5-flash", Effort::High), (budget(16_384), json!(2_048 + 16_384)));
    let level = |word: &str| json!({"includeThoughts": true, "thinkingLevel": word});
    assert_eq!(thinks("gemini-3-pro-preview", Effort::Medium).0, level("high"));
    assert_eq!(thinks("gemini-3.1-pro", Effort::Medium).0, level("medium"));
    assert_eq!(thinks("gemini-3-flash-preview", Effort::Minimal).0, level("low"));
}

#[test]
fn every_kind_of_part_is_taken() {
    let data = |mime: &str| Source::Data { value: "QUJD".into(), mime: mime.into() };
    let url = |url: &str, mime: Option<&str>| Source::Url { value: url.into(), mime: mime.map(str::to_owned) };
    let check = |given: Part, expected: Value| assert_eq!(serde_json::to_value(part(&given)).unwrap(), expected);
    let inline = |mime: &str| json!({"inlineData": {"mimeType": mime, "data": "QUJD"}});
    check(Part::Image { source: data("image/png") }, inline("image/png"));
    check(Part::Audio { source: data("audio/mpeg") }, inline("audio/mpeg"));
    check(Part::Document { source: data("application/pdf") }, inline("application/pdf"));
    let file = |mime: &str, url: &str| json!({"fileData": {"mimeType": mime, "fileUri": url}});
    check(Part::Image { source: url("https://x/a.JPG?b=c.d", None) }, file("image/jpeg", "https://x/a.JPG?b=c.d"));
    check(Part::Video { source: url("https://x/a", Some("video/webm")) }, file("video/webm", "https://x/a"));
    check(Part::Image { source: url("https://x/a", None) }, json!({"fileData": {"fileUri": "https://x/a"}}));
    let other = Source::File { value: "file-1".into(), mime: None };
    check(Part::Image { source: other }, json!({"text": "[image left out: this model cannot read it]"}));
    check(Part::Text { text: String::new() }, Value::Null);
}
