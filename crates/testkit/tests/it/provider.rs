//! The scripted provider itself, so that a fault of the product is not sought there.

use std::net::SocketAddr;

use serde_json::{Value, json};
use testkit::{Provider, Request, scripted::End, wait};

fn address(provider: &Provider) -> SocketAddr {
    ([127, 0, 0, 1], provider.port).into()
}

fn ask(text: &str) -> Request {
    let body = json!({
        "model": "m", "stream": true, "stream_options": {"include_usage": true},
        "messages": [{"role": "user", "content": text}],
        "tools": [{"type": "function", "function": {"name": "whoami", "parameters": {"type": "object"}}}]
    });
    Request::post("/v1/chat/completions", &body)
}

/// The events of a streamed answer; the error if it broke off.
async fn events(provider: &Provider, text: &str) -> (Vec<Value>, Option<std::io::Error>) {
    let mut response = ask(text).send(address(provider)).await.unwrap();
    assert_eq!(response.status, 200);
    let mut body = Vec::new();
    let error = loop {
        match response.chunk().await {
            Ok(Some(chunk)) => body.extend(chunk),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    let body = String::from_utf8(body).unwrap();
    let data = body.split("\n\n").filter_map(|frame| frame.strip_prefix("data: "));
    (data.map(|data| serde_json::from_str(data).unwrap_or(json!(data))).collect(), error)
}

fn content(events: &[Value]) -> String {
    events.iter().filter_map(|event| event["choices"][0]["delta"]["content"].as_str()).collect()
}

#[tokio::test]
async fn a_script_is_followed_and_recorded() {
    let provider = Provider::start();
    let (got, error) = events(&provider, "ctx [[say hello wörld]] [[bytes]]").await;
    assert!(error.is_none());
    assert_eq!(content(&got), "hello wörld");
    assert_eq!(got.last(), Some(&json!("[DONE]")));
    assert_eq!(got[got.len() - 2]["usage"], json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}));
    let (got, _) = events(&provider, "plain").await;
    assert_eq!(content(&got), "You said: plain (user messages: 1)");

    let records = provider.records();
    assert_eq!(records.len(), 2);
    assert_eq!(records[0].body["messages"][0]["content"], "ctx [[say hello wörld]] [[bytes]]");
    let done = wait::until("the end", async || provider.records()[1].end.map(|(end, _)| end)).await;
    assert_eq!(done, End::Done);
}

#[tokio::test]
async fn it_refuses_breaks_off_and_waits_as_told() {
    let provider = Provider::start();
    let address = address(&provider);
    let refused = ask("[[error 429 retry-after 1 times 1]]").send(address).await.unwrap();
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")));
    assert_eq!(ask("[[error 429 retry-after 1 times 1]]").send(address).await.unwrap().status, 200);

    let (got, error) = events(&provider, "[[words 5]][[cut after 3]]").await;
    assert_eq!((content(&got), error.is_some()), ("w1 w2 w3".to_owned(), true));
    let (got, error) = events(&provider, "[[words 5]][[cut clean after 3]]").await;
    assert_eq!((content(&got), error.is_some()), ("w1 w2 w3".to_owned(), false));

    let mut response = ask("[[words 3]][[gate go after 1]]").send(address).await.unwrap();
    let first = response.chunk().await.unwrap().unwrap();
    provider.reached("go").await;
    assert!(String::from_utf8(first).unwrap().contains("w1"));
    provider.open("go");
    assert!(String::from_utf8(response.bytes().await.unwrap()).unwrap().contains("w3"));

    let hanging = ask("[[hang after 2]]").send(address).await.unwrap();
    drop(hanging);
    let end = wait::until("the client's leaving", async || provider.asked("[[hang")[0].end.map(|(end, _)| end)).await;
    assert_eq!(end, End::Left);
}

#[tokio::test]
async fn it_is_strict_about_tool_pairs() {
    let provider = Provider::start();
    let body = json!({"model": "m", "stream": true, "messages": [
        {"role": "user", "content": "x"}, {"role": "tool", "tool_call_id": "a", "content": "r"}]});
    let response = Request::post("/v1/chat/completions", &body).send(address(&provider)).await.unwrap();
    assert_eq!(response.status, 400);
    let (got, _) = events(&provider, "[[tool whoami {\"a\": \"bcdefgh\"}]]").await;
    let arguments =
        |event: &Value| event["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].as_str().map(str::to_owned);
    assert_eq!(got.iter().filter_map(arguments).collect::<String>(), "{\"a\": \"bcdefgh\"}");
}
