//! Running one call: membership, arguments, the tool, its result. Every end is a result the model can read.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt;
use serde_json::{Map, Value, json};

use crate::{Args, CallContext, Entry, Output, ToolError, entry::Operation, schema};

/// Largest integer that every JSON reader keeps exactly: 2^53 − 1 (RFC 7493).
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
/// Bytes of one call's argument text.
const MAX_ARGUMENT_BYTES: usize = 256 * 1024;

/// What a call may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallBounds {
    pub timeout: Duration,
    /// Bytes of the result the model sees.
    pub result_bytes: usize,
}

/// What the model reads: JSON, or JSON cut off with a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    pub content: String,
    pub error: bool,
}

impl CallResult {
    /// A call that did not work: `{"error": message}`.
    pub fn failed(message: &str) -> Self {
        Self { content: json!({ "error": message }).to_string(), error: true }
    }
}

impl Entry {
    /// Runs it with the raw argument text of the model. That it may run now is for the scope and the policy to say before.
    pub async fn call(&self, ctx: &CallContext, arguments: &str, bounds: CallBounds) -> CallResult {
        let result = match self.run(ctx, arguments, bounds).await {
            Ok(output) => CallResult { content: output.0.to_string(), error: false },
            Err(error) => CallResult::failed(&error.to_string()),
        };
        CallResult { content: cut(result.content, bounds.result_bytes), error: result.error }
    }

    async fn run(&self, ctx: &CallContext, arguments: &str, bounds: CallBounds) -> Result<Output, ToolError> {
        let name = &self.contract.name;
        let work = async {
            member(ctx).await?;
            let args = Value::Object(parse(arguments)?);
            if let Some(words) = schema::complaints(&self.input, &args) {
                return Err(ToolError::new(format!("the arguments do not fit: {words}")));
            }
            let Value::Object(args) = args else { unreachable!("it was made an object above") };
            match &self.operation {
                Operation::Call(tool) => tool.call(ctx, Args(args)).await,
                Operation::Source(source, tool) => source.call(ctx, tool, Args(args)).await,
                Operation::Apply(_) => Err(ToolError::new("it changes data, which only an approval does")),
            }
        };
        let guarded = AssertUnwindSafe(work).catch_unwind();
        let output = tokio::select! {
            biased;
            () = ctx.cancel.cancelled() => return Err(ToolError::new("the call was stopped before it ended")),
            done = tokio::time::timeout(bounds.timeout, guarded) => match done {
                Ok(Ok(output)) => output?,
                Ok(Err(_)) => {
                    tracing::error!(tool = %name, "a tool panicked");
                    return Err(ToolError::new("the tool failed unexpectedly"));
                }
                Err(_) => return Err(ToolError::new(format!("the tool did not answer within {} s", bounds.timeout.as_secs()))),
            },
        };
        if let Some(words) = self.output.as_ref().and_then(|output_schema| schema::complaints(output_schema, &output.0)) {
            // The words may quote the result, which is a person's data.
            tracing::error!(tool = %name, "a tool's result does not fit its contract");
            tracing::debug!(tool = %name, %words, "how it does not fit");
            return Err(ToolError::new("the tool's result does not fit its contract"));
        }
        Ok(output)
    }
}

/// Whether a call may be handed to the client that runs it: the person is a member, the arguments fit what the client
/// itself declared. A schema that cannot be read holds nothing. The words are for the model.
pub async fn check_client_call(ctx: &CallContext, schema: &Value, arguments: &str) -> Result<(), ToolError> {
    member(ctx).await?;
    let args = Value::Object(parse(arguments)?);
    let words = schema::compile(schema).ok().and_then(|schema| schema::complaints(&schema, &args));
    words.map_or(Ok(()), |words| Err(ToolError::new(format!("the arguments do not fit: {words}"))))
}

async fn member(ctx: &CallContext) -> Result<(), ToolError> {
    match ctx.store.store().membership(&ctx.principal).await {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(ToolError::new("the user is no longer a member of this organization; no tool may be used")),
        Err(error) => {
            tracing::warn!(%error, "membership cannot be checked");
            Err(ToolError::new("the user's membership cannot be checked right now; try again later"))
        }
    }
}

/// An object from what a model writes as arguments: nothing and `null` are no arguments, a JSON text inside a string
/// is read once more.
fn parse(text: &str) -> Result<Map<String, Value>, ToolError> {
    if text.len() > MAX_ARGUMENT_BYTES {
        return Err(ToolError::new(format!("the arguments have {} bytes, at most {MAX_ARGUMENT_BYTES} are taken", text.len())));
    }
    let bad = |error: serde_json::Error| ToolError::new(format!("the arguments are not valid JSON: {error}"));
    let read = |text: &str| if text.trim().is_empty() { Ok(Value::Null) } else { serde_json::from_str(text).map_err(bad) };
    let mut value = read(text)?;
    if let Value::String(inner) = &value {
        value = read(inner)?;
    }
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(map) => {
            for (key, value) in &map {
                safe(value, &mut vec![key.as_str()])?;
            }
            Ok(map)
        }
        _ => Err(ToolError::new("the arguments are not a JSON object")),
    }
}

/// Refuses numbers that other JSON readers, and the canonical form an approval is bound to, would change, and the one
/// character that a database takes in no text.
fn safe<'a>(value: &'a Value, path: &mut Vec<&'a str>) -> Result<(), ToolError> {
    match value {
        Value::Number(number) => {
            let unsafe_integer = match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(int), _, _) => int.unsigned_abs() > MAX_SAFE_INTEGER,
                (None, Some(_), _) => true,
                (None, None, Some(float)) => float.fract() == 0.0 && float.abs() > MAX_SAFE_INTEGER as f64,
                (None, None, None) => true,
            };
            if unsafe_integer {
                let place = path.join("/");
                return Err(ToolError::new(format!(
                    "at /{place}: integers beyond ±{MAX_SAFE_INTEGER} are not taken; send it as text"
                )));
            }
        }
        Value::Array(items) => {
            for item in items {
                path.push("[]");
                safe(item, path)?;
                path.pop();
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                path.push(key);
                safe(value, path)?;
                path.pop();
            }
        }
        Value::String(text) if text.contains('\0') => {
            return Err(ToolError::new(format!("at /{}: the character U+0000 is not taken", path.join("/"))));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
    Ok(())
}

/// At most `limit` bytes, the note included, cut between characters.
pub fn cut(content: String, limit: usize) -> String {
    if content.len() <= limit {
        return content;
    }
    let note = |kept: usize| format!("\n[cut: the first {kept} of {} bytes]", content.len());
    let mut kept = limit.saturating_sub(note(limit).len());
    while !content.is_char_boundary(kept) {
        kept -= 1;
    }
    let note = note(kept);
    let mut content = content;
    content.truncate(kept);
    content.push_str(&note);
    content
}

#[cfg(test)]
mod tests;
