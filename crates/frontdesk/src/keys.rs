//! Fetching `auth.jwks` for the server, which builds no client.

use std::{sync::Arc, time::Duration};

use egress::{Client, HeaderValue, Reach, Request, StatusCode, header};
use server::{FetchKeys, MAX_KEY_SET_BYTES};

/// Name lookup, connection and the whole body. Whoever asks with a token may be waiting for it.
const TIMEOUT: Duration = Duration::from_secs(5);
const ACCEPT: HeaderValue = HeaderValue::from_static("application/jwk-set+json, application/json");

pub(crate) fn fetch() -> FetchKeys {
    // An operator's own issuer may be on loopback or in a private network.
    let client = Client::new(Reach::Anywhere);
    Arc::new(move |url| {
        let client = client.clone();
        Box::pin(async move {
            let request = Request::get(url).header(header::ACCEPT, ACCEPT).timeout(TIMEOUT);
            let response = client.send(request).await.map_err(|error| error.to_string())?;
            if response.status() != StatusCode::OK {
                return Err(format!("it answered {}, not 200", response.status().as_u16()));
            }
            response.bytes(MAX_KEY_SET_BYTES).await.map_err(|error| error.to_string())
        })
    })
}
