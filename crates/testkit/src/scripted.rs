//! The scripted OpenAI-compatible provider: `POST /v1/chat/completions`, streamed, doing what [`Script`](crate::script::Script) says.
//!
//! Every request is recorded before it is answered, and how it ended after: one JSON object a line,
//! `{"n", "at", "body", "authorized"}` and `{"n", "at", "end"}` (see [`End`]).

mod asked;
mod out;

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Write},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::{
    http::Wire,
    script::{Act, Phase, Piece, Refusal},
    strict,
};

use asked::Asked;
pub use asked::{last_words, spoken, text};
use out::Out;

/// Bytes of arguments in one delta.
const ARGUMENTS: usize = 8;

/// How often a gate's file is looked for.
const GATE: Duration = Duration::from_millis(5);

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Said whole.
    Done,
    /// Answered with an HTTP error on purpose.
    Refused,
    /// The history was not one a provider takes.
    Strict,
    /// The client left first.
    Left,
    /// The script closed the socket or broke the stream.
    Cut,
}

/// What one provider knows.
pub struct Scripted {
    record: Option<Mutex<File>>,
    control: Option<PathBuf>,
    counter: Mutex<Counter>,
}

#[derive(Default)]
struct Counter {
    requests: u64,
    /// How often each (user text, status) was refused.
    refused: HashMap<(String, u16), u64>,
}

impl Scripted {
    pub fn new(record: Option<File>, control: Option<PathBuf>) -> Self {
        Self { record: record.map(Mutex::new), control, counter: Mutex::default() }
    }

    /// Serves until the process ends.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) -> io::Result<()> {
        loop {
            let (stream, _) = listener.accept().await?;
            let this = Arc::clone(&self);
            tokio::spawn(async move {
                // A client that leaves is no fault of the provider's.
                let _ = this.connection(stream).await;
            });
        }
    }

    async fn connection(&self, stream: TcpStream) -> io::Result<()> {
        let mut wire = Wire::new(stream);
        while let Some(head) = wire.head().await? {
            let body = wire.body(&head).await?;
            if head.line.starts_with("GET ") {
                refuse(&mut wire, 200, None, &json!({"object": "list", "data": [{"id": "scripted"}]})).await?;
                continue;
            }
            let Ok(body) = serde_json::from_slice::<Value>(&body) else {
                refuse(&mut wire, 400, None, &error("the body is no JSON")).await?;
                continue;
            };
            let n = self.begin(&body, head.header("authorization").is_some());
            let end = self.answer(&mut wire, n, &body).await;
            self.line(&json!({"n": n, "at": now(), "end": end.as_ref().unwrap_or(&End::Left)}));
            match end? {
                End::Done | End::Refused | End::Strict => {}
                End::Left | End::Cut => return Ok(()),
            }
        }
        Ok(())
    }

    fn begin(&self, body: &Value, authorized: bool) -> u64 {
        let n = {
            let mut counter = self.counter.lock().unwrap_or_else(PoisonError::into_inner);
            counter.requests += 1;
            counter.requests
        };
        self.line(&json!({"n": n, "at": now(), "body": body, "authorized": authorized}));
        n
    }

    fn line(&self, value: &Value) {
        if let Some(record) = &self.record {
            let mut line = value.to_string();
            line.push('\n');
            // One write: a reader of the file never sees half a line before the next one.
            let _ = record.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
        }
    }

    async fn answer(&self, wire: &mut Wire, n: u64, body: &Value) -> io::Result<End> {
        if let Some(complaint) = strict::complaint(body) {
            refuse(wire, 400, None, &error(&complaint)).await?;
            return Ok(End::Strict);
        }
        let asked = Asked::of(body);
        let phase = asked.phase();
        if let Some(refusal) = phase.refusal.as_ref().filter(|refusal| self.refuses(&asked.user, refusal)) {
            refuse(wire, refusal.status, refusal.retry_after, &error("scripted refusal")).await?;
            return Ok(End::Refused);
        }
        if phase.hang_first {
            left(wire).await;
            return Ok(End::Left);
        }
        if body["stream"] != true {
            refuse(wire, 200, None, &whole(n, body, &phase)).await?;
            return Ok(End::Done);
        }
        self.stream(wire, n, body, &phase).await
    }

    fn refuses(&self, user: &str, refusal: &Refusal) -> bool {
        let Some(times) = refusal.times else { return true };
        let mut counter = self.counter.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counter.refused.entry((user.to_owned(), refusal.status)).or_default();
        *count += 1;
        *count <= times
    }

    async fn stream(&self, wire: &mut Wire, n: u64, body: &Value, phase: &Phase) -> io::Result<End> {
        let mut out = Out::new(phase.bytes);
        let chunk = |delta: Value, finish: Value| -> Value {
            json!({"id": format!("chatcmpl-{n}"), "object": "chat.completion.chunk", "created": 0, "model": body["model"],
                   "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        };
        out.event(&chunk(json!({"role": "assistant", "content": ""}), Value::Null));
        let mut calls = 0;
        for at in 0..=phase.pieces.len() {
            for (_, act) in phase.acts.iter().filter(|(place, _)| *place == at) {
                out.flush(wire).await?;
                match act {
                    Act::Gate(name) => {
                        tokio::select! {
                            () = self.gate(name) => {}
                            () = left(wire) => return Ok(End::Left),
                        }
                    }
                    Act::Hang => {
                        left(wire).await;
                        return Ok(End::Left);
                    }
                    Act::Cut { clean } => {
                        if *clean {
                            out.end(wire).await?;
                        }
                        return Ok(End::Cut);
                    }
                    Act::ErrorMid => {
                        out.event(&error("scripted error in mid-stream"));
                        out.end(wire).await?;
                        return Ok(End::Cut);
                    }
                }
            }
            let Some(piece) = phase.pieces.get(at) else { break };
            if !phase.delay.is_zero() {
                out.flush(wire).await?;
                tokio::select! {
                    () = tokio::time::sleep(phase.delay) => {}
                    () = left(wire) => return Ok(End::Left),
                }
            }
            match piece {
                Piece::Text(text) => out.event(&chunk(json!({"content": text}), Value::Null)),
                Piece::Think(text) => out.event(&chunk(json!({"reasoning_content": text}), Value::Null)),
                Piece::Call { name, arguments } => {
                    let id = format!("provider-{n}-{calls}");
                    let function = json!({"name": name, "arguments": ""});
                    let call = json!({"index": calls, "id": id, "type": "function", "function": function});
                    out.event(&chunk(json!({"tool_calls": [call]}), Value::Null));
                    for part in parts(arguments) {
                        let call = json!({"index": calls, "function": {"arguments": part}});
                        out.event(&chunk(json!({"tool_calls": [call]}), Value::Null));
                    }
                    calls += 1;
                }
            }
        }
        out.event(&chunk(json!({}), json!(finish(phase))));
        if body["stream_options"]["include_usage"] == true {
            let mut last = chunk(json!({}), Value::Null);
            last["choices"] = json!([]);
            last["usage"] = usage(body, phase);
            out.event(&last);
        }
        out.raw(b"data: [DONE]\n\n");
        out.end(wire).await?;
        Ok(End::Done)
    }

    async fn gate(&self, name: &str) {
        let Some(control) = &self.control else { return };
        let _ = File::create(control.join(format!("{name}.reached")));
        while !control.join(name).exists() {
            tokio::time::sleep(GATE).await;
        }
    }
}

fn finish(phase: &Phase) -> &'static str {
    if phase.pieces.iter().any(|piece| matches!(piece, Piece::Call { .. })) {
        "tool_calls"
    } else if phase.length {
        "length"
    } else {
        "stop"
    }
}

fn usage(body: &Value, phase: &Phase) -> Value {
    let prompt = body["messages"].as_array().map_or(0, Vec::len);
    let completion = phase.pieces.len();
    json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion})
}

