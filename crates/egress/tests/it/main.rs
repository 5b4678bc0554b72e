//! The client over real sockets.

#![allow(clippy::unwrap_used)]

use domain::Secret;
use egress::{Client, EgressError, Reach, Request, Response, StatusCode, Url};
use futures::StreamExt;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinHandle,
};

/// Answers one connection with these bytes; gives what it was sent.
async fn once(reply: Vec<u8>) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut sent = vec![0; 4096];
        let read = stream.read(&mut sent).await.unwrap();
        let _ = stream.write_all(&reply).await;
        String::from_utf8_lossy(&sent[..read]).into_owned()
    });
    (address, task)
}

async fn get(reach: Reach, url: &str) -> Result<Response, EgressError> {
    Client::new(reach).send(Request::get(Url::parse(url).unwrap())).await
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_a_body_has_a_bound() {
    let reply = b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 4\r\n\r\nbody";
    let (address, task) = once(reply.to_vec()).await;
    let response = get(Reach::Anywhere, &format!("http://{address}/a")).await.unwrap();
    assert_eq!(response.status(), StatusCode::FOUND);
    assert_eq!(&response.bytes(4).await.unwrap()[..], b"body");
    assert!(task.await.unwrap().starts_with("GET /a HTTP/1.1\r\n"));

    let (address, _task) = once(reply.to_vec()).await;
    let response = get(Reach::Anywhere, &format!("http://{address}/")).await.unwrap();
    assert_eq!(response.bytes(3).await, Err(EgressError::TooLarge { max: 3 }));
}

#[tokio::test]
async fn a_post_carries_its_key_and_streams_its_answer() {
    let (address, task) = once(b"HTTP/1.1 200 OK\r\ncontent-type: Text/Event-Stream; x=y\r\n\r\ndata: 1\n\n".to_vec()).await;
    let request =
        Request::post_json(Url::parse(&format!("http://{address}/")).unwrap(), "{}").bearer(&Secret::new("k-1\n")).unwrap();
    assert_eq!(format!("{request:?}"), format!("Request(POST {address})"));
    let response = Client::new(Reach::Anywhere).send(request).await.unwrap();
    assert_eq!(response.content_type().as_deref(), Some("text/event-stream"));
    let body: Vec<u8> = response.chunks().map(|chunk| chunk.unwrap().to_vec()).concat().await;
    assert_eq!(body, b"data: 1\n\n");
    assert!(task.await.unwrap().contains("authorization: Bearer k-1\r\n"));
    assert!(Request::get(Url::parse("http://h").unwrap()).bearer(&Secret::new("a\nb")).is_err());
}

#[tokio::test]
async fn public_only_reaches_nothing_inside() {
    for inside in [
        "http://127.0.0.1:1/",
        "http://localhost:1/",
        "http://2130706433:1/",
        "http://0x7f.1:1/",
        "http://[::1]:1/",
        "http://[::ffff:10.0.0.1]/",
        "http://169.254.169.254/latest",
    ] {
        let error = get(Reach::PublicOnly, inside).await.err().unwrap();
        assert!(matches!(error, EgressError::Blocked { .. }), "{inside} {error:?}");
    }
}

#[tokio::test]
async fn an_error_is_typed_and_tells_nothing_it_should_not() {
    let (address, task) = once(Vec::new()).await;
    let error = get(Reach::Anywhere, &format!("http://user:hidden@{address}/hidden?hidden=1")).await.err().unwrap();
    assert!(matches!(error, EgressError::Transport { .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("hidden"), "{error:?}");
    task.await.unwrap();

    let error = get(Reach::Anywhere, &format!("http://{address}/hidden")).await.err().unwrap();
    assert_eq!(error, EgressError::Refused { host: address.clone() });

    let error = get(Reach::Anywhere, "http://nobody.invalid/hidden").await.err().unwrap();
    assert_eq!(error, EgressError::Dns { host: "nobody.invalid".to_owned() });

    let (address, _task) = once(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()).await;
    let error = get(Reach::Anywhere, &format!("https://{address}/hidden")).await.err().unwrap();
    assert!(matches!(error, EgressError::Tls { .. }), "{error:?}");

    let error = get(Reach::Anywhere, "ftp://127.0.0.1/").await.err().unwrap();
    assert!(matches!(error, EgressError::Request(_)), "{error:?}");
}

#[tokio::test]
async fn a_server_that_says_nothing_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let request = Request::get(Url::parse(&format!("http://{host}/")).unwrap()).timeout(std::time::Duration::from_millis(20));
    let error = Client::new(Reach::Anywhere).send(request).await.err();
    assert_eq!(error, Some(EgressError::Timeout { host }));
}
