//! Over a real socket: closing, stopping, framing.

use serde_json::Value;
use server::Shutdown;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::world::{World, bounded, input};

struct Served {
    world: World,
    address: std::net::SocketAddr,
    shutdown: Shutdown,
    task: JoinHandle<()>,
}

async fn served() -> Served {
    let world = World::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let shutdown = Shutdown { stop: CancellationToken::new(), cut: CancellationToken::new() };
    let task = tokio::spawn(server::serve(listener, world.app.clone(), shutdown.clone()));
    Served { world, address, shutdown, task }
}

impl Served {
    /// Opens a POST and reads until RUN_STARTED.
    async fn start(&self, body: Value) -> TcpStream {
        let (body, token) = (body.to_string(), self.world.token("ada").await);
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        let head = format!(
            "POST /v1/agui HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        socket.write_all(body.as_bytes()).await.unwrap();
        bounded(until(&mut socket, "RUN_STARTED")).await;
        socket
    }
}

async fn until(socket: &mut TcpStream, text: &str) {
    let mut seen = String::new();
    let mut buffer = [0; 4_096];
    while !seen.contains(text) {
        let count = socket.read(&mut buffer).await.unwrap();
        assert!(count > 0, "closed before {text}: {seen}");
        seen.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
}

async fn rest(mut socket: TcpStream) -> String {
    let mut seen = Vec::new();
    let _ = socket.read_to_end(&mut seen).await;
    String::from_utf8(seen).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_socket_is_noticed_in_silence() {
    let served = served().await;
    let socket = served.start(input("t1", "r1", "wait")).await;
    drop(socket);
    let principal = domain::Principal::new("acme".parse().unwrap(), "ada".parse().unwrap(), "web".parse().unwrap());
    let run = "r1".parse().unwrap();
    bounded(async {
        while served.world.store.run(&principal, &run).await.unwrap().unwrap().unattended_since.is_none() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_lets_open_streams_end_and_takes_no_more() {
    let served = served().await;
    let socket = served.start(input("t1", "r1", "wait")).await;
    served.shutdown.stop.cancel();
    bounded(async {
        while TcpStream::connect(served.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(served.world.post("/v1/runs/r1/cancel").await.status.as_u16(), 202);
    let text = bounded(rest(socket)).await;
    assert!(text.contains("RUN_FINISHED") && text.ends_with("0\r\n\r\n"), "{text}");
    bounded(served.task).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_breaks_off_what_is_still_open() {
    let served = served().await;
    let socket = served.start(input("t1", "r1", "wait")).await;
    served.shutdown.stop.cancel();
    served.shutdown.cut.cancel();
    assert!(!bounded(rest(socket)).await.ends_with("0\r\n\r\n"));
    bounded(served.task).await.unwrap();
}