/// The answer to a request that wants no stream.
fn whole(n: u64, body: &Value, phase: &Phase) -> Value {
    let mut content = String::new();
    let mut calls = Vec::new();
    for piece in &phase.pieces {
        match piece {
            Piece::Text(text) => content.push_str(text),
            Piece::Think(_) => {}
            Piece::Call { name, arguments } => calls.push(json!({
                "id": format!("provider-{n}-{}", calls.len()), "type": "function",
                "function": {"name": name, "arguments": arguments}
            })),
        }
    }
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    json!({"id": format!("chatcmpl-{n}"), "object": "chat.completion", "created": 0, "model": body["model"],
           "choices": [{"index": 0, "message": message, "finish_reason": finish(phase)}], "usage": usage(body, phase)})
}

/// Arguments in pieces that end between characters.
fn parts(arguments: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    for char in arguments.chars() {
        if out.last().is_some_and(|part| part.len() >= ARGUMENTS) {
            out.push(String::new());
        }
        if let Some(part) = out.last_mut() {
            part.push(char);
        }
    }
    out.retain(|part| !part.is_empty());
    out
}

fn error(message: &str) -> Value {
    json!({"error": {"message": message, "type": "invalid_request_error", "code": null}})
}

async fn refuse(wire: &mut Wire, status: u16, retry_after: Option<u64>, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    let retry = retry_after.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default();
    let head =
        format!("HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\n{retry}content-length: {}\r\n\r\n", body.len());
    wire.stream.write_all((head + &body).as_bytes()).await
}

/// Returns when the client has closed its side.
async fn left(wire: &mut Wire) {
    loop {
        wire.buffer.reserve(1024);
        match wire.stream.read_buf(&mut wire.buffer).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
