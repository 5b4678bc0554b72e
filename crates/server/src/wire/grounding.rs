//! What the screen reports: `forwardedProps.grounding`, then `context[]`, as sentences. Intake cuts them to size.

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{read, read_object};
use crate::problem::ApiError;

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Text(String),
    Source { source: Option<String>, title: Option<String>, facts: Option<Value>, text: Option<String> },
}

#[derive(Deserialize)]
struct Context {
    description: Option<String>,
    value: Option<Value>,
}

pub(crate) fn sentences(grounding: Option<&RawValue>, context: Option<&RawValue>) -> Result<Vec<String>, ApiError> {
    let mut sentences = Vec::new();
    if let Some(raw) = grounding {
        const PATH: &str = "forwardedProps.grounding";
        if raw.get().starts_with('[') {
            let rows: Vec<&RawValue> = read(PATH, raw)?;
            for (index, row) in rows.into_iter().enumerate() {
                entry(&format!("{PATH}[{index}]"), row, &mut sentences)?;
            }
        } else {
            entry(PATH, raw, &mut sentences)?;
        }
    }
    if let Some(raw) = context {
        for (index, row) in read::<Vec<&RawValue>>("context", raw)?.into_iter().enumerate() {
            let Context { description, value } = read_object(&format!("context[{index}]"), row)?;
            let value = value.as_ref().map(plain).unwrap_or_default();
            sentences.push(labelled(description.as_deref(), &value));
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    Ok(sentences)
}

fn entry(path: &str, raw: &RawValue, out: &mut Vec<String>) -> Result<(), ApiError> {
    let neither = || ApiError::input(path, "is neither a text nor {source, title?, facts or text}");
    if raw.get().starts_with('[') {
        return Err(neither());
    }
    let entry: Entry = read(path, raw).map_err(|_| neither())?;
    let (label, facts) = match entry {
        Entry::Text(text) => {
            out.push(text.trim().to_owned());
            return Ok(());
        }
        Entry::Source { source, title, facts, text } => (title.or(source), facts.or(text.map(Value::String))),
    };
    let label = label.as_deref();
    match facts {
        None => {}
        Some(Value::Array(facts)) => out.extend(facts.iter().map(|fact| labelled(label, &plain(fact)))),
        Some(Value::Object(facts)) => {
            out.extend(facts.iter().map(|(name, fact)| labelled(label, &format!("{name}: {}", plain(fact)))));
        }
        Some(fact) => out.push(labelled(label, &plain(&fact))),
    }
    Ok(())
}

fn labelled(label: Option<&str>, text: &str) -> String {
    match label.map(str::trim) {
        Some(label) if !label.is_empty() && !text.is_empty() => format!("{label}: {text}"),
        Some(label) if text.is_empty() => label.to_owned(),
        _ => text.to_owned(),
    }
}

/// Texts as they are, the rest as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
#[path = "grounding/tests.rs"]
mod tests;
