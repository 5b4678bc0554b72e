//! AG-UI's JSON, in and out. Lenient in (nulls are absent, unknown keys ignored), strict out (nothing null).
//!
//! Nothing here does I/O: bodies in, values out, and back.

pub(crate) mod grounding;
pub(crate) mod input;
pub(crate) mod message;
pub(crate) mod snapshot;
pub(crate) mod transcript;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::problem::{ApiError, excerpt};

/// Longest piece of a parser's message said back, in characters: it may quote the request.
const SAID: usize = 160;

/// Reads `raw` as a `T`; `path` names it in the refusal.
pub(crate) fn read<'a, T: Deserialize<'a>>(path: &str, raw: &'a RawValue) -> Result<T, ApiError> {
    serde_json::from_str(raw.get()).map_err(|error| ApiError::input(path, excerpt(&without_place(&error), SAID)))
}

/// As [`read`], for what must be an object: a parser alone would take a list as the fields in their order.
pub(crate) fn read_object<'a, T: Deserialize<'a>>(path: &str, raw: &'a RawValue) -> Result<T, ApiError> {
    if raw.get().starts_with('{') { read(path, raw) } else { Err(ApiError::input(path, "is not an object")) }
}

/// A parser's message without its line and column, which would count from the piece, not from the body.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
