//! What a reader has to be told of an attempt that does not stand: which texts to close, which messages to forget.

use domain::{Event, MessageId, Verifier};
use serde_json::json;

use super::open::Open;

/// Name of the CUSTOM event that lists messages a reader was sent and that do not stand.
const SUPERSEDED: &str = "frontdesk.superseded";

/// The events of one attempt as far as one reader was sent them.
#[derive(Debug)]
pub(super) struct Past {
    /// The last event the reader was sent.
    sent: i64,
    /// The last event that is known: others were sent and never stored.
    known: i64,
    /// The last event of a committed step.
    committed: i64,
    open: Verifier,
    /// Assistant messages and where they began.
    messages: Vec<(i64, MessageId)>,
}

impl Past {
    pub(super) fn new(sent: i64) -> Self {
        Self { sent, known: 0, committed: 0, open: Verifier::started(), messages: Vec::new() }
    }

    /// The next event of the attempt.
    pub(super) fn event(&mut self, seq: i64, line: &[u8]) {
        if seq > self.sent {
            return;
        }
        self.known = self.known.max(seq);
        let Ok(event) = serde_json::from_slice::<Event>(line) else { return };
        let begun = match &event {
            Event::TextMessageStart { message_id, .. } => Some(message_id),
            Event::ToolCallStart { parent_message_id, .. } => parent_message_id.as_ref(),
            _ => None,
        };
        if let Some(id) = begun
            && !self.messages.iter().any(|(_, known)| known == id)
        {
            self.messages.push((seq, id.clone()));
        }
        // What a writer's own verifier let through.
        let _ = self.open.accept(&event);
    }

    /// Events up to `seq` stand.
    pub(super) fn committed(&mut self, seq: i64) {
        self.committed = self.committed.max(seq);
    }

    /// Everything the reader was sent is known.
    pub(super) fn is_whole(&self) -> bool {
        self.known >= self.sent
    }

    /// Some of what the reader was sent was never stored: what is open then, and what was said since, is as it was
    /// `noted` for the reader.
    pub(super) fn unseen(&mut self, noted: &Open) {
        self.open = noted.verifier();
        for id in noted.texts() {
            if !self.messages.iter().any(|(_, known)| known == id) {
                self.messages.push((self.sent, id.clone()));
            }
        }
    }

    /// The events that lead the reader over to the next attempt.
    pub(super) fn bridge(self) -> Vec<Event> {
        let mut events = self.open.closing();
        let gone: Vec<&MessageId> = self.messages.iter().filter(|(seq, _)| *seq > self.committed).map(|(_, id)| id).collect();
        if !gone.is_empty() {
            events.push(Event::custom(SUPERSEDED, json!({ "messageIds": gone })));
        }
        events
    }
}

#[cfg(test)]
#[path = "past/tests.rs"]
mod tests;
