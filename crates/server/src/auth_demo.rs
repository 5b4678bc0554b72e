//! `POST /v1/auth/demo` → `{token, expiresAt, user, organization}`: demo mode's token for whoever sits at this machine.

use std::time::Duration;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use domain::Code;
use serde::Serialize;

use crate::{app::App, auth::LOCAL, host, problem::ApiError, run::rfc3339};

/// No page of another origin may ask here, whatever `server.allowed_origins` says.
pub(crate) const PATH: &str = "/v1/auth/demo";
const TTL: Duration = Duration::from_secs(12 * 60 * 60);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    token: String,
    expires_at: String,
    user: &'static str,
    organization: &'static str,
}

pub(crate) async fn handler(State(app): State<App>, headers: HeaderMap) -> Result<Response, ApiError> {
    let token = app.authenticator().demo_token(TTL).ok_or_else(ApiError::not_found)?;
    let host = host::of(&headers).filter(|host| host::is_loopback(host));
    let host = host.ok_or_else(|| forbidden("demo tokens are only given at a loopback address, such as http://127.0.0.1"))?;
    if !host::is_own_origin(&headers, host, app.settings().public_url.as_ref()) {
        return Err(forbidden("demo tokens are only given to the server's own pages"));
    }
    let expires_at = rfc3339(token.expires_at.saturating_mul(1_000));
    let answer = Answer { token: token.text, expires_at, user: LOCAL, organization: LOCAL };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response())
}

fn forbidden(detail: &str) -> ApiError {
    ApiError::new(Code::Forbidden, detail)
}
