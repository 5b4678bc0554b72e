//! The scripted provider as a [`ChatModel`] in the process, for trying the product without any other process.

use async_trait::async_trait;
use domain::{
    ChatEvent, ChatMessage, ChatModel, ChatRequest, ChatStream, FinishReason, ModelError, ModelRef, Part, TokenUsage, ToolChoice,
};
use futures::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use crate::script::{Act, Phase, Piece, Script};

/// Answers as [`Script`] says; gates are open.
#[derive(Debug, Clone, Copy)]
pub struct ScriptedModel;

#[async_trait]
impl ChatModel for ScriptedModel {
    fn model(&self) -> ModelRef {
        ModelRef { provider: "scripted".to_owned(), name: "scripted".to_owned() }
    }

    async fn stream(&self, cancel: CancellationToken, request: ChatRequest) -> Result<ChatStream, ModelError> {
        let phase = phase(&request);
        if let Some(refusal) = &phase.refusal {
            return Err(match refusal.status {
                429 => ModelError::RateLimited { retry_after: None },
                503 | 529 => ModelError::Overloaded { retry_after: None },
                status => ModelError::Invalid { status },
            });
        }
        if phase.hang_first {
            cancel.cancelled().await;
            return Err(ModelError::Idle);
        }
        let delay = phase.delay;
        let events = stream::iter(events(&phase)).then(move |event| async move {
            if !delay.is_zero() && matches!(event, Ok(ChatEvent::Text(_))) {
                tokio::time::sleep(delay).await;
            }
            event
        });
        Ok(events.take_until(cancel.cancelled_owned()).boxed())
    }
}

/// What is asked of the script.
fn phase(request: &ChatRequest) -> Phase {
    let last = request.messages.iter().rposition(|message| matches!(message, ChatMessage::User { .. })).unwrap_or(0);
    let user = match request.messages.get(last) {
        Some(ChatMessage::User { parts }) => text(parts),
        _ => String::new(),
    };
    let mut rounds = 0;
    let mut results = Vec::new();
    for message in request.messages.iter().skip(last + 1) {
        match message {
            ChatMessage::Assistant { .. } => {
                rounds += 1;
                results.clear();
            }
            ChatMessage::Tool { content, .. } => results.push(content.clone()),
            ChatMessage::User { .. } => {}
        }
    }
    let may_call = !request.tools.is_empty() && request.tool_choice != ToolChoice::None;
    match Script::parse(&user) {
        Some(script) => script.phase(rounds, &results, may_call),
        None => Phase::saying(&format!("You said: {user}")),
    }
}

fn text(parts: &[Part]) -> String {
    domain::message::text_of(parts)
}

/// The whole answer as events, ending in one `Done` or error.
fn events(phase: &Phase) -> Vec<Result<ChatEvent, ModelError>> {
    let mut out = Vec::new();
    let mut calls = 0;
    for (at, piece) in phase.pieces.iter().map(Some).chain([None]).enumerate() {
        for (_, act) in phase.acts.iter().filter(|(place, _)| *place == at) {
            match act {
                Act::Gate(_) => {}
                Act::Hang => out.push(Err(ModelError::Idle)),
                Act::Cut { .. } | Act::ErrorMid => out.push(Err(ModelError::Cut)),
            }
            if out.last().is_some_and(Result::is_err) {
                return out;
            }
        }
        match piece {
            Some(Piece::Text(text)) => out.push(Ok(ChatEvent::Text(text.clone()))),
            Some(Piece::Think(text)) => out.push(Ok(ChatEvent::Reasoning(text.clone()))),
            Some(Piece::Call { name, arguments }) => {
                out.push(Ok(ChatEvent::ToolCall { index: calls, name: name.clone() }));
                out.push(Ok(ChatEvent::ToolArguments { index: calls, delta: arguments.clone() }));
                calls += 1;
            }
            None => {}
        }
    }
    let finish = match (calls, phase.length) {
        (0, true) => FinishReason::Length,
        (0, false) => FinishReason::Stop,
        _ => FinishReason::ToolCalls,
    };
    out.push(Ok(ChatEvent::Done { finish, usage: TokenUsage::default(), retries: 0 }));
    out
}
