//! A small AG-UI client on a plain socket, as strict as the strictest real one.

mod sse;
mod story;

use std::{io, net::SocketAddr};

use serde_json::{Value, json};

pub use sse::{Item, Sse};
pub use story::{kinds, lines, said, story, unqueued};

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
