//! A small AG-UI client on a plain socket, as strict as the strictest real one.

use std::{collections::VecDeque, io, net::SocketAddr};

use domain::{Event, Verifier};
use serde_json::{Value, json};

use crate::{
    http::{Request, Response},
    wait,
};

/// One person's way to a server.
#[derive(Debug, Clone)]
pub struct Client {
    pub address: SocketAddr,
    pub token: Option<String>,
}

/// A turn's input: one user message.
pub fn input(thread: &str, run: &str, message: &str, text: &str) -> Value {
    json!({
        "threadId": thread, "runId": run, "protocolVersion": "1.0", "state": {},
        "messages": [{"id": message, "role": "user", "content": text}],
        "tools": [], "context": [], "forwardedProps": {}
    })
}

/// What a POST or a join was answered.
pub enum Answer {
    Stream(Box<Sse>),
    /// Any other response: status, headers, JSON body (null if it is none).
    Other(Plain),
}

/// A whole response.
#[derive(Debug, Clone)]
pub struct Plain {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Plain {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Status and `code` of a problem document, after checking that it is a whole one.
    ///
    /// # Panics
    /// If the response is no problem document.
    pub fn problem(&self) -> (u16, &str) {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        assert_eq!(self.body["status"], self.status, "{self:?}");
        for key in ["type", "title", "detail", "code"] {
            assert!(self.body[key].as_str().is_some_and(|text| !text.is_empty()), "no {key} in {self:?}");
        }
        (self.status, self.body["code"].as_str().unwrap_or_default())
    }
}

impl Answer {
    /// # Panics
    /// If it is no stream.
    pub fn stream(self) -> Sse {
        match self {
            Self::Stream(sse) => *sse,
            Self::Other(plain) => panic!("no stream: {plain:?}"),
        }
    }

    /// # Panics
    /// If it is a stream.
    pub fn plain(self) -> Plain {
        match self {
            Self::Other(plain) => plain,
            Self::Stream(_) => panic!("a stream"),
        }
    }
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, token: None }
    }

    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// Sends any request with the token, and reads the response's head.
    pub async fn send(&self, request: Request) -> io::Result<Response> {
        let request = match &self.token {
            Some(token) => request.header("authorization", &format!("Bearer {token}")),
            None => request,
        };
        request.send(self.address).await
    }

    /// Sends any request and reads the whole response.
    ///
    /// # Panics
    /// If there is none in time.
    pub async fn ask(&self, request: Request) -> Plain {
        let what = format!("{} {}", request.method, request.path);
        wait::bounded(&what, async {
            let response = self.send(request).await.unwrap_or_else(|error| panic!("{what}: {error}"));
            plain(response).await.unwrap_or_else(|error| panic!("{what}: {error}"))
        })
        .await
    }

    pub async fn get(&self, path: &str) -> Plain {
        self.ask(Request::get(path)).await
    }

    /// Sends a request that may be answered by a stream.
    pub async fn open(&self, request: Request) -> io::Result<Answer> {
        let response = self.send(request).await?;
        if response.status == 200 && response.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")) {
            return Ok(Answer::Stream(Box::new(Sse::new(response))));
        }
        Ok(Answer::Other(plain(response).await?))
    }

    /// `POST /v1/agui`.
    ///
    /// # Panics
    /// If there is no response in time.
    pub async fn post(&self, input: &Value) -> Answer {
        let what = "the answer to POST /v1/agui";
        wait::bounded(what, self.open(Request::post("/v1/agui", input))).await.unwrap_or_else(|error| panic!("{what}: {error}"))
    }

    /// Says one thing and reads the run to its end.
    pub async fn say(&self, thread: &str, run: &str, message: &str, text: &str) -> Vec<Item> {
        self.post(&input(thread, run, message, text)).await.stream().rest().await
    }

    /// `GET /v1/agui?runId=…&offset=…`.
    ///
    /// # Panics
    /// If there is no response in time.
    pub async fn join(&self, run: &str, offset: &str) -> Answer {
        let path = format!("/v1/agui?runId={}&offset={}", escape(run), escape(offset));
        let what = format!("the answer to GET {path}");
        wait::bounded(&what, self.open(Request::get(path))).await.unwrap_or_else(|error| panic!("{what}: {error}"))
    }

    /// `POST /v1/agui` with `Last-Event-ID`: what comes after that event.
    ///
    /// # Panics
    /// If there is no response in time.
    pub async fn reread(&self, input: &Value, after: &str) -> Answer {
        let request = Request::post("/v1/agui", input).header("last-event-id", after);
        let what = "the answer to POST /v1/agui with Last-Event-ID";
        wait::bounded(what, self.open(request)).await.unwrap_or_else(|error| panic!("{what}: {error}"))
    }

    /// The `role: text` lines of the hydrated transcript.
    pub async fn transcript(&self, thread: &str) -> Vec<String> {
        lines(&self.hydrate(thread).await["messages"])
    }

    /// `GET /v1/agui?threadId=…`.
    pub async fn hydrate(&self, thread: &str) -> Value {
        let plain = self.get(&format!("/v1/agui?threadId={}", escape(thread))).await;
        assert_eq!(plain.status, 200, "{plain:?}");
        plain.body
    }

    /// `GET /v1/runs/{id}`.
    pub async fn run(&self, run: &str) -> Plain {
        self.get(&format!("/v1/runs/{}", escape(run))).await
    }

    /// Waits until the run has a status.
    pub async fn status(&self, run: &str, status: &str) -> Value {
        wait::until(&format!("{run} to be {status}"), async || {
            let plain = self.run(run).await;
            (plain.status == 200 && plain.body["status"] == status).then_some(plain.body)
        })
        .await
    }

    /// `POST /v1/runs/{id}/cancel`.
    pub async fn cancel(&self, run: &str) -> Plain {
        self.ask(Request::post(format!("/v1/runs/{}/cancel", escape(run)), &json!({}))).await
    }
}

