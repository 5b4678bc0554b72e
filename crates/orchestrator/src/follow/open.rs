//! What is open at a reader's place: texts, calls and thoughts that were begun and not ended, and the step's texts that
//! were.
//!
//! A bookmark notes it. If the process dies before what it showed was stored, nobody else knows what to end and what to
//! take back for a reader that comes back; without those ends RUN_FINISHED is not allowed (AG-UI 1.0, the client's
//! `verify` step), and an end of what is not open is not allowed either. The other way, to store every beginning before
//! it is shown, would cost a commit before each first word.

use std::sync::Arc;

use domain::{Bookmark, Event, MessageId, RunKey, ToolCallId, Verifier};

use crate::turn::reply;

#[derive(Debug, Default)]
pub(super) struct Open {
    spans: Vec<Span>,
    note: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Span {
    Text(MessageId),
    /// A text of the step that was ended: it does not stand before its step is stored.
    Said(MessageId),
    Call(ToolCallId),
    /// REASONING_START.
    Thought(MessageId),
    /// REASONING_MESSAGE_START.
    Speech(MessageId),
}

impl Open {
    /// What a bookmark of this attempt notes; pieces that say nothing are left out.
    pub(super) fn noted(note: &Arc<str>, run: &RunKey, attempt: i64) -> Self {
        let mut spans = Vec::new();
        for piece in note.split('~') {
            let Some((kind, id)) = piece.split_at_checked(1) else { continue };
            let message = || MessageId::parse(format!("msg_{id}")).ok();
            match kind {
                "t" => spans.extend(id.parse().ok().map(|step| Span::Text(reply(run, attempt, step)))),
                "s" => spans.extend(id.parse().ok().map(|step| Span::Said(reply(run, attempt, step)))),
                "m" => spans.extend(message().map(Span::Text)),
                "n" => spans.extend(message().map(Span::Said)),
                "c" => spans.extend(ToolCallId::parse(format!("call_{id}")).ok().map(Span::Call)),
                "h" => spans.extend(message().map(Span::Thought)),
                "r" => spans.extend(message().into_iter().flat_map(|id| [Span::Thought(id.clone()), Span::Speech(id)])),
                _ => {}
            }
        }
        Self { spans, note: note.clone() }
    }

    /// As a bookmark notes it.
    pub(super) fn note(&self) -> Arc<str> {
        self.note.clone()
    }

    /// The next event that is sent.
    pub(super) fn take(&mut self, line: &[u8], run: &RunKey, attempt: i64) {
        if !is_edge(line) {
            return;
        }
        match serde_json::from_slice::<Event>(line) {
            Ok(Event::TextMessageStart { message_id, .. }) => {
                // A step's first text is its reply: what was said before it has been stored.
                if step(&message_id, run, attempt).is_some() {
                    self.spans.retain(|span| !matches!(span, Span::Said(_)));
                }
                self.spans.push(Span::Text(message_id));
            }
            Ok(Event::ToolCallStart { tool_call_id, .. }) => self.spans.push(Span::Call(tool_call_id)),
            Ok(Event::ReasoningStart { message_id }) => self.spans.push(Span::Thought(message_id)),
            Ok(Event::ReasoningMessageStart { message_id, .. }) => self.spans.push(Span::Speech(message_id)),
            Ok(Event::TextMessageEnd { message_id }) => {
                self.close(&Span::Text(message_id.clone()));
                self.spans.push(Span::Said(message_id));
            }
            Ok(Event::ToolCallEnd { tool_call_id }) => self.close(&Span::Call(tool_call_id)),
            Ok(Event::ReasoningEnd { message_id }) => self.close(&Span::Thought(message_id)),
            Ok(Event::ReasoningMessageEnd { message_id }) => self.close(&Span::Speech(message_id)),
            _ => return,
        }
        let pieces: Vec<String> = self.spans.iter().filter_map(|span| self.piece(span, run, attempt)).collect();
        let note = pieces.join("~");
        // Dozens of calls at once: then nothing is said of them, for every event would carry it.
        self.note = if note.len() > Bookmark::MAX_OPEN { Arc::default() } else { note.into() };
    }

    fn close(&mut self, span: &Span) {
        self.spans.retain(|open| open != span);
    }

    /// A kind's letter and the id without its prefix; of a step's reply only the step. `None`: it cannot be said, or is
    /// said with another.
    fn piece(&self, span: &Span, run: &RunKey, attempt: i64) -> Option<String> {
        let of_text = |reply, other, id| match step(id, run, attempt) {
            Some(step) => Some((reply, step)),
            None => Some((other, id.as_str().strip_prefix("msg_")?)),
        };
        let (kind, id) = match span {
            Span::Text(id) => of_text('t', 'm', id)?,
            Span::Said(id) => of_text('s', 'n', id)?,
            Span::Call(id) => ('c', id.as_str().strip_prefix("call_")?),
            Span::Thought(id) if self.spans.contains(&Span::Speech(id.clone())) => ('r', id.as_str().strip_prefix("msg_")?),
            Span::Thought(id) => ('h', id.as_str().strip_prefix("msg_")?),
            Span::Speech(_) => return None,
        };
        id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then(|| format!("{kind}{id}"))
    }

    /// What is open, as the verifier of the order knows it.
    pub(super) fn verifier(&self) -> Verifier {
        let mut verifier = Verifier::started();
        for span in &self.spans {
            let event = match span.clone() {
                Span::Said(_) => continue,
                Span::Text(message_id) => Event::TextMessageStart { message_id, role: "assistant".to_owned() },
                Span::Call(tool_call_id) => {
                    Event::ToolCallStart { tool_call_id, tool_call_name: String::new(), parent_message_id: None }
                }
                Span::Thought(message_id) => Event::ReasoningStart { message_id },
                Span::Speech(message_id) => Event::ReasoningMessageStart { message_id, role: "reasoning".to_owned() },
            };
            // A note that names one twice means it once.
            let _ = verifier.accept(&event);
        }
        verifier
    }

    /// The step's texts.
    pub(super) fn texts(&self) -> impl Iterator<Item = &MessageId> {
        self.spans.iter().filter_map(|span| match span {
            Span::Text(id) | Span::Said(id) => Some(id),
            Span::Call(_) | Span::Thought(_) | Span::Speech(_) => None,
        })
    }
}

/// Which step's reply a text is, in digits.
fn step<'a>(id: &'a MessageId, run: &RunKey, attempt: i64) -> Option<&'a str> {
    let (_, digits) = id.as_str().rsplit_once('_')?;
    (reply(run, attempt, digits.parse().ok()?) == *id).then_some(digits)
}

/// Whether a stored event begins or ends something; the type always comes first.
fn is_edge(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(br#"{"type":""#) else { return false };
    let kind = rest.split(|byte| *byte == b'"').next().unwrap_or_default();
    kind.ends_with(b"_START") || kind.ends_with(b"_END")
}

#[cfg(test)]
#[path = "open/tests.rs"]
mod tests;
