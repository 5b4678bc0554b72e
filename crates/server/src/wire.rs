//! AG-UI's JSON, in and out. Lenient in (nulls are absent, unknown keys ignored), strict out (nothing null).
//!
//! Nothing here does I/O: bodies in, values out, and back.

mod answers;
pub(crate) mod faults;
mod grounding;
pub(crate) mod input;
mod message;
mod rows;
pub(crate) mod snapshot;
pub(crate) mod transcript;

use domain::Code;
use serde::Deserialize;
use serde_json::{error::Category, value::RawValue};

use crate::problem::{ApiError, excerpt};

/// Longest piece of a parser's message said back, in characters: it may quote the request.
const SAID: usize = 160;

/// Reads `raw` as a `T`; `path` names it in the refusal.
pub(crate) fn read<'a, T: Deserialize<'a>>(path: &str, raw: &'a RawValue) -> Result<T, ApiError> {
    serde_json::from_str(raw.get()).map_err(|error| ApiError::input(path, excerpt(&without_place(&error), SAID)))
}

/// Reads a whole body, which must be an object; `what` says what it is not if it is other JSON.
pub(crate) fn read_body<'a, T: Deserialize<'a>>(what: &str, body: &'a [u8]) -> Result<T, ApiError> {
    let value = serde_json::from_slice(body).map_err(|error| unreadable(what, &error))?;
    // A list as long as the object would be read as its fields.
    if body.trim_ascii_start().starts_with(b"{") { Ok(value) } else { Err(ApiError::input("the body", "is not an object")) }
}

fn unreadable(what: &str, error: &serde_json::Error) -> ApiError {
    match error.classify() {
        Category::Data => {
            ApiError::new(Code::InvalidInput, format!("the body is no {what}: {}", excerpt(&error.to_string(), SAID)))
        }
        Category::Eof | Category::Syntax | Category::Io => {
            let place = format!("line {}, column {}", error.line(), error.column());
            let detail = format!("the body is not JSON: {} ({place})", excerpt(&without_place(error), SAID));
            ApiError::new(Code::InvalidJson, detail)
        }
    }
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
