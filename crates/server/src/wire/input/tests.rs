use domain::{Part, Source};
use serde_json::json;

use super::*;

fn text(text: &str) -> Vec<Part> {
    vec![Part::Text { text: text.to_owned() }]
}

fn posted(body: &str) -> Posted {
    parse(body.as_bytes()).unwrap()
}

#[test]
fn an_ag_ui_1_0_turn() {
    let body = r#"{"threadId":"th1","runId":"8b0d00c5-1","protocolVersion":"1.0","state":{},"messages":[{"id":"u1x7n7","role":"user","content":"approve"}],"tools":[],"context":[],"forwardedProps":{}}"#;
    assert_eq!(
        posted(body),
        Posted {
            thread: ThreadId::parse("th1").unwrap(),
            run: RunId::parse("8b0d00c5-1").ok(),
            parent_run: None,
            message: Some(NewMessage { id: MessageId::parse("u1x7n7").unwrap(), parts: text("approve") }),
            last_user: None,
            answers: Vec::new(),
            replaces: None,
            input: RunInput { state: Some(json!({})), protocol: Some("1.0".to_owned()), ..RunInput::default() },
        }
    );
}

#[test]
fn a_tanstack_turn() {
    let body = r#"{"threadId":"th1","runId":"run-1796066840634-em98on","state":{},"messages":[{"id":"msg-1796066840633-b01kl9","metadata":{"tanstack":{"createdAt":"2026-11-30T19:27:20.633Z"}},"role":"user","content":"hi"}],"tools":[{"name":"get_location","description":"Browser location","parameters":{"type":"object","properties":{"precise":{"type":"boolean"}},"required":["precise"]}}],"context":[],"forwardedProps":{},"data":{}}"#;
    let posted = posted(body);
    assert_eq!(posted.input.protocol, None);
    assert_eq!(posted.message.unwrap().parts, text("hi"));
    let [tool] = posted.input.client_tools.as_slice() else { panic!("one tool") };
    assert_eq!((tool.name.as_str(), &tool.parameters["required"]), ("get_location", &json!(["precise"])));
}

