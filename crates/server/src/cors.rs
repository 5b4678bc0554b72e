//! Cross-origin requests of browsers (the Fetch standard, 3.3): which pages may call the API, by `server.allowed_origins`.
//!
//! Who may call says nothing about who is asking: that is the bearer token's, which a page must hold. There are no
//! cookies, so credentials are never allowed. A page of ours needs none of this.

use std::sync::Arc;

use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use domain::Code;

use crate::{auth_demo, problem::ApiError};

const ANY: &str = "*";
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PATCH, DELETE");
/// Headers that clients are known to send; others a page asks for are allowed too.
const HEADERS: [&str; 5] = ["authorization", "content-type", "last-event-id", "x-run-id", "accept"];
/// Most further headers of one request.
const MAX_ASKED: usize = 32;
const EXPOSED: HeaderValue = HeaderValue::from_static("retry-after, www-authenticate");
/// Seconds; the longest that browsers keep to.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// Lays the rule over `router`; without origins it stays as it is.
pub(crate) fn layer<S: Clone + Send + Sync + 'static>(router: Router<S>, origins: &[String]) -> Router<S> {
    if origins.is_empty() {
        return router;
    }
    let origins: Arc<[String]> = origins.into();
    router.layer(middleware::from_fn(move |request: Request, next: Next| {
        let origins = origins.clone();
        async move { check(&origins, request, next).await }
    }))
}

async fn check(origins: &[String], request: Request, next: Next) -> Response {
    let is_open = request.uri().path() != auth_demo::PATH;
    let allowed = if is_open { allowed(request.headers(), origins) } else { None };
    let headers = request.headers();
    let is_preflight = request.method() == Method::OPTIONS
        && headers.contains_key(header::ORIGIN)
        && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match &allowed {
        _ if !is_preflight => next.run(request).await,
        Some(_) => preflight(headers),
        None => ApiError::new(Code::Forbidden, "this origin may not call here; server.allowed_origins names those that may")
            .into_response(),
    };
    let headers = response.headers_mut();
    // Also where nothing was allowed: a cache must not give that answer to an origin that is.
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = allowed {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        if !is_preflight {
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
    }
    response
}

/// What the answer to an allowed origin says: the origin itself, byte for byte, or that all are.
fn allowed(headers: &HeaderMap, origins: &[String]) -> Option<HeaderValue> {
    let mut sent = headers.get_all(header::ORIGIN).iter();
    let origin = sent.next().filter(|_| sent.next().is_none())?;
    if origins.iter().any(|one| one == ANY) {
        return Some(HeaderValue::from_static(ANY));
    }
    origins.iter().any(|one| one.as_bytes() == origin.as_bytes()).then(|| origin.clone())
}

fn preflight(asked: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed_headers(asked));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    response
}

/// The known ones, then what else was asked for as far as those are names of headers.
fn allowed_headers(asked: &HeaderMap) -> HeaderValue {
    let asked = asked.get_all(header::ACCESS_CONTROL_REQUEST_HEADERS).iter().filter_map(|value| value.to_str().ok());
    let names = asked.flat_map(|list| list.split(',')).filter_map(|name| name.trim().parse::<HeaderName>().ok());
    let mut all = HEADERS.join(", ");
    for name in names.filter(|name| !HEADERS.contains(&name.as_str())).take(MAX_ASKED) {
        all.push_str(", ");
        all.push_str(name.as_str());
    }
    HeaderValue::try_from(all).unwrap_or_else(|_| HeaderValue::from_static(HEADERS[0]))
}
