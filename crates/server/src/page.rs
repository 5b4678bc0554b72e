//! Lists come in pages: `{items, nextCursor?}`, `limit` from 1 to 100, 20 if nothing is asked for.

use std::collections::HashMap;

use axum::{
    Json,
    extract::{Query, rejection::QueryRejection},
    http::header,
    response::{IntoResponse, Response},
};
use domain::Code;
use serde::Serialize;

use crate::problem::ApiError;

/// Most items of a page.
const MAX: u32 = 100;
const DEFAULT: u32 = 20;

/// The query as the extractor gives it.
pub(crate) type Asked = Result<Query<HashMap<String, String>>, QueryRejection>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    /// Absent: this is the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

impl<T: Serialize> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        ([(header::CACHE_CONTROL, "no-store")], Json(self)).into_response()
    }
}

pub(crate) fn query(asked: Asked) -> Result<HashMap<String, String>, ApiError> {
    let Query(query) =
        asked.map_err(|_| ApiError::new(Code::InvalidRequest, "the query cannot be read; encode it as a URL's query"))?;
    Ok(query)
}

/// The query's `limit`.
pub(crate) fn limit(query: &HashMap<String, String>) -> Result<u32, ApiError> {
    query.get("limit").map_or(Ok(DEFAULT), |text| size(text))
}

pub(crate) fn size(text: &str) -> Result<u32, ApiError> {
    match text.parse() {
        Ok(size @ 1..=MAX) => Ok(size),
        _ => Err(ApiError::new(Code::InvalidRequest, format!("limit is not a number from 1 to {MAX}"))),
    }
}

/// A cursor that no page gave.
pub(crate) fn bad_cursor(name: &str) -> ApiError {
    ApiError::new(Code::InvalidRequest, format!("{name} is not a cursor of this list; take the one that the page before gave"))
}
