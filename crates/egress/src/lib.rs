//! The only place that builds an HTTP client.
//!
//! What every request gets: no redirects (a redirect would carry credentials to somebody else), no proxy (none is read
//! from the environment, `HTTP_PROXY`, `HTTPS_PROXY` and `ALL_PROXY` included: a proxy would connect past the address
//! filter), an address filter at connect ([`Reach`]), bounded waits and bounded bodies, TLS with ring and the system's
//! roots, gzip. What nothing here does: log, retry, or put a URL, a header or a body into an error.
//!
//! To send one more kind of request: build a [`Request`], hand it to [`Client::send`], read the [`Response`] with a bound.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod address;
mod client;
mod error;
mod request;
mod resolve;
mod response;

pub use address::is_public;
pub use client::{CONNECT_TIMEOUT, Client, Reach};
pub use error::EgressError;
pub use request::{DEFAULT_TIMEOUT, Request};
pub use response::{Chunks, Response};

pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
pub use url::Url;
