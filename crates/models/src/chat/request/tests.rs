use serde_json::json;

use super::*;
use crate::{
    Api,
    example::{self, asked, body_text as text, history},
};

fn endpoint(provider_name: &str, name: &str, reasoning: bool) -> Endpoint {
    example::endpoint(Api::Chat, provider_name, name, Some(reasoning))
}

fn user(text: &str) -> ChatMessage {
    example::user(&[text])
}

#[test]
fn the_body_is_these_bytes() {
    let expected = concat!(
        r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"#,
        r#""tools":[{"type":"function","function":{"name":"clock","description":"The time.","parameters":{"properties":{},"type":"object"}}}],"#,
        r#""messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"what time is it? 猫"},"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_01JDXK3V8ZQ4R5S6T7V8W9X0Y1","type":"function","function":{"name":"clock","arguments":"{\"zone\": \"UTC\"}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"call_01JDXK3V8ZQ4R5S6T7V8W9X0Y1","content":"12:00"}],"max_tokens":2048}"#,
    );
    assert_eq!(text(&endpoint("local", "m", false), &asked(history())), expected);
}

#[test]
fn two_turns_share_their_bytes_up_to_the_new_message() {
    let model = endpoint("openai", "gpt-5", true);
    let first = asked(history());
    let mut second = asked(history());
    second.messages.push(user("and now?"));
    second.tool_choice = ToolChoice::None;
    second.effort = domain::Effort::High;
    second.max_output_tokens = 9;
    let (first, second) = (text(&model, &first), text(&model, &second));
    let shared = first.find(r#"],"reasoning_effort"#).expect("after the messages");
    assert_eq!(first[..shared], second[..shared]);
    assert!(
        second[shared..].starts_with(r#",{"role":"user","content":"and now?"}],"tool_choice":"none","reasoning_effort":"high""#)
    );
}

#[test]
fn providers_get_what_they_document() {
    let value = |model: &Endpoint, request: &ChatRequest| serde_json::from_str::<Value>(&text(model, request)).unwrap();
    let openai = value(&endpoint("openai", "gpt-5-mini", true), &asked(history()));
    assert_eq!((&openai["max_completion_tokens"], &openai["max_tokens"]), (&json!(2_048 + 8_192), &Value::Null));
    assert_eq!(openai["reasoning_effort"], "medium");
    let key = openai["prompt_cache_key"].as_str().unwrap();
    assert!(key.len() <= 64 && !key.contains("tttt") && !key.contains("ada"), "{key}");

    let mistral = value(&endpoint("mistral", "m", false), &asked(history()));
    assert_eq!(mistral["messages"][2]["tool_calls"][0]["id"], "7V8W9X0Y1");
    assert_eq!(mistral["messages"][3]["tool_call_id"], "7V8W9X0Y1");
    for absent in ["stream_options", "prompt_cache_key", "reasoning_effort"] {
        assert_eq!(mistral[absent], Value::Null, "{absent}");
    }

    let mut bare = asked(vec![user("hi")]);
    (bare.tools, bare.system, bare.tool_choice) = (Vec::new(), String::new(), ToolChoice::None);
    let local = text(&endpoint("local", "m", false), &bare);
    assert!(local.contains(r#""messages":[{"role":"user","content":"hi"}],"max_tokens":2048}"#), "{local}");
    assert!(!local.contains("tool") && !local.contains("acme"), "{local}");
}

#[test]
fn a_row_that_says_nothing_is_left_out() {
    let empty = example::assistant("", None, Vec::new());
    assert!(!text(&endpoint("local", "m", false), &asked(vec![user("hi"), empty])).contains("assistant"));
}

#[test]
fn parts_become_pieces() {
    let data = |mime: &str| Source::Data { value: "QUJD".into(), mime: mime.into() };
    let parts = vec![
        Part::Text { text: "look".into() },
        Part::Image { source: data("image/png") },
        Part::Image { source: Source::Url { value: "https://x/a.png".into(), mime: None } },
        Part::Audio { source: data("audio/mpeg") },
        Part::Video { source: data("video/mp4") },
        Part::Document { source: data("application/pdf") },
    ];
    let pieces = |files: bool| serde_json::to_value(content(files, &parts)).unwrap();
    let expected = json!([
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
        {"type": "image_url", "image_url": {"url": "https://x/a.png"}},
        {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "mp3"}},
        {"type": "text", "text": "[video left out: this model cannot read it]"},
        {"type": "text", "text": "[document left out: this model cannot read it]"},
    ]);
    assert_eq!(pieces(false), expected);
    assert_eq!(
        pieces(true)[5],
        json!({"type": "file", "file": {"filename": "document", "file_data": "data:application/pdf;base64,QUJD"}})
    );
    let texts = [Part::Text { text: "a".into() }, Part::Text { text: "b".into() }];
    assert_eq!(serde_json::to_value(content(false, &texts)).unwrap(), json!("a\nb"));
}