/// Percent-encodes everything but unreserved characters.
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

async fn plain(response: Response) -> io::Result<Plain> {
    let status = response.status;
    let headers = response.head.headers.clone();
    let bytes = response.bytes().await?;
    Ok(Plain { status, headers, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) })
}

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The `id:` line.
    pub id: Option<String>,
    pub json: Value,
}

impl Item {
    pub fn kind(&self) -> &str {
        self.json["type"].as_str().unwrap_or_default()
    }

    pub fn is_terminal(&self) -> bool {
        matches!(self.kind(), "RUN_FINISHED" | "RUN_ERROR")
    }
}

/// A stream of events, checked as it is read. Dropping it closes the socket.
pub struct Sse {
    response: Response,
    buffer: Vec<u8>,
    ready: VecDeque<Item>,
    /// `None`: a re-read, which begins within what another response opened.
    verifier: Option<Verifier>,
    pub keepalives: usize,
    pub headers: Vec<(String, String)>,
}

impl Sse {
    fn new(response: Response) -> Self {
        let headers = response.head.headers.clone();
        Self { response, buffer: Vec::new(), ready: VecDeque::new(), verifier: Some(Verifier::new()), keepalives: 0, headers }
    }

    fn verify(&mut self, json: &Value) -> Result<(), String> {
        no_nulls(json)?;
        let event: Event = serde_json::from_value(json.clone()).map_err(|error| format!("{error} in {json}"))?;
        let Some(verifier) = &mut self.verifier else { return Ok(()) };
        verifier.accept(&event).map_err(|error| format!("{error}: {json}"))
    }

