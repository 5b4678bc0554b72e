use domain::Effort;
use serde_json::json;

use super::*;
use crate::{
    Api,
    example::{asked, assistant, body as body_of, body_text, endpoint, history, user},
};

#[test]
fn the_body_is_these_bytes() {
    let expected = concat!(
        r#"{"model":"m","stream":true,"store":false,"instructions":"Be kind.","#,
        r#""tools":[{"type":"function","name":"clock","description":"The time.","parameters":{"properties":{},"type":"object"},"strict":false}],"#,
        r#""input":[{"type":"message","role":"user","content":"what time is it? 猫"},"#,
        r#"{"type":"function_call","call_id":"call_01JDXK3V8ZQ4R5S6T7V8W9X0Y1","name":"clock","arguments":"{\"zone\": \"UTC\"}"},"#,
        r#"{"type":"function_call_output","call_id":"call_01JDXK3V8ZQ4R5S6T7V8W9X0Y1","output":"12:00"}],"#,
        r#""max_output_tokens":2048}"#,
    );
    assert_eq!(body_text(&endpoint(Api::Responses, "local", "m", None), &asked(history())), expected);
}

#[test]
fn two_turns_share_their_bytes_up_to_the_new_message() {
    let model = endpoint(Api::Responses, "openai", "gpt-5", None);
    let (first, mut second) = (asked(history()), asked(history()));
    second.messages.push(assistant("noon", None, Vec::new()));
    second.messages.push(user(&["and now?"]));
    (second.tool_choice, second.effort) = (ToolChoice::None, Effort::High);
    let (first, second) = (body_text(&model, &first), body_text(&model, &second));
    let shared = first.find(r#"],"reasoning"#).expect("after the input");
    assert_eq!(first[..shared], second[..shared]);
    assert!(second[shared..].contains(r#"],"tool_choice":"none","reasoning":{"effort":"high"}"#), "{second}");
}

#[test]
fn only_models_that_reason_are_asked_about_it() {
    let of = |name: &str, reasoning| body_of(&endpoint(Api::Responses, "openai", name, reasoning), &asked(vec![user(&["hi"])]));
    let plain = of("gpt-4.1", None);
    assert_eq!(
        (&plain["reasoning"], &plain["include"], &plain["max_output_tokens"]),
        (&Value::Null, &Value::Null, &json!(2_048))
    );
    let reasons = of("o4-mini", None);
    assert_eq!(reasons["reasoning"], json!({"effort": "medium"}));
    assert_eq!(reasons["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(reasons["max_output_tokens"], 2_048 + 8_192);
    assert!(reasons["prompt_cache_key"].as_str().is_some_and(|key| key.len() <= 64 && !key.contains("ttt")));
    assert_eq!(of("o4-mini", Some(true))["reasoning"], json!({"effort": "medium", "summary": "auto"}));
    assert_eq!(of("o4-mini", Some(false))["reasoning"], Value::Null);
}

#[test]
fn parts_become_inputs() {
    let data = |mime: &str| Source::Data { value: "QUJD".into(), mime: mime.into() };
    let url = || Source::Url { value: "https://x/a".into(), mime: None };
    let check = |given: Part, expected: Value| assert_eq!(serde_json::to_value(input(&given)).unwrap(), expected);
    check(Part::Text { text: "a".into() }, json!({"type": "input_text", "text": "a"}));
    check(Part::Image { source: data("image/png") }, json!({"type": "input_image", "image_url": "data:image/png;base64,QUJD"}));
    check(Part::Image { source: url() }, json!({"type": "input_image", "image_url": "https://x/a"}));
    let file = json!({"type": "input_file", "filename": "document", "file_data": "data:application/pdf;base64,QUJD"});
    check(Part::Document { source: data("application/pdf") }, file);
    check(Part::Document { source: url() }, json!({"type": "input_file", "file_url": "https://x/a"}));
    check(Part::Audio { source: url() }, json!({"type": "input_text", "text": "[audio left out: this model cannot read it]"}));
}
