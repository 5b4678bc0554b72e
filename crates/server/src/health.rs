//! `/healthz`: the process answers. `/readyz`: a message posted now would be run.

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;

use crate::app::App;

#[derive(Serialize)]
struct Answer {
    status: &'static str,
    checks: Checks,
}

#[derive(Serialize)]
struct Checks {
    database: &'static str,
    /// Done before the server listens.
    migrations: &'static str,
    /// At least one, in any process.
    workers: &'static str,
    /// For information: without one the server is ready to say so.
    model: &'static str,
}

pub(crate) async fn healthz() -> &'static str {
    "ok"
}

pub(crate) async fn readyz(State(app): State<App>) -> Response {
    let workers = app.store().live_workers().await;
    let (database, workers) = match workers {
        Ok(workers) if workers.is_empty() => ("ok", "none"),
        Ok(_) => ("ok", "ok"),
        Err(error) => {
            tracing::warn!(%error, "the database does not answer");
            ("unavailable", "unknown")
        }
    };
    let model = if app.orchestrator().model_configured() { "ok" } else { "unconfigured" };
    let (code, status) = match workers {
        "ok" => (StatusCode::OK, "ready"),
        _ => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
    };
    let answer = Answer { status, checks: Checks { database, migrations: "ok", workers, model } };
    let mut response = (code, [(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response();
    if code == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
    }
    response
}