#[test]
fn a_tool_may_say_what_it_does() {
    let body = |metadata: &str| {
        format!(
            r#"{{"threadId":"t","messages":[{{"id":"u","role":"user","content":"hi"}}],"tools":[{{"name":"a","metadata":{metadata}}}]}}"#
        )
    };
    for (metadata, effect) in [
        (r#"{"frontdesk":{"effect":"irreversible"},"icon":"bin"}"#, Some(Effect::Irreversible)),
        (r#"{"frontdesk":{"effect":"human_only"}}"#, Some(Effect::HumanOnly)),
        (r#"{"frontdesk":{"effect":"harmless"}}"#, None),
        (r#"{"frontdesk":{"effect":7}}"#, None),
        (r#"{"frontdesk":"irreversible"}"#, None),
        (r#"["irreversible"]"#, None),
        ("null", None),
    ] {
        assert_eq!(posted(&body(metadata)).input.client_tools[0].effect, effect, "{metadata}");
    }
}

#[test]
fn of_a_whole_history_only_news_are_read() {
    let body = r#"{"threadId":"th1","runId":"r2","messages":[
        {"id":"s","role":"system","content":"x"},{"id":"u1","role":"user","content":"approve"},
        {"role":"reasoning","id":"msg-1-reasoning-kn2o2","content":"thinking...","encryptedValue":"sig"},
        {"id":"msg-1","role":"assistant","content":"Let me do that. ","toolCalls":[{"id":"call-2","type":"function","function":{"name":"transfer","arguments":"{\"to\":\"ada\"}"}}]},
        {"role":"tool","id":"tool-call-2","toolCallId":"call-2","content":"null"}, 17, {"role":"activity","content":{"a":[1]}},
        {"id":"u2","role":"user","content":[{"type":"text","text":"hi pic"},{"type":"image","source":{"type":"url","value":"https://example.com/p.png","mimeType":"image/png"}},
          {"type":"binary","mimeType":"application/pdf","data":"AAAA","filename":"a.pdf"},{"type":"binary","mimeType":"image/png","id":"f1"}]}]}"#;
    let posted = posted(body);
    assert_eq!(posted.answers, [], "a call that is not ours");
    let message = posted.message.unwrap();
    assert_eq!(message.id.as_str(), "u2");
    assert_eq!(
        message.parts,
        [
            Part::Text { text: "hi pic".to_owned() },
            Part::Image {
                source: Source::Url { value: "https://example.com/p.png".to_owned(), mime: Some("image/png".to_owned()) }
            },
            Part::Document { source: Source::Data { value: "AAAA".to_owned(), mime: "application/pdf".to_owned() } },
            Part::Image { source: Source::File { value: "f1".to_owned(), mime: Some("image/png".to_owned()) } },
        ]
    );
}

#[test]
fn nulls_are_absent() {
    let body = r#"{"threadId":"t","runId":null,"protocolVersion":null,"parentRunId":null,"state":null,"tools":null,"context":null,"forwardedProps":null,"resume":null,
        "messages":[{"id":"u","role":"user","name":null,"metadata":null,"content":"hi"}]}"#;
    let posted = posted(body);
    assert_eq!((posted.run, posted.parent_run), (None, None));
    assert_eq!(posted.input, RunInput::default());
}

#[test]
fn ours_comes_from_forwarded_props() {
    let body = r#"{"threadId":"t","messages":[{"id":"u","role":"user","content":"hi"}],
        "forwardedProps":{"model":"x","grounding":"On the invoice page.","frontdesk":{"replaces":"u0","x":1}}}"#;
    let posted = posted(body);
    assert_eq!(posted.replaces, MessageId::parse("u0").ok());
    assert_eq!(posted.input.grounding, ["On the invoice page."]);
    let foreign = r#"{"threadId":"t","messages":[{"id":"u","role":"user","content":"hi"}],"forwardedProps":[1]}"#;
    assert_eq!(self::posted(foreign).replaces, None);
}

#[test]
fn what_is_wrong_is_named() {
    let row = |row: &str| format!(r#"{{"threadId":"t","messages":[{row}]}}"#);
    let with = |key: &str| format!(r#"{{"threadId":"t",{key},"messages":[{{"id":"u","role":"user","content":"hi"}}]}}"#);
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    for (body, code, path) in [
        (String::new(), Code::InvalidJson, "line 1, column 0"),
        ("{\"threadId\":\n nope}".to_owned(), Code::InvalidJson, "line 2, column"),
        ("{} x".to_owned(), Code::InvalidJson, "column 4"),
        ("[]".to_owned(), Code::InvalidInput, "RunAgentInput"),
        ("{}".to_owned(), Code::InvalidInput, "threadId: "),
        (r#"{"threadId":7}"#.to_owned(), Code::InvalidInput, "threadId: invalid type"),
        (r#"{"threadId":""}"#.to_owned(), Code::InvalidInput, "threadId: an id may not be empty"),
        (r#"{"threadId":"a\u0000"}"#.to_owned(), Code::InvalidInput, "threadId: "),
        (r#"{"threadId":"t","messages":{}}"#.to_owned(), Code::InvalidInput, "messages"),
        (r#"{"threadId":"t","messages":[]}"#.to_owned(), Code::InvalidInput, "messages: is empty"),
        (r#"{"threadId":"t"}"#.to_owned(), Code::InvalidInput, "messages: is empty"),
        (
            row(r#"{"id":"a","role":"user","content":"x"},{"id":"b","role":"assistant"}"#),
            Code::InvalidInput,
            "messages[1]: is a message of role \"assistant\"",
        ),
        (row("5"), Code::InvalidInput, "messages[0]: "),
        (row(r#"{"role":"user","content":"x"}"#), Code::InvalidInput, "messages[0].id: is missing"),
        (row(r#"{"id":"u","role":"user"}"#), Code::InvalidInput, "messages[0].content: is missing"),
        (row(r#"{"id":"u","role":"user","content":{}}"#), Code::InvalidInput, "messages[0].content: is neither"),
        (
            row(r#"{"id":"u","role":"user","content":[{"type":"text","text":"a"},{"type":"smell"}]}"#),
            Code::InvalidInput,
            "messages[0].content[1].type: is \"smell\"",
        ),
        (
            row(r#"{"id":"u","role":"user","content":[{"type":"image","source":{"type":"data","value":"AA"}}]}"#),
            Code::InvalidInput,
            "messages[0].content[0].source.mimeType",
        ),
        (with(r#""runId":"""#), Code::InvalidInput, "runId: "),
        (with(r#""tools":[{"name":"a"},{"description":"b"}]"#), Code::InvalidInput, "tools[1]: has no name"),
        (with(r#""context":["x"]"#), Code::InvalidInput, "context[0]: "),
        (with(&format!(r#""state":"{}""#, "x".repeat(MAX_STATE))), Code::InvalidInput, "state: has"),
        (with(&format!(r#""state":{deep}"#)), Code::InvalidInput, "state: recursion limit"),
        (with(r#""resume":{}"#), Code::InvalidInput, "resume: "),
        (with(r#""resume":[5]"#), Code::InvalidInput, "resume[0]: is not an object"),
        (with(r#""resume":[{"status":"resolved"}]"#), Code::InvalidInput, "resume[0].interruptId: is missing"),
        (with(r#""resume":[{"interruptId":"","status":"resolved"}]"#), Code::InvalidInput, "resume[0].interruptId: "),
        (with(r#""resume":[{"interruptId":"i"}]"#), Code::InvalidInput, "resume[0].status: is missing"),
        (with(r#""resume":[{"interruptId":"i","status":"so"}]"#), Code::InvalidInput, "resume[0].status: is \"so\""),
        (
            with(r#""resume":[{"interruptId":"i","status":"cancelled"},{"interruptId":"i","status":"resolved"}]"#),
            Code::InvalidInput,
            "resume[1].interruptId: is there twice",
        ),
        (with(&format!(r#""resume":[{}1]"#, "1,".repeat(256))), Code::InvalidInput, "resume: has 257 entries"),
        (with(r#""forwardedProps":{"frontdesk":{"replaces":5}}"#), Code::InvalidInput, "forwardedProps.frontdesk.replaces: "),
        (with(r#""forwardedProps":{"grounding":[5]}"#), Code::InvalidInput, "forwardedProps.grounding[0]: "),
        (with(r#""protocolVersion":"2.0""#), Code::UnsupportedProtocolVersion, "\"2.0\""),
        (with(r#""protocolVersion":1.0"#), Code::UnsupportedProtocolVersion, "1.0"),
    ] {
        let error = parse(body.as_bytes()).unwrap_err().error;
        assert_eq!(error.code, code, "{body}: {error:?}");
        assert!(error.detail.contains(path), "{body}: {error:?}");
    }
}

#[test]
fn a_refusal_says_back_little() {
    let body =
        format!(r#"{{"threadId":"t","messages":[{{"id":"u","role":"user","content":[{{"type":"{}"}}]}}]}}"#, "s".repeat(5_000));
    assert!(parse(body.as_bytes()).unwrap_err().error.detail.len() < 200);
    let body = format!(r#"{{"threadId":{{"{}":1}}}}"#, "s".repeat(5_000));
    assert!(parse(body.as_bytes()).unwrap_err().error.detail.len() < 300);
}

#[test]
fn bytes_that_are_no_text_are_no_json() {
    assert_eq!(parse(b"{\"threadId\":\"\xff\"}").unwrap_err().error.code, Code::InvalidJson);
}

#[test]
fn a_list_is_no_object() {
    let with = |key: &str, value: serde_json::Value| {
        let mut body = json!({"threadId": "t", "messages": [{"id": "m", "role": "user", "content": "hi"}]});
        body[key] = value;
        body
    };
    let content = |part: serde_json::Value| json!([{"id": "m", "role": "user", "content": [part]}]);
    for (body, place) in [
        (
            json!([null, "t", null, null, null, [{"id": "m", "role": "user", "content": "hi"}], null, null, null, null]),
            "the body:",
        ),
        (with("messages", json!([["m", "user", "hi"]])), "messages[0]:"),
        (with("messages", content(json!(["text", "hi", null, null, null, null, null]))), "messages[0].content[0]:"),
        (with("messages", content(json!({"type": "image", "source": ["url", "u", null]}))), "messages[0].content[0].source:"),
        (with("tools", json!([["n", "d", {}]])), "tools[0]:"),
        (with("context", json!([["d", "v"]])), "context[0]:"),
        (with("forwardedProps", json!({"grounding": [["s", "t", "f", "x"]]})), "forwardedProps.grounding[0]:"),
    ] {
        let error = parse(body.to_string().as_bytes()).unwrap_err().error;
        assert_eq!(error.code, Code::InvalidInput, "{body}");
        assert!(error.detail.starts_with(place), "{}", error.detail);
    }
}

#[test]
fn a_body_that_makes_no_run_still_names_the_one_it_may_join() {
    let body = |rows: &str| format!(r#"{{"threadId":"t","runId":"r","messages":[{rows}],"tools":{{}}}}"#);
    let user = r#"{"id":"u","role":"user","content":7}"#;
    for (rows, last_user) in [
        (String::new(), None),
        (user.to_owned(), Some("u")),
        (format!(r#"{user},{{"role":"assistant"}}"#), Some("u")),
        (format!(r#"{{"role":"user"}},{user},{{"id":"s","role":"system"}}"#), Some("u")),
        (r#"{"role":"user"},{"role":"assistant"}"#.to_owned(), None),
    ] {
        let join = parse(body(&rows).as_bytes()).unwrap_err().join.unwrap();
        assert_eq!((join.thread.as_str(), join.run.as_str()), ("t", "r"), "{rows}");
        assert_eq!(join.last_user.as_ref().map(MessageId::as_str), last_user, "{rows}");
    }
    for nobody in
        [r#"{"threadId":"t","messages":[]}"#, r#"{"threadId":"t","runId":"r","messages":[{"role":"user","content":"x"}]}"#]
    {
        assert_eq!(parse(nobody.as_bytes()).unwrap_err().join, None, "{nobody}");
    }
}
