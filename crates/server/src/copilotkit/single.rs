//! `POST /v1/copilotkit`: the same calls at one address, as `{method, params: {agentId, threadId}, body}`.

use std::borrow::Cow;

use axum::{
    extract::{Request, State},
    response::Response,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{connect, info, known, run, stop};
use crate::{
    app::{App, Caller},
    body,
    problem::{ApiError, excerpt},
    wire::read_body,
};

/// What an envelope may add to `limits.body_bytes`.
const ENVELOPE: usize = 4 * 1024;

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    params: Option<Params>,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    agent_id: Option<String>,
    thread_id: Option<String>,
}

pub(crate) async fn handler(State(app): State<App>, Caller(principal): Caller, request: Request) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    body::require_json(&parts.headers)?;
    let whole = body::read(&parts.headers, body, app.settings().body_bytes.saturating_add(ENVELOPE)).await?;
    let envelope: Envelope<'_> = read_body("call of CopilotKit's runtime", &whole)?;
    let params = envelope.params.unwrap_or_default();
    let inner = envelope.body.map(|raw| whole.slice_ref(raw.get().as_bytes())).unwrap_or_default();
    let method = envelope.method.unwrap_or_default();
    if method != "info" {
        known(&required("params.agentId", params.agent_id)?)?;
    }
    if method == "agent/run" {
        // Whether they are a member, the accept says.
        return run::of_envelope(app, principal, parts.headers, inner).await;
    }
    app.authenticator().member(&principal).await?;
    match &*method {
        "info" => Ok(info::respond(&app)),
        "agent/connect" => {
            let asked = connect::parse(&parts.headers, &inner)?;
            connect::respond(&app, &principal, asked).await
        }
        "agent/stop" => {
            let thread = required("params.threadId", params.thread_id)?;
            stop::respond(&app, &principal, &thread, &inner).await
        }
        other => {
            let known = "info, agent/run, agent/connect or agent/stop";
            Err(ApiError::input("method", format!("is \"{}\"; call {known}", excerpt(other, 40))))
        }
    }
}

fn required(path: &str, value: Option<String>) -> Result<String, ApiError> {
    value.ok_or_else(|| ApiError::input(path, "is missing"))
}
