//! `GET /v1/runs/{id}`: where a run of one's own is, what it cost, how it ended.

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
    http::header,
    response::{IntoResponse, Response},
};
use domain::{RoleName, RunId, RunStatus, ThreadId, TokenUsage};
use serde::Serialize;
use storage::{ModelCall, RunRecord};

use crate::{
    app::{App, Member},
    problem::ApiError,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    id: RunId,
    thread_id: ThreadId,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_run_id: Option<RunId>,
    status: RunStatus,
    attempt: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<RoleName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    usage: Vec<TokenUsage>,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

#[derive(Serialize)]
struct Failure {
    code: String,
    message: String,
}

pub(crate) async fn handler(
    State(app): State<App>,
    Member(principal): Member,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, ApiError> {
    let id = run_id(id)?;
    let record = app.store().run(&principal, &id).await?.ok_or_else(ApiError::run_not_found)?;
    let calls = app.store().model_calls(&record.reference.key).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(answer(record, &calls))).into_response())
}

/// The id of a path, percent-decoded once. What can be no id belongs to no run.
pub(crate) fn run_id(path: Result<Path<String>, PathRejection>) -> Result<RunId, ApiError> {
    let Path(id) = path.map_err(|_| ApiError::run_not_found())?;
    RunId::parse(id).map_err(|_| ApiError::run_not_found())
}

fn answer(record: RunRecord, calls: &[ModelCall]) -> Answer {
    Answer {
        id: record.reference.id,
        thread_id: record.reference.thread_id,
        parent_run_id: record.parent_run,
        status: record.status,
        attempt: record.attempt,
        role: record.decision.map(|decision| decision.role),
        model: record.model.or_else(|| calls.last().map(|call| call.model.clone())),
        usage: usage(calls),
        created_at: rfc3339(record.created_at),
        started_at: record.started_at.map(rfc3339),
        ended_at: record.ended_at.map(rfc3339),
        error: record.error.map(|(code, message)| Failure { code, message }),
    }
}

/// The ledger summed up: one entry a model, in the order they were asked first.
pub(crate) fn usage(calls: &[ModelCall]) -> Vec<TokenUsage> {
    let mut sums: Vec<TokenUsage> = Vec::new();
    for call in calls {
        let is_same =
            |sum: &&mut TokenUsage| sum.provider.as_ref() == Some(&call.provider) && sum.model.as_ref() == Some(&call.model);
        match sums.iter_mut().find(is_same) {
            Some(sum) => sum.add(&call.usage),
            None => sums.push(TokenUsage {
                provider: Some(call.provider.clone()),
                model: Some(call.model.clone()),
                ..call.usage.clone()
            }),
        }
    }
    sums
}

/// Milliseconds since the epoch as RFC 3339, UTC.
pub(crate) fn rfc3339(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339_in_utc() {
        assert_eq!(rfc3339(1_796_066_840_633), "2026-11-30T19:27:20.633Z");
        assert_eq!(rfc3339(1_796_066_840_000), "2026-11-30T19:27:20Z");
    }

    #[test]
    fn usage_is_summed_by_model() {
        let call = |model: &str, tokens| ModelCall {
            step: 1,
            provider: "p".to_owned(),
            model: model.to_owned(),
            usage: TokenUsage { input_tokens: Some(tokens), ..TokenUsage::default() },
            latency_ms: 1,
            first_ms: None,
            retries: 0,
            outcome: "ok".to_owned(),
        };
        let sums = usage(&[call("a", 1), call("b", 2), call("a", 4)]);
        let seen: Vec<_> = sums.iter().map(|sum| (sum.model.as_deref(), sum.input_tokens)).collect();
        assert_eq!(seen, [(Some("a"), Some(5)), (Some("b"), Some(2))]);
    }
}
