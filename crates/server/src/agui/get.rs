//! `GET /v1/agui`: `?runId=&offset=` joins a run's stream, `?threadId=` reopens a thread.

use std::collections::HashMap;

use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::{HeaderMap, Method},
    response::Response,
};
use domain::{Code, RunId, ThreadId};

use super::{
    hydrate,
    replay::{self, Place, bad_offset},
};
use crate::{
    app::{App, Member},
    offset,
    problem::ApiError,
};

pub(crate) async fn handler(
    State(app): State<App>,
    Member(principal): Member,
    method: Method,
    headers: HeaderMap,
    query: Result<Query<HashMap<String, String>>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(query) = query.map_err(|_| invalid("the query cannot be read; encode it as a URL's query"))?;
    let Some(run) = query.get("runId") else {
        let thread = query.get("threadId").ok_or_else(|| invalid("send threadId, or runId and offset"))?;
        let thread = ThreadId::parse(thread).map_err(|error| invalid(format!("threadId: {error}")))?;
        return hydrate::respond(&app, &principal, &thread, &query).await;
    };
    let run = RunId::parse(run).map_err(|error| invalid(format!("runId: {error}")))?;
    // An EventSource comes back to the same address with the place in the header.
    let header = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let place = match header.or(query.get("offset").map(String::as_str)).ok_or_else(bad_offset)? {
        "-1" => Place::Start,
        text => match offset::decode(text) {
            Some((of, mark)) if of == run => Place::After(mark),
            _ => return Err(bad_offset()),
        },
    };
    let reader = replay::reader(&headers)?;
    if method == Method::HEAD {
        // A reader that reads nothing would leave at once, and its leaving counts.
        replay::readable(&app, &principal, &run).await?;
        return Ok(crate::sse::response(axum::body::Body::empty()));
    }
    replay::follow(&app, &principal, &run, place, reader).await
}

fn invalid(detail: impl Into<String>) -> ApiError {
    ApiError::new(Code::InvalidRequest, detail)
}
