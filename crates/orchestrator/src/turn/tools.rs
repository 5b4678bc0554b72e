//! Step 5, the model's calls: run them, show each result as it comes, answer every one but those the client runs.

use std::{borrow::Cow, pin::pin};

use catalog::{CallBounds, CallContext, CallResult, Entry, Policy, Question, Verdict, check_client_call};
use domain::{Effect, Event, Ids, Limits, Message, ToolCall, ToolName, crash};
use futures::{FutureExt, StreamExt, future::BoxFuture};
use serde_json::json;
use tokio::time::Duration;

use super::{
    halt::{Halt, Watch},
    history, ids,
    offer::{Found, Shelf},
    out::Out,
    prompt::Note,
};
use crate::{Asks, control::Stop};

/// Calls of a step that run at once.
const PARALLEL: usize = 8;

/// What the calls of a run may use.
pub(super) struct Bench<'a> {
    pub(super) ids: &'a dyn Ids,
    pub(super) policy: &'a Policy,
    pub(super) asks: Asks,
    pub(super) limits: &'a Limits,
    pub(super) shelf: Shelf<'a>,
    pub(super) offered: &'a [ToolName],
    pub(super) ctx: CallContext,
}

/// The tool rows of a step in the order of its calls, and what cut them short, if anything did.
pub(super) struct Results {
    pub(super) rows: Vec<Message>,
    /// Calls the client is to run: they have no row yet.
    pub(super) open: Vec<ToolCall>,
    pub(super) halt: Option<Halt>,
}

/// What became of a call here.
enum Outcome {
    Answered(CallResult),
    /// It is the client's to run.
    Open,
}

/// Whether a call of this effect may begin: nobody's run starts nothing that does more than look.
fn may_start(effect: Effect, unattended: bool) -> bool {
    effect == Effect::Read || !unattended
}

/// Runs all calls, a bounded number at a time. When the run must halt, those in flight are dropped and answered.
pub(super) async fn run(bench: &Bench<'_>, calls: &[ToolCall], watch: &Watch<'_>, out: &mut Out) -> Results {
    for call in calls {
        bench.narrate(call, out);
    }
    let mut rows: Vec<Option<Message>> = vec![None; calls.len()];
    let mut open = vec![false; calls.len()];
    let mut work: Vec<BoxFuture<'_, (usize, Outcome)>> = Vec::with_capacity(calls.len());
    for (place, call) in calls.iter().enumerate() {
        work.push(async move { (place, bench.call(call, watch).await) }.boxed());
    }
    let mut ends = futures::stream::iter(work).buffer_unordered(PARALLEL);
    let mut halt = pin!(watch.halt());
    let halted = loop {
        tokio::select! {
            biased;
            halt = &mut halt => break Some(halt),
            () = out.due() => if let Err(halt) = out.flush().await {
                break Some(halt);
            },
            end = ends.next() => match end {
                Some((place, Outcome::Answered(result))) => rows[place] = Some(answer(bench.ids, &calls[place], result, out)),
                Some((place, Outcome::Open)) => open[place] = true,
                None => break None,
            },
        }
    };
    if let Some(Halt::Stop(Stop::Fenced | Stop::Shutdown) | Halt::Down) = halted {
        // Nothing of this step will be stored; readers get it from who runs it next.
        return Results { rows: Vec::new(), open: Vec::new(), halt: halted };
    }
    let mut results = Results { rows: Vec::with_capacity(calls.len()), open: Vec::new(), halt: halted };
    for ((row, open), call) in rows.into_iter().zip(open).zip(calls) {
        match row {
            Some(row) => results.rows.push(row),
            None if open && results.halt.is_none() => results.open.push(as_object(call)),
            None => {
                let note = if open { Note::CallNeverRun } else { Note::CallCutOff };
                results.rows.push(answer(bench.ids, call, CallResult::failed(&note.text()), out));
            }
        }
    }
    results
}

/// The call as a client is told of it: its arguments an object, however the model wrote them.
fn as_object(call: &ToolCall) -> ToolCall {
    let arguments = history::object(&call.arguments).map_or_else(|| call.arguments.clone(), Cow::into_owned);
    ToolCall { arguments, ..call.clone() }
}