    /// The next event; `None` at the stream's end. An error is a broken socket or a broken rule.
    pub async fn read(&mut self) -> io::Result<Option<Item>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Ok(Some(item));
            }
            let Some(chunk) = self.response.chunk().await? else {
                if !self.buffer.is_empty() {
                    return Err(broken(format!("the stream ends within {:?}", String::from_utf8_lossy(&self.buffer))));
                }
                return Ok(None);
            };
            self.buffer.extend(chunk);
            self.parse().map_err(broken)?;
        }
    }

    fn parse(&mut self) -> Result<(), String> {
        while let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
            let frame: Vec<u8> = self.buffer.drain(..end + 2).collect();
            let frame = String::from_utf8(frame).map_err(|_| "not UTF-8".to_owned())?;
            if frame.contains('\r') {
                return Err(format!("a carriage return in {frame:?}"));
            }
            let mut id = None;
            let mut data = None;
            for line in frame.trim_end_matches('\n').split('\n') {
                if line.starts_with(':') {
                    self.keepalives += 1;
                } else if let Some(value) = line.strip_prefix("id: ") {
                    id = Some(value.to_owned());
                } else if let Some(value) = line.strip_prefix("data: ") {
                    if data.replace(value.to_owned()).is_some() {
                        return Err(format!("two data lines in {frame:?}"));
                    }
                } else {
                    return Err(format!("an unknown line in {frame:?}"));
                }
            }
            if let Some(data) = data {
                let json: Value = serde_json::from_str(&data).map_err(|error| format!("{error} in {data:?}"))?;
                self.verify(&json)?;
                self.ready.push_back(Item { id, json });
            }
        }
        Ok(())
    }

    /// Waits for a comment that keeps the connection alive.
    ///
    /// # Panics
    /// If there is none in time, or the stream ends or breaks.
    pub async fn keepalive(&mut self) {
        let before = self.keepalives;
        while self.keepalives == before {
            let chunk = wait::bounded("a keep-alive", self.response.chunk()).await;
            let chunk = chunk.ok().flatten().expect("the stream goes on");
            self.buffer.extend(chunk);
            self.parse().unwrap_or_else(|error| panic!("{error}"));
        }
    }

    /// The next event.
    ///
    /// # Panics
    /// If there is none in time, or the stream broke.
    pub async fn next(&mut self) -> Option<Item> {
        wait::bounded("the next event", self.read()).await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Reads on until an event of the kind, and returns all that was read.
    ///
    /// # Panics
    /// If the stream ends before.
    pub async fn until(&mut self, found: impl Fn(&Item) -> bool) -> Vec<Item> {
        let mut items = Vec::new();
        while let Some(item) = self.next().await {
            let last = found(&item);
            items.push(item);
            if last {
                return items;
            }
        }
        panic!("the stream ended after {items:#?}");
    }

    /// Reads to the end, which is one terminal event and then the end of the body.
    ///
    /// # Panics
    /// If it ends in any other way.
    pub async fn rest(mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while let Some(item) = self.next().await {
            items.push(item);
        }
        assert!(items.last().is_some_and(Item::is_terminal), "no terminal event: {items:#?}");
        items
    }

    /// Takes the rules of a stream that begins after RUN_STARTED and maybe within a text.
    #[must_use]
    pub fn resumed(mut self) -> Self {
        self.verifier = None;
        self
    }
}

fn broken(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Real clients refuse null for an optional field, at the top of an event and within its outcome.
fn no_nulls(json: &Value) -> Result<(), String> {
    let fields = json.as_object().ok_or_else(|| format!("no object: {json}"))?;
    let outcome = json["outcome"].as_object();
    match fields.iter().chain(outcome.into_iter().flatten()).find(|(key, value)| value.is_null() && *key != "value") {
        Some((key, _)) => Err(format!("{key} is null in {json}")),
        None => Ok(()),
    }
}

/// The text of all text messages, joined.
pub fn said(items: &[Item]) -> String {
    let deltas = items.iter().filter(|item| item.kind() == "TEXT_MESSAGE_CONTENT");
    deltas.filter_map(|item| item.json["delta"].as_str()).collect()
}

/// The texts of messages as `role: text` lines.
pub fn lines(messages: &Value) -> Vec<String> {
    let mut out = Vec::new();
    for message in messages.as_array().into_iter().flatten() {
        let role = message["role"].as_str().unwrap_or_default();
        let said = match &message["parts"] {
            Value::Null => crate::scripted::text(&message["content"]),
            parts => {
                let texts = parts.as_array().into_iter().flatten().filter(|part| part["type"] == "text");
                texts.filter_map(|part| part["content"].as_str()).collect()
            }
        };
        out.push(format!("{role}: {said}"));
    }
    out
}

/// The events without `frontdesk.queued`, of which a reader gets as many as it happens to wait for.
pub fn unqueued(items: &[Item]) -> Vec<Item> {
    items.iter().filter(|item| item.json["name"] != "frontdesk.queued").cloned().collect()
}

/// Like [`kinds`], without CUSTOM events, whose number depends on how long a run waited.
pub fn story(items: &[Item]) -> Vec<String> {
    kinds(&items.iter().filter(|item| item.kind() != "CUSTOM").cloned().collect::<Vec<_>>())
}

/// The kinds of the events, each run of text or argument deltas once, CUSTOM with its name.
pub fn kinds(items: &[Item]) -> Vec<String> {
    let mut out: Vec<String> = items
        .iter()
        .map(|item| match item.kind() {
            "CUSTOM" => format!("CUSTOM {}", item.json["name"].as_str().unwrap_or_default()),
            kind => kind.to_owned(),
        })
        .collect();
    out.dedup_by(|a, b| a == b && (a.ends_with("_CONTENT") || a.ends_with("_ARGS")));
    out
}
