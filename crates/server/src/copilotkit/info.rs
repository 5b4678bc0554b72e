//! `GET /v1/copilotkit/info`: which agents there are, and what they can do.
//!
//! It asks for the token like every other call: CopilotKit's client sends its application's headers with this one too,
//! and a token that does not count is better said here than at the first message.

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use domain::Limits;
use serde::Serialize;
use serde_json::{Value, json};

use super::AGENT;
use crate::{
    app::{App, Member},
    problem::ApiError,
};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const NAME: &str = "Frontdesk";
const DESCRIPTION: &str = "Answers in this application, in the role that fits the question.";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    version: &'static str,
    /// Runs are streams of server-sent events.
    mode: &'static str,
    agents: BTreeMap<&'static str, Agent>,
    /// A page of a self-hosted server reports nothing to anybody.
    telemetry_disabled: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Agent {
    name: &'static str,
    description: &'static str,
    class_name: &'static str,
    capabilities: Value,
}

pub(crate) async fn handler(State(app): State<App>, _: Member) -> Result<Response, ApiError> {
    Ok(respond(&app))
}

pub(super) fn respond(app: &App) -> Response {
    let capabilities = capabilities(&app.orchestrator().settings().limits);
    let agent = Agent { name: AGENT, description: DESCRIPTION, class_name: NAME, capabilities };
    let agents = BTreeMap::from([(AGENT, agent)]);
    let answer = Answer { version: VERSION, mode: "sse", agents, telemetry_disabled: true };
    ([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response()
}

/// AG-UI's capabilities (`ag-ui.md` 2.2): what is true whatever model answers. What depends on the model, such as which
/// attachments it reads, is left out, which means that nobody knows.
fn capabilities(limits: &Limits) -> Value {
    json!({
        "identity": { "name": NAME, "type": "frontdesk", "description": DESCRIPTION, "version": VERSION },
        "transport": {
            "streaming": true, "websocket": false, "httpBinary": false, "pushNotifications": false, "resumable": true
        },
        "tools": { "supported": true, "parallelCalls": true, "clientProvided": true },
        "output": { "structuredOutput": false },
        "state": { "snapshots": false, "deltas": false, "memory": false, "persistentState": false },
        "multiAgent": { "supported": false },
        "execution": {
            "codeExecution": false,
            "maxIterations": limits.steps,
            "maxExecutionTime": limits.deadline_seconds.saturating_mul(1_000),
        },
        "humanInTheLoop": { "supported": false },
    })
}
