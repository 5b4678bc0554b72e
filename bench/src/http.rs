//! As little HTTP/1.1 as a load client needs: one request, one connection, the whole answer.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Most bytes of an answer.
const MAX: usize = 4 * 1024 * 1024;

/// Sends a request; its answer is still to be read.
pub(crate) async fn open(to: SocketAddr, method: &str, path: &str, token: Option<&str>, body: &str) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(to).await?;
    stream.set_nodelay(true)?;
    let authorization = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {to}\r\n{authorization}content-type: application/json\r\naccept: text/event-stream\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    Ok(stream)
}

/// Status and raw body (still chunked, if the server chunks) of one request.
pub(crate) async fn send(to: SocketAddr, method: &str, path: &str, token: Option<&str>, body: &str) -> io::Result<(u16, String)> {
    let mut stream = open(to, method, path, token, body).await?;
    let mut answer = Vec::with_capacity(8 * 1024);
    let mut chunk = vec![0; 16 * 1024];
    loop {
        let read = stream.read(&mut chunk).await?;
        if read == 0 || answer.len() > MAX {
            break;
        }
        answer.extend_from_slice(&chunk[..read]);
    }
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.get(9..12).and_then(|digits| digits.parse().ok()).unwrap_or(0);
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
    Ok((status, body))
}
