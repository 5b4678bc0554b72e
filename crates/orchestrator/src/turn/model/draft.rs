//! An answer while it is being written, and the events that show it.
//!
//! Thinking is closed before words, words before calls; a call hangs on a text message (an empty one if need be), so
//! that clients keep the true order of rows.

use domain::{ChatEvent, Event, Ids, MessageId, ModelError, ModelRef, Reasoning, ToolCall, ToolChoice, ToolName, crash};
use serde_json::json;
use storage::ModelCall;
use tokio::time::Instant;

use super::{Answer, Ask, End, Out};
use crate::turn::{ids, offer::called};

/// Bytes of one answer, thinking and arguments included.
const MAX_BYTES: usize = 1 << 20;

pub(super) struct Draft<'a> {
    ids: &'a dyn Ids,
    offered: &'a [ToolName],
    /// The id of the row and of the first text message.
    reply: MessageId,
    model: ModelRef,
    choice: ToolChoice,
    announce: bool,
    /// The text message that calls hang on, once there is one.
    message: Option<MessageId>,
    text: String,
    open_text: Option<MessageId>,
    reasoning: String,
    signature: Option<String>,
    open_reasoning: Option<MessageId>,
    calls: Vec<ToolCall>,
    /// Calls from here on are open on the wire.
    open_calls: usize,
    bytes: usize,
    first: Option<Instant>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(ask: &Ask<'a>, reply: MessageId, model: ModelRef) -> Self {
        Self {
            ids: ask.ids,
            offered: ask.offered,
            reply,
            model,
            choice: ask.request.tool_choice,
            announce: ask.announce,
            message: None,
            text: String::new(),
            open_text: None,
            reasoning: String::new(),
            signature: None,
            open_reasoning: None,
            calls: Vec::new(),
            open_calls: 0,
            bytes: 0,
            first: None,
        }
    }

    pub(super) fn model(&self) -> &ModelRef {
        &self.model
    }

    /// When the first word, thought or call came.
    pub(super) fn first(&self) -> Option<Instant> {
        self.first
    }

    pub(super) fn into_answer(self, ledger: ModelCall, end: End) -> Answer {
        let thought = !self.reasoning.is_empty() || self.signature.is_some();
        Answer {
            message: self.reply,
            text: self.text,
            reasoning: thought.then_some(Reasoning { text: self.reasoning, signature: self.signature }),
            calls: self.calls,
            model: self.model,
            ledger,
            end,
        }
    }

    /// One more piece; an error if there are too many.
    pub(super) fn take(&mut self, event: ChatEvent, out: &mut Out) -> Result<(), ModelError> {
        match event {
            ChatEvent::Text(delta) => {
                self.grow(delta.len())?;
                if delta.is_empty() {
                    return Ok(());
                }
                self.begin(out);
                self.end_reasoning(out);
                self.text.push_str(&delta);
                let message_id = self.text_message(out);
                out.say(Event::TextMessageContent { message_id, delta });
                self.begun();
            }
            ChatEvent::Reasoning(delta) => {
                self.grow(delta.len())?;
                if delta.is_empty() {
                    return Ok(());
                }
                self.begin(out);
                self.reasoning.push_str(&delta);
                let message_id = self.reasoning_message(out);
                out.say(Event::ReasoningMessageContent { message_id, delta });
                self.begun();
            }
            ChatEvent::ReasoningSignature(seal) => {
                self.grow(seal.len())?;
                self.signature.get_or_insert_default().push_str(&seal);
            }
            // A model that calls although it may not is not listened to.
            ChatEvent::ToolCall { .. } | ChatEvent::ToolArguments { .. } if self.choice == ToolChoice::None => {}
            ChatEvent::ToolCall { name, .. } => {
                self.grow(name.len())?;
                self.begin(out);
                self.end_reasoning(out);
                let parent = self.anchor(out);
                let name = called(self.offered, &name).cloned().unwrap_or_else(|| made_up(&name));
                let call = ToolCall { id: ids::call(self.ids), name, arguments: String::new() };
                out.say(Event::ToolCallStart {
                    tool_call_id: call.id.clone(),
                    tool_call_name: call.name.to_string(),
                    parent_message_id: Some(parent),
                });
                self.calls.push(call);
                self.begun();
            }
            ChatEvent::ToolArguments { index, delta } => {
                self.grow(delta.len())?;
                if let Some(call) = self.calls.get_mut(index).filter(|_| !delta.is_empty() && index >= self.open_calls) {
                    call.arguments.push_str(&delta);
                    out.say(Event::ToolCallArgs { tool_call_id: call.id.clone(), delta });
                }
            }
            ChatEvent::Model(model) => self.model = model,
            // The listener takes the end; what was tried before is counted in it.
            ChatEvent::Failed { .. } | ChatEvent::Done { .. } => {}
        }
        Ok(())
    }

    /// Ends what is open.
    pub(super) fn close(&mut self, out: &mut Out) {
        self.end_reasoning(out);
        self.end_text(out);
        self.end_calls(out);
    }

    fn grow(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_BYTES { Err(ModelError::Protocol("an answer of more than 1 MiB")) } else { Ok(()) }
    }

    /// Before the first piece: which model it is.
    fn begin(&mut self, out: &mut Out) {
        if std::mem::take(&mut self.announce) {
            let value = json!({ "provider": self.model.provider, "model": self.model.name });
            out.say(Event::custom("frontdesk.model", value));
        }
    }

    /// After the first piece.
    fn begun(&mut self) {
        if self.first.is_none() {
            self.first = Some(Instant::now());
            crash::point("model.first_token");
        }
    }

    /// The open text message. Words after calls get one of their own.
    fn text_message(&mut self, out: &mut Out) -> MessageId {
        if let Some(open) = &self.open_text {
            return open.clone();
        }
        self.end_calls(out);
        let id = if self.message.is_none() { self.reply.clone() } else { ids::message(self.ids) };
        self.message.get_or_insert_with(|| id.clone());
        self.open_text = Some(id.clone());
        out.say(Event::TextMessageStart { message_id: id.clone(), role: "assistant".to_owned() });
        id
    }

    /// The ended text message that calls hang on.
    fn anchor(&mut self, out: &mut Out) -> MessageId {
        let id = match &self.message {
            Some(id) => id.clone(),
            None => self.text_message(out),
        };
        self.end_text(out);
        id
    }

    fn end_text(&mut self, out: &mut Out) {
        if let Some(message_id) = self.open_text.take() {
            out.say(Event::TextMessageEnd { message_id });
        }
    }

    fn end_calls(&mut self, out: &mut Out) {
        for call in &mut self.calls[self.open_calls..] {
            if call.arguments.is_empty() {
                // Clients read the arguments of every call as JSON.
                call.arguments.push_str("{}");
                out.say(Event::ToolCallArgs { tool_call_id: call.id.clone(), delta: call.arguments.clone() });
            }
            out.say(Event::ToolCallEnd { tool_call_id: call.id.clone() });
        }
        self.open_calls = self.calls.len();
    }

    fn reasoning_message(&mut self, out: &mut Out) -> MessageId {
        if let Some(open) = &self.open_reasoning {
            return open.clone();
        }
        let id = ids::message(self.ids);
        self.open_reasoning = Some(id.clone());
        out.say(Event::ReasoningStart { message_id: id.clone() });
        out.say(Event::ReasoningMessageStart { message_id: id.clone(), role: "reasoning".to_owned() });
        id
    }

    fn end_reasoning(&mut self, out: &mut Out) {
        if let Some(message_id) = self.open_reasoning.take() {
            out.say(Event::ReasoningMessageEnd { message_id: message_id.clone() });
            out.say(Event::ReasoningEnd { message_id });
        }
    }
}

/// What a model made up, as far as it can be a name that every provider takes back.
fn made_up(name: &str) -> ToolName {
    let fit = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let fitting: String = name.chars().map(fit).take(64).collect();
    ToolName::parse(fitting).unwrap_or_else(|_| ToolName::parse("unnamed").expect("a valid literal"))
}
