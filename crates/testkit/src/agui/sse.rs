//! A stream of events as the strictest client reads it.

use std::{collections::VecDeque, io};

use domain::{Event, Verifier};
use serde_json::Value;

use crate::{http::Response, wait};

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
    pub(super) fn new(response: Response) -> Self {
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
