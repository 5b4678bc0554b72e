//! `run --server` against what is no server of ours, or one that misbehaves.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::Command,
    sync::mpsc,
};

use crate::desk::{Desk, Ran, finish};

/// Answers the first connection with `answer` and keeps every connection open; says when it has answered.
fn peer(answer: &'static [u8]) -> (String, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (answered, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut held: Vec<TcpStream> = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            if held.is_empty() {
                let _ = stream.read(&mut [0; 8192]).unwrap();
                stream.write_all(answer).unwrap();
                answered.send(()).unwrap();
            }
            held.push(stream);
        }
    });
    (address, told)
}

fn asked(answer: &'static [u8]) -> Ran {
    let (address, _told) = peer(answer);
    Desk::new().run(&["run", "--server", &address, "hi"])
}

#[test]
fn what_a_server_says_cannot_steer_the_terminal() {
    let ran = asked(
        b"HTTP/1.1 503 X\r\ncontent-type: application/problem+json\r\ncontent-length: 43\r\n\r\n\
          {\"code\":\"x\\u001b[2J\",\"detail\":\"y\\u001b[1m\"}",
    );
    assert_eq!(ran, Ran { code: Some(3), out: String::new(), err: "frontdesk: x[2J: y[1m\n".to_owned() });
}

#[test]
fn another_kind_of_server_is_said() {
    let ran = asked(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>");
    let err = "frontdesk: status 200: the answer is not one of this product's; check --server\n";
    assert_eq!(ran, Ran { code: Some(1), out: String::new(), err: err.to_owned() });
}

/// The cancel is never answered either.
#[test]
fn an_interrupted_command_leaves_a_server_that_does_not_stop() {
    let (address, told) = peer(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
          data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n",
    );
    let desk = Desk::new();
    let child = desk.start(&["run", "--server", &address, "--thread", "t", "hi"]);
    told.recv().unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let ran = finish(child);
    assert_eq!((ran.code, ran.out.as_str()), (Some(130), ""), "{ran:?}");
    assert!(ran.err.contains("in thread t has not ended yet"), "{ran:?}");
}