/// Answers calls that will never run.
pub(super) fn answer_all(ids: &dyn Ids, calls: &[ToolCall], note: Note, out: &mut Out) -> Vec<Message> {
    calls.iter().map(|call| answer(ids, call, CallResult::failed(&note.text()), out)).collect()
}

/// Shows a result and makes its row.
fn answer(ids: &dyn Ids, call: &ToolCall, result: CallResult, out: &mut Out) -> Message {
    let id = ids::message(ids);
    out.say(Event::ToolCallResult {
        message_id: id.clone(),
        tool_call_id: call.id.clone(),
        content: result.content.clone(),
        role: "tool".to_owned(),
    });
    Message::Tool { id, call: call.id.clone(), content: result.content, error: result.error }
}

impl Bench<'_> {
    /// The tool that is called, if the run was offered it.
    fn found(&self, call: &ToolCall) -> Option<Found<'_>> {
        self.offered.contains(&call.name).then(|| self.shelf.find(&call.name)).flatten()
    }

    /// Tells the client which texts to speak: the model cannot see when a call lands.
    fn narrate(&self, call: &ToolCall, out: &mut Out) {
        let Some(Found::Client { narration: Some(narration), .. }) = self.found(call) else { return };
        let mut value = json!({ "toolCallId": call.id, "calling": narration.calling });
        if let Some(done) = &narration.done {
            value["done"] = json!(done);
        }
        out.say(Event::custom("frontdesk.narration", value));
    }

    async fn call(&self, call: &ToolCall, watch: &Watch<'_>) -> Outcome {
        let Some(found) = self.found(call) else { return Outcome::Answered(self.unknown(&call.name)) };
        if !may_start(found.effect(), watch.control.unattended()) {
            return Outcome::Answered(CallResult::failed(&Note::Unattended.text()));
        }
        match (self.verdict(&call.name, &found), found) {
            (Verdict::Run, Found::Server(entry)) => Outcome::Answered(self.run(call, entry, watch).await),
            (Verdict::Run, Found::Client { tool, .. }) => {
                match check_client_call(&self.ctx, &tool.parameters, &call.arguments).await {
                    Ok(()) => Outcome::Open,
                    Err(error) => Outcome::Answered(CallResult::failed(&error.to_string())),
                }
            }
            // Nothing can be approved yet, so that nothing is written.
            (Verdict::Ask, _) => Outcome::Answered(CallResult::failed(&Note::ApprovalUnavailable.text())),
            (Verdict::RequiresHuman, _) => Outcome::Answered(requires_human()),
            (Verdict::Deny, _) => Outcome::Answered(CallResult::failed(&Note::Denied.text())),
        }
    }

    fn verdict(&self, name: &ToolName, found: &Found<'_>) -> Verdict {
        let role = self.shelf.role;
        let question = Question {
            tool: name,
            effect: found.effect(),
            origin: found.origin(),
            org: &self.ctx.principal.org,
            role: &role.name,
            tainted: false,
            can_ask: self.asks == Asks::People,
        };
        role.decide(self.policy, &question)
    }

    async fn run(&self, call: &ToolCall, entry: &Entry, watch: &Watch<'_>) -> CallResult {
        crash::point("tool.before");
        let bounds = CallBounds {
            timeout: Duration::from_secs(self.limits.tool_seconds).min(watch.left()),
            result_bytes: self.limits.tool_result_bytes,
        };
        let result = entry.call(&self.ctx, &call.arguments, bounds).await;
        crash::point("tool.after");
        result
    }

    /// What exists, for a name that does not.
    fn unknown(&self, name: &ToolName) -> CallResult {
        let names: Vec<&str> = self.offered.iter().map(ToolName::as_str).collect();
        let note = if names.is_empty() { Note::NoTools } else { Note::UnknownTool };
        CallResult::failed(&note.fill(&[("name", name.as_str()), ("tools", &names.join(", "))]))
    }
}

fn requires_human() -> CallResult {
    let content = json!({ "status": Verdict::RequiresHuman.as_str(), "message": Note::RequiresHuman.text() }).to_string();
    CallResult { content, error: false }
}
