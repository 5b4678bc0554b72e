//! What differs between the generations of AG-UI clients: decided here, and nowhere else, from what a request shows.
//!
//! Clients before 1.0 send no `protocolVersion` and check `outcome` strictly: they know neither `cancelled` nor
//! `pendingToolCallIds`, and a run that ends so fails in them (`ag-ui.md`, "Tolerance matrix"). TanStack's client, which
//! reads either, shows itself by its header `x-run-id`: only it can go on from an interrupt for its own tool.

use axum::http::HeaderMap;
use bytes::Bytes;
use domain::{ClientToolStyle, Event, Outcome, Part, RunId, Source};
use serde_json::json;

/// TanStack's name for a request's run.
const RUN_ID: &str = "x-run-id";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// AG-UI 1.x.
    One,
    /// 0.0.5x, CopilotKit, TanStack.
    Legacy,
}

impl Dialect {
    /// Of a request's (or a stored run's) `protocolVersion`.
    pub(crate) fn of(protocol: Option<&str>) -> Self {
        if protocol.is_some_and(is_supported) { Self::One } else { Self::Legacy }
    }

    /// Whether this client may read a part of a message. One that it does not know fails the whole event in it.
    pub(crate) fn reads(self, part: &Part) -> bool {
        let (Part::Image { source } | Part::Audio { source } | Part::Video { source } | Part::Document { source }) = part else {
            return true;
        };
        self == Self::One || !matches!(source, Source::File { .. })
    }

    /// The terminal event as this client may read it.
    pub(crate) fn terminal(self, json: Bytes) -> Bytes {
        if self == Self::One {
            return json;
        }
        match serde_json::from_slice::<Event>(&json) {
            Ok(event) => self.adapt(event).and_then(|event| serde_json::to_vec(&event).ok()).map_or(json, Bytes::from),
            Err(_) => json,
        }
    }

    /// `None`: it may go as it is.
    fn adapt(self, event: Event) -> Option<Event> {
        let Event::RunFinished { thread_id, run_id, outcome, usage, metadata } = event else { return None };
        let metadata = match outcome {
            Some(Outcome::Cancelled) => {
                let mut metadata = metadata.filter(serde_json::Value::is_object).unwrap_or_else(|| json!({}));
                metadata["frontdesk"]["status"] = json!("cancelled");
                Some(metadata)
            }
            Some(Outcome::Success { .. }) => metadata,
            Some(Outcome::Interrupt { .. }) | None => return None,
        };
        Some(Event::RunFinished { thread_id, run_id, outcome: None, usage, metadata })
    }
}

/// How the client of this request hears of its tools' calls; `configured` is `channels.web.client_tools`.
pub(crate) fn client_tool_style(headers: &HeaderMap, configured: ClientToolStyle) -> ClientToolStyle {
    if headers.contains_key(RUN_ID) { configured } else { ClientToolStyle::Universal }
}

/// The run of this request, as a client that comes back to a stream calls it.
pub(crate) fn run_of(headers: &HeaderMap) -> Option<RunId> {
    headers.get(RUN_ID)?.to_str().ok().and_then(|text| RunId::parse(text).ok())
}

/// RUN_STARTED or a run's end under the id a client gave it, also where its interrupts name it; else it would not know
/// them for its own.
pub(crate) fn renamed(json: Bytes, run: &RunId) -> Bytes {
    let Ok(mut event) = serde_json::from_slice::<Event>(&json) else { return json };
    match &mut event {
        Event::RunStarted { run_id, .. } => *run_id = run.clone(),
        Event::RunFinished { run_id, outcome, .. } => {
            *run_id = run.clone();
            if let Some(Outcome::Interrupt { interrupts }) = outcome {
                for interrupt in interrupts {
                    if let Some(bound) = interrupt.pointer_mut("/metadata/tanstack:interruptBinding/interruptedRunId") {
                        *bound = json!(run);
                    }
                }
            }
        }
        _ => return json,
    }
    serde_json::to_vec(&event).map_or(json, Bytes::from)
}

/// Whether we speak this `protocolVersion`.
pub(crate) fn is_supported(version: &str) -> bool {
    version.starts_with("1.")
}

#[cfg(test)]
#[path = "dialect/tests.rs"]
mod tests;
