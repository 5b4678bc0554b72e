//! What differs between the generations of AG-UI clients: decided here, and nowhere else.
//!
//! Clients before 1.0 send no `protocolVersion` and check `outcome` strictly: they know neither `cancelled` nor
//! `pendingToolCallIds`, and a run that ends so fails in them (`ag-ui.md`, "Tolerance matrix").

use bytes::Bytes;
use domain::{Event, Outcome, Part, Source};
use serde_json::json;

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

/// Whether we speak this `protocolVersion`.
pub(crate) fn is_supported(version: &str) -> bool {
    version.starts_with("1.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(event: &str, legacy: &str) {
        let event = Bytes::copy_from_slice(event.as_bytes());
        assert_eq!(Dialect::of(Some("1.0")).terminal(event.clone()), event);
        assert_eq!(Dialect::of(None).terminal(event), legacy);
    }

    #[test]
    fn only_what_older_clients_refuse_is_changed() {
        check(
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}"#,
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","metadata":{"frontdesk":{"status":"cancelled"}}}"#,
        );
        check(
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["c"]}}"#,
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#,
        );
        for same in [
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[{"model":"m"}]}"#,
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[]}}"#,
            r#"{"type":"RUN_ERROR","message":"m","code":"internal"}"#,
            "not json",
        ] {
            check(same, same);
        }
    }
}
