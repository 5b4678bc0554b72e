//! What a provider speaks: how a request is built, and how what comes back is read.

use domain::{ChatRequest, ModelError, Secret};
use egress::{EgressError, Request, Url};

use crate::{answer::Answer, endpoint::Endpoint};

/// One protocol. Pure: bytes and values in, bytes and values out; sending, timers, bounds and retries are the same for
/// all of them and live elsewhere.
pub(crate) trait Wire: Send + Sync {
    /// The address to send to, below the provider's base address.
    fn url(&self, base: &Url, model: &str) -> Url;

    /// The headers that are this protocol's own, the key's included.
    fn headers(&self, request: Request, key: Option<&Secret>) -> Result<Request, EgressError>;

    /// The body's JSON text: the same bytes for the same conversation, and what differs between two turns of a thread
    /// after what they share.
    fn body(&self, endpoint: &Endpoint, request: &ChatRequest) -> Vec<u8>;

    /// A reader of one answer.
    fn decoder(&self) -> Box<dyn Decode>;
}

/// Reads one answer's frames. It is told nothing of how the bytes travelled, so any chunking gives the same.
pub(crate) trait Decode: Send {
    /// Takes a frame: the `event` field (empty: none) and the data. What it has said before an error counts.
    fn frame(&mut self, event: &str, data: &[u8], answer: &mut Answer) -> Result<(), ModelError>;

    /// Takes a whole answer of a server that does not stream.
    fn whole(&mut self, body: &[u8], answer: &mut Answer) -> Result<(), ModelError>;
}

/// `base` with `path` appended, unless it ends with it already (copied from somebody's example); `root` is what stands
/// for an address without any path.
pub(crate) fn below(base: &Url, root: &str, path: &str) -> Url {
    let mut url = base.clone();
    let given = url.path().trim_end_matches('/');
    let given = given.strip_suffix(path).unwrap_or(given);
    let given = if given.is_empty() { root } else { given };
    let whole = format!("{given}{path}");
    url.set_path(&whole);
    url
}

/// JSON text of an object, parsed; a list would be read as an object's fields in their order.
pub(crate) fn object<'a, T: serde::Deserialize<'a>>(data: &'a [u8], what: &'static str) -> Result<T, ModelError> {
    Some(data.trim_ascii())
        .filter(|data| data.starts_with(b"{"))
        .and_then(|data| serde_json::from_slice(data).ok())
        .ok_or(ModelError::Protocol(what))
}
