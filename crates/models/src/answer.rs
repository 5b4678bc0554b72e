//! One answer as it grows: what every wire says of it, bounded, and the one end it comes to.

use std::collections::VecDeque;

use domain::{ChatEvent, FinishReason, ModelError, ModelRef, TokenUsage};

use crate::{
    calls::{Calls, Delta},
    seal::Layout,
};

/// Most bytes of text, reasoning and seals of one answer.
pub(crate) const MAX_TEXT: usize = 4 * 1024 * 1024;

/// What has come so far.
#[derive(Debug)]
pub(crate) struct Answer {
    model: ModelRef,
    model_known: bool,
    out: VecDeque<ChatEvent>,
    calls: Calls,
    layout: Layout,
    bytes: usize,
    finish: Option<FinishReason>,
    done: bool,
    usage: TokenUsage,
}

impl Answer {
    /// `model`: which one was asked.
    pub(crate) fn new(model: ModelRef) -> Self {
        Self {
            model,
            model_known: false,
            out: VecDeque::new(),
            calls: Calls::default(),
            layout: Layout::default(),
            bytes: 0,
            finish: None,
            done: false,
            usage: TokenUsage::default(),
        }
    }

    /// The next event that nobody took yet.
    pub(crate) fn pop(&mut self) -> Option<ChatEvent> {
        self.out.pop_front()
    }

    /// Text, reasoning and calls so far, as a number that only grows.
    pub(crate) fn progress(&self) -> usize {
        self.bytes + self.calls.bytes()
    }

    /// Nothing that counts comes any more.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// The model has stopped; only the usage may still come.
    pub(crate) fn is_ended(&self) -> bool {
        self.done || self.finish.is_some()
    }

    /// The provider's name of the model; the first one counts.
    pub(crate) fn named(&mut self, name: &str) {
        if !self.model_known && !name.is_empty() {
            self.model_known = true;
            let name = name.chars().take(200).collect();
            self.out.push_back(ChatEvent::Model(ModelRef { provider: self.model.provider.clone(), name }));
        }
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<(), ModelError> {
        if text.is_empty() {
            return Ok(());
        }
        self.grow(text.len())?;
        self.layout.text(text.len());
        self.out.push_back(ChatEvent::Text(text.to_owned()));
        Ok(())
    }

    pub(crate) fn reasoning(&mut self, text: &str) -> Result<(), ModelError> {
        if text.is_empty() {
            return Ok(());
        }
        self.grow(text.len())?;
        self.layout.thinking(text.len());
        self.out.push_back(ChatEvent::Reasoning(text.to_owned()));
        Ok(())
    }

    pub(crate) fn call(&mut self, delta: &Delta<'_>) -> Result<(), ModelError> {
        let named = self.calls.named();
        self.calls.push(delta, &mut self.out)?;
        for _ in named..self.calls.named() {
            self.layout.call();
        }
        Ok(())
    }

    /// Where a seal goes: the order in which text, reasoning and calls came, with what the provider wants back.
    /// `bytes`: how much of that there is.
    pub(crate) fn sealing(&mut self, bytes: usize) -> Result<&mut Layout, ModelError> {
        self.grow(bytes)?;
        Ok(&mut self.layout)
    }

    pub(crate) fn calls(&self) -> &Calls {
        &self.calls
    }

    /// The first reason counts.
    pub(crate) fn finish(&mut self, reason: FinishReason) {
        self.finish.get_or_insert(reason);
    }

    pub(crate) fn done(&mut self) {
        self.done = true;
    }

    pub(crate) fn usage(&mut self) -> &mut TokenUsage {
        &mut self.usage
    }

    /// The last event: what ended it, or that it was cut. A seal is put before it.
    pub(crate) fn end(&mut self) -> Result<ChatEvent, ModelError> {
        if !self.is_ended() {
            return Err(ModelError::Cut);
        }
        if !self.calls.are_named() {
            return Err(ModelError::Protocol("a tool call without a name"));
        }
        if let Some(seal) = std::mem::take(&mut self.layout).sealed(&self.model) {
            self.out.push_back(ChatEvent::ReasoningSignature(seal));
        }
        let finish = match (self.finish.unwrap_or(FinishReason::Stop), self.calls.is_empty()) {
            (FinishReason::Stop, false) => FinishReason::ToolCalls,
            (FinishReason::ToolCalls, true) => FinishReason::Stop,
            (finish, _) => finish,
        };
        Ok(ChatEvent::Done { finish, usage: self.usage.clone(), retries: 0 })
    }

    fn grow(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_TEXT { Err(ModelError::Protocol("an answer of more than 4 MiB")) } else { Ok(()) }
    }
}
