//! What comes back to runs that ended waiting: tool messages and `resume`.

use std::borrow::Cow;

use domain::{Answer, AnsweredBy, IdError, InterruptKind, ToolCallId, ids::MAX_ID_CHARS};
use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{read, read_object, rows::Placed};
use crate::problem::{ApiError, excerpt};

/// Most entries of `resume`.
const MAX_RESUMES: usize = 256;

/// What a call of ours is called: `call_` and a ULID.
const PREFIX: &str = "call_";
const ULID: usize = 26;

/// What the model reads of a call that its person called off (`ag-ui.md`, recorded sequences).
const CANCELLED: &str = "Tool execution cancelled";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow)]
    interrupt_id: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

/// As a client's tool that threw is written in a payload. With more in it it is a result like others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Thrown<'a> {
    #[serde(borrow)]
    error: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Piece<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

/// The result a tool message holds; `None`: it is for no call of ours, or there is nothing to read in it.
pub(super) fn of_row(placed: &Placed<'_>) -> Option<Answer> {
    let call: String = serde_json::from_str(placed.row.tool_call_id?.get()).ok()?;
    let call = ToolCallId::parse(call).ok().filter(is_ours);
    let Some(call) = call else {
        tracing::debug!(index = placed.index, "a tool message is for no call of this server's; it is left out");
        return None;
    };
    let thrown = placed.row.error.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    let by = AnsweredBy::Row;
    Some(match thrown.filter(|text| !text.is_empty()) {
        Some(text) => Answer { call, content: thrown_content(&text), error: true, by },
        None => Answer { call, content: placed.row.content.map(content).unwrap_or_default(), error: false, by },
    })
}

fn is_ours(call: &ToolCallId) -> bool {
    call.as_str().strip_prefix(PREFIX).is_some_and(|ulid| ulid.len() == ULID && ulid.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// A text as it is, the texts of parts one after the other, anything else as its JSON.
fn content(raw: &RawValue) -> String {
    if let Ok(text) = serde_json::from_str::<String>(raw.get()) {
        return text;
    }
    match serde_json::from_str::<Vec<Piece<'_>>>(raw.get()) {
        Ok(pieces) => pieces.into_iter().filter_map(|piece| piece.text).collect(),
        Err(_) => raw.get().to_owned(),
    }
}

fn thrown_content(text: &str) -> String {
    json!({ "error": text }).to_string()
}

/// `resume[]`. An entry for an interrupt that is none of ours is an answer nothing waits for.
pub(super) fn resume(raw: &RawValue) -> Result<Vec<Answer>, ApiError> {
    let rows: Vec<&RawValue> = read("resume", raw)?;
    if rows.len() > MAX_RESUMES {
        return Err(ApiError::input("resume", format!("has {} entries; at most {MAX_RESUMES} are taken", rows.len())));
    }
    let mut answers: Vec<Answer> = Vec::with_capacity(rows.len());
    for (index, row) in rows.into_iter().enumerate() {
        let path = format!("resume[{index}]");
        let answer = entry(&path, read_object(&path, row)?)?;
        if answers.iter().any(|before| before.by == answer.by) {
            return Err(ApiError::input(&format!("{path}.interruptId"), "is there twice; answer each interrupt once"));
        }
        answers.push(answer);
    }
    Ok(answers)
}

fn entry(path: &str, entry: Entry<'_>) -> Result<Answer, ApiError> {
    let at = format!("{path}.interruptId");
    let id: String = read(&at, entry.interrupt_id.ok_or_else(|| ApiError::input(&at, "is missing"))?)?;
    let call = match InterruptKind::of(&id) {
        Some((InterruptKind::ClientTool, call)) => call,
        None => foreign(&id).map_err(|error| ApiError::input(&at, error))?,
    };
    let at = format!("{path}.status");
    let status: String = read(&at, entry.status.ok_or_else(|| ApiError::input(&at, "is missing"))?)?;
    let (content, error) = match status.as_str() {
        "resolved" => payload(entry.payload),
        "cancelled" => (thrown_content(CANCELLED), true),
        other => return Err(ApiError::input(&at, format!("is \"{}\", not resolved or cancelled", excerpt(other, 40)))),
    };
    Ok(Answer { call, content, error, by: AnsweredBy::Resume(id) })
}

/// A call that cannot exist, for an interrupt that does not: no call of ours begins like this.
fn foreign(id: &str) -> Result<ToolCallId, IdError> {
    ToolCallId::parse(id)?;
    ToolCallId::parse(format!("?{}", id.chars().take(MAX_ID_CHARS - 1).collect::<String>()))
}

fn payload(raw: Option<&RawValue>) -> (String, bool) {
    let Some(raw) = raw else { return ("null".to_owned(), false) };
    if raw.get().starts_with('{')
        && let Ok(thrown) = serde_json::from_str::<Thrown<'_>>(raw.get())
    {
        return (thrown_content(&thrown.error), true);
    }
    (raw.get().to_owned(), false)
}

#[cfg(test)]
#[path = "answers/tests.rs"]
mod tests;
