//! What is sent.

use std::time::Duration;

use bytes::Bytes;
use domain::Secret;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use url::Url;

use crate::EgressError;

/// What [`Request::timeout`] is unless it is set.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// One HTTP request. `Debug` shows neither headers nor body.
#[derive(Clone)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
    pub(crate) timeout: Duration,
}

impl Request {
    pub fn new(method: Method, url: Url) -> Self {
        Self { method, url, headers: HeaderMap::new(), body: None, timeout: DEFAULT_TIMEOUT }
    }

    pub fn get(url: Url) -> Self {
        Self::new(Method::GET, url)
    }

    /// A POST of JSON text.
    pub fn post_json(url: Url, body: impl Into<Bytes>) -> Self {
        let mut request = Self::new(Method::POST, url);
        request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request.body = Some(body.into());
        request
    }

    /// `Authorization: Bearer …`, without the white space around a key that came from a file.
    pub fn bearer(self, key: &Secret) -> Result<Self, EgressError> {
        self.sensitive(header::AUTHORIZATION, format!("Bearer {}", key.expose().trim()))
    }

    /// A header that is the key itself, without the white space around it.
    pub fn secret(self, name: HeaderName, key: &Secret) -> Result<Self, EgressError> {
        self.sensitive(name, key.expose().trim().to_owned())
    }

    fn sensitive(self, name: HeaderName, value: String) -> Result<Self, EgressError> {
        let mut value =
            HeaderValue::try_from(value).map_err(|_| EgressError::Request("the key holds characters that no header may hold"))?;
        value.set_sensitive(true);
        Ok(self.header(name, value))
    }

    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// How long the response's headers may take, name lookup and connect included; also how long
    /// [`Response::bytes`](crate::Response::bytes) may take, counted from the same moment. A streamed body
    /// ([`Response::chunks`](crate::Response::chunks)) has its reader's own timer.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Host and port, for errors.
    pub(crate) fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Request({} {})", self.method, self.host())
    }
}
