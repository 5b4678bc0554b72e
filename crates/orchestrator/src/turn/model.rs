//! Step 5: one model call. What the model says goes to the readers as it comes, and comes back whole.

mod draft;

use std::pin::pin;

use domain::{
    ChatEvent, ChatModel, ChatRequest, FinishReason, Ids, MessageId, ModelError, ModelRef, Reasoning, TokenUsage, ToolCall,
    ToolName,
};
use futures::StreamExt;
use storage::ModelCall;
use tokio::time::Instant;

use self::draft::Draft;
use super::{failure, halt::Halt, halt::Watch, ids::reply, out::Out};
use crate::control::Stop;

/// One question to a model.
pub(super) struct Ask<'a> {
    pub(super) model: &'a dyn ChatModel,
    pub(super) ids: &'a dyn Ids,
    /// What the run may call.
    pub(super) offered: &'a [ToolName],
    pub(super) request: ChatRequest,
    /// Nobody was told yet which model answers this run.
    pub(super) announce: bool,
}

/// What came of it, however it ended.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) message: MessageId,
    pub(super) text: String,
    pub(super) reasoning: Option<Reasoning>,
    /// Calls whose arguments may be half if the end is no [`End::Done`].
    pub(super) calls: Vec<ToolCall>,
    pub(super) model: ModelRef,
    pub(super) ledger: ModelCall,
    pub(super) end: End,
}

#[derive(Debug)]
pub(super) enum End {
    Done(FinishReason),
    Broke(ModelError),
    Halted(Halt),
}

impl Answer {
    /// Neither words nor calls.
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.calls.is_empty()
    }
}

/// Asks and listens to the end. The connection is closed by dropping the stream whenever the run must halt.
pub(super) async fn ask(ask: Ask<'_>, watch: &Watch<'_>, out: &mut Out) -> Answer {
    let asked = Instant::now();
    let step = ask.request.identity.step;
    let reply = reply(&ask.request.identity.key, ask.request.identity.attempt, step);
    let mut draft = Draft::new(&ask, reply, ask.model.model());
    let Ask { model, request, .. } = ask;
    let (end, usage, retries) = listen(model, request, watch, out, &mut draft).await;
    if !matches!(end, End::Halted(Halt::Stop(Stop::Fenced | Stop::Shutdown))) {
        draft.close(out);
    }
    let model = draft.model().clone();
    let ms = |instant: Instant| i64::try_from(instant.saturating_duration_since(asked).as_millis()).unwrap_or(i64::MAX);
    let ledger = ModelCall {
        step,
        provider: model.provider.clone(),
        model: model.name.clone(),
        usage,
        latency_ms: ms(Instant::now()),
        first_ms: draft.first().map(ms),
        retries,
        outcome: failure::outcome(&end).to_owned(),
    };
    draft.into_answer(ledger, end)
}

async fn listen(
    model: &dyn ChatModel,
    request: ChatRequest,
    watch: &Watch<'_>,
    out: &mut Out,
    draft: &mut Draft<'_>,
) -> (End, TokenUsage, u32) {
    let nothing = TokenUsage::default;
    let cancel = watch.control.cancel().child_token();
    let mut halt = pin!(watch.halt());
    let mut opening = model.stream(cancel, request);
    let mut stream = loop {
        tokio::select! {
            biased;
            halt = &mut halt => return (End::Halted(halt), nothing(), 0),
            () = out.due() => if let Err(halt) = out.flush().await {
                return (End::Halted(halt), nothing(), 0);
            },
            opened = &mut opening => match opened {
                Ok(stream) => break stream,
                Err(error) => return (broke(error, watch), nothing(), 0),
            },
        }
    };
    loop {
        tokio::select! {
            biased;
            halt = &mut halt => return (End::Halted(halt), nothing(), 0),
            () = out.due() => if let Err(halt) = out.flush().await {
                return (End::Halted(halt), nothing(), 0);
            },
            event = stream.next() => match event {
                Some(Ok(ChatEvent::Done { finish, usage, retries })) => return (End::Done(finish), usage, retries),
                Some(Ok(event)) => if let Err(error) = draft.take(event, out) {
                    return (End::Broke(error), nothing(), 0);
                },
                Some(Err(error)) => return (broke(error, watch), nothing(), 0),
                None => return (End::Broke(ModelError::Cut), nothing(), 0),
            },
        }
    }
}

/// The request's own time-out is the run's deadline: whichever of the two is noticed first.
fn broke(error: ModelError, watch: &Watch<'_>) -> End {
    match watch.now() {
        Some(halt) => End::Halted(halt),
        None => End::Broke(error),
    }
}
