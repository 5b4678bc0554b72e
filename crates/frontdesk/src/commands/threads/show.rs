//! One thread as JSON and as a page of text.

use std::fmt::Write;

use domain::{Message, message};
use serde_json::{Value, json};
use storage::{ModelCall, StoredMessage, ThreadSummary, ThreadView, TurnView};

use crate::out;

pub(super) fn summary(thread: &ThreadSummary) -> Value {
    json!({
        "id": thread.id, "channel": thread.channel, "title": thread.title, "messages": thread.messages,
        "createdAt": out::time(thread.created_at), "updatedAt": out::time(thread.updated_at),
    })
}

pub(super) fn document(view: &ThreadView) -> Value {
    let message = |stored: &StoredMessage| {
        let mut value = serde_json::to_value(&stored.message).unwrap_or_default();
        if let Value::Object(fields) = &mut value {
            fields.insert("createdAt".to_owned(), out::time(stored.created_at).into());
        }
        value
    };
    json!({
        "thread": summary(&view.summary),
        "messages": view.messages.iter().map(message).collect::<Vec<_>>(),
        "runs": view.runs.iter().map(run).collect::<Vec<_>>(),
    })
}

fn run(turn: &TurnView) -> Value {
    let run = &turn.run;
    let error = run.error.as_ref().map(|(code, message)| json!({"code": code, "message": message}));
    json!({
        "id": run.reference.id, "parentRunId": run.parent_run, "channel": run.channel, "status": run.status.as_str(),
        "role": run.decision.as_ref().map(|decision| decision.role.as_str()), "model": run.model,
        "attempt": run.attempt, "failures": run.failures, "steps": run.steps, "error": error,
        "createdAt": out::time(run.created_at), "startedAt": run.started_at.map(out::time),
        "endedAt": run.ended_at.map(out::time),
        "calls": turn.calls.iter().map(call).collect::<Vec<_>>(),
    })
}

fn call(call: &ModelCall) -> Value {
    json!({
        "step": call.step, "provider": call.provider, "model": call.model,
        "inputTokens": call.usage.input_tokens, "outputTokens": call.usage.output_tokens,
        "totalTokens": call.usage.total_tokens, "cachedInputTokens": call.usage.cached_input_tokens,
        "reasoningTokens": call.usage.reasoning_tokens, "latencyMs": call.latency_ms, "firstMs": call.first_ms,
        "retries": call.retries, "outcome": call.outcome,
    })
}

pub(super) fn page(view: &ThreadView) -> String {
    let mut page = format!(
        "thread {}  {}  {} messages  {}\n",
        view.summary.id,
        view.summary.channel,
        view.summary.messages,
        out::time(view.summary.created_at)
    );
    // Writing to a String never fails.
    for stored in &view.messages {
        let _ = writeln!(page, "\n{}  {}", stored.message.role(), out::time(stored.created_at));
        for line in text(&stored.message).lines() {
            let _ = writeln!(page, "  {line}");
        }
    }
    for turn in &view.runs {
        let run = &turn.run;
        let role = run.decision.as_ref().map_or("-", |decision| decision.role.as_str());
        let model = run.model.as_deref().unwrap_or("-");
        let _ = writeln!(
            page,
            "\nrun {}  {}  role {role}  model {model}  attempt {}  steps {}",
            run.reference.id, run.status, run.attempt, run.steps
        );
        if let Some((code, message)) = &run.error {
            let _ = writeln!(page, "  {code}: {message}");
        }
        for call in &turn.calls {
            let _ = writeln!(page, "  {}", ledger(call));
        }
    }
    page.truncate(page.trim_end().len());
    page
}

fn ledger(call: &ModelCall) -> String {
    let number = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    let mut line = format!(
        "step {}  {} {}  tokens {} in, {} out",
        call.step,
        call.provider,
        call.model,
        number(call.usage.input_tokens),
        number(call.usage.output_tokens)
    );
    for (name, count) in [("cached", call.usage.cached_input_tokens), ("reasoning", call.usage.reasoning_tokens)] {
        if let Some(count) = count {
            let _ = write!(line, ", {count} {name}");
        }
    }
    let _ = write!(line, "  {} ms", call.latency_ms);
    if let Some(first) = call.first_ms {
        let _ = write!(line, ", first token {first} ms");
    }
    if call.retries > 0 {
        let _ = write!(line, ", {} retries", call.retries);
    }
    let _ = write!(line, "  {}", call.outcome);
    line
}

fn text(message: &Message) -> String {
    match message {
        Message::User { parts, .. } => message::text_of(parts),
        Message::Assistant { text, tool_calls, partial, .. } => {
            let mut lines = text.clone();
            for call in tool_calls {
                let _ = write!(lines, "\n[calls {} {} {}]", call.name, call.id, call.arguments);
            }
            if *partial {
                lines.push_str("\n[cut off]");
            }
            lines.trim_start_matches('\n').to_owned()
        }
        Message::Tool { call, content, error, .. } => {
            let word = if *error { "error" } else { "result" };
            format!("[{word} of {call}] {content}")
        }
        Message::Note { text, .. } => text.clone(),
    }
}
