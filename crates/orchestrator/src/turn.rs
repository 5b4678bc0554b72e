//! One run of a turn, in the order of the way: grounding, judge, (brief,) offer, model, interrupt, post-turn. A run that
//! goes on from another begins with what that one decided and with the results it waited for.
//!
//! It ends in exactly one of four ways: its end is stored and published; it is fenced and drops everything; the process
//! goes down and hands it back; the database is away and the lease runs out.
//! To add a step: a module here, called from [`Turn::steps`].

mod end;
mod failure;
mod grounding;
mod halt;
mod history;
mod ids;
mod interrupt;
mod judge;
mod model;
mod offer;
mod out;
mod persist;
mod post_turn;
mod prompt;
mod tools;

use std::sync::Arc;

use catalog::CallContext;
use domain::{
    ChatModel, ChatRequest, Decision, Effort, Event, FinishReason, Message, Principal, RunIdentity, RunInput, TokenUsage,
    ToolCall, ToolChoice, ToolName, ToolSpec, message::text_of,
};
use futures::{FutureExt, TryFutureExt};
use storage::{Claimed, History, ModelCall, RunLease, RunRecord, StepCommit};
use tokio::time::{Duration, Instant};

use self::{
    failure::Failure,
    halt::{Halt, Watch},
    history::Transcript,
    judge::Judgment,
    model::{Answer, Ask, End},
    offer::Shelf,
    out::Out,
    persist::persist,
    prompt::Context,
    tools::Bench,
};
pub(crate) use self::{ids::reply, prompt::Note};
use crate::{
    Asks, Parts, RoleDefinition,
    control::{RunControl, Stop},
    log::RunWriter,
};

/// Runs a claimed run to one of its ends.
pub(crate) async fn run(parts: &Parts, claimed: Claimed, writer: RunWriter, control: Arc<RunControl>) {
    let claimed_at = Instant::now();
    let limit = Duration::from_secs(parts.settings.limits.deadline_seconds);
    let input = claimed.record.input.clone().unwrap_or_default();
    let mut turn = Turn {
        parts,
        lease: &claimed.lease,
        record: &claimed.record,
        input: &input,
        watch: Watch { control: &control, deadline: claimed_at + limit },
        out: Out::new(writer),
        rows: Vec::new(),
        ledger: Vec::new(),
        usage: Vec::new(),
        calls: 0,
        step: claimed.record.steps,
        model: None,
    };
    let way = Box::pin(turn.steps()).await;
    Box::pin(turn.end(way, claimed_at)).await;
}

/// Steps 2 to 4 of a fresh run, if nobody judges and nothing is to be ranked: then they need nothing but its row.
pub(crate) fn decide_ahead(parts: &Parts, record: &RunRecord) -> Option<Decision> {
    let input = record.input.as_ref()?;
    let channel = parts.settings.channels.get(&record.channel)?;
    if parts.catalog.has_sources() {
        return None;
    }
    let judgment = judge::unjudged(&parts.roster);
    let role = parts.roster.get(&judgment.role)?;
    let shelf = Shelf {
        tools: parts.catalog.own(),
        channel: &channel.tools,
        client: &input.client_tools,
        commands: &parts.settings.commands,
        role,
    };
    Some(judgment.decision(role, shelf.offer_unranked()?, parts.roster.version()))
}

struct Turn<'a> {
    parts: &'a Parts,
    lease: &'a RunLease,
    record: &'a RunRecord,
    input: &'a RunInput,
    watch: Watch<'a>,
    out: Out,
    /// Rows and ledger of the current step, not stored yet.
    rows: Vec<Message>,
    ledger: Vec<ModelCall>,
    /// Of the whole run, one item a model.
    usage: Vec<TokenUsage>,
    /// Model calls of this attempt.
    calls: usize,
    /// The step that is under way, from 1.
    step: u32,
    /// The model that answered last.
    model: Option<String>,
}

/// How far a run came by itself.
enum Way {
    Replied(Reply),
    /// The client is to run these calls; everything else of the step is answered.
    Waits(Vec<ToolCall>),
}

/// A reply that is whole, or as whole as it gets.
struct Reply {
    finish: FinishReason,
    /// Why it is less than it could be, as a word for clients.
    note: Option<&'static str>,
}

/// What ends a run before it has a reply.
enum Early {
    Halted(Halt),
    Failed(Failure),
}

impl From<Halt> for Early {
    fn from(halt: Halt) -> Self {
        Self::Halted(halt)
    }
}

/// What is the same in every request of a run.
struct Frame<'a> {
    model: &'a dyn ChatModel,
    role: &'a RoleDefinition,
    tier: Effort,
    asks: Asks,
    shelf: Shelf<'a>,
    offered: Vec<ToolName>,
    specs: Vec<ToolSpec>,
    transcript: Transcript,
}

impl<'a> Turn<'a> {
    async fn steps(&mut self) -> Result<Way, Early> {
        if let Some(reason) = self.record.cancel {
            return Err(Halt::Stop(Stop::Cancel(reason)).into());
        }
        let parts = self.parts;
        let Some(model) = parts.model.as_deref() else { return Err(Early::Failed(Failure::no_model())) };
        let input = self.input;
        let grounding = grounding::ground(&input.grounding);
        let ctx = self.call_context();
        let tools = parts.catalog.mount(&ctx.principal).await;
        let channel = parts.settings.channels.get(&self.record.channel).cloned().unwrap_or_default();

        let limits = &parts.settings.limits;
        let (store, lease) = (&parts.store, self.lease);
        let history =
            persist(|| store.history(lease, limits.history_messages, limits.history_tokens.saturating_mul(4)).boxed()).await?;
        if self.record.steps > 0 {
            for call in persist(|| store.model_calls(&lease.run).err_into().boxed()).await? {
                self.count(&call);
            }
        }
        let judgment = self.judgment();
        let role = parts.roster.get(&judgment.role).unwrap_or_else(|| parts.roster.default_role());
        let shelf = Shelf {
            tools: &tools,
            channel: &channel.tools,
            client: &input.client_tools,
            commands: &parts.settings.commands,
            role,
        };
        let decision = self.decision(judgment, &shelf, &history).await?;
        if self.record.steps == 0 {
            interrupt::show_results(input, &history.messages, &mut self.out);
        }
        let mut transcript = Transcript::default();
        transcript.push(history.messages.iter().map(|stored| &stored.message));
        // Stable from one turn to the next: tools, system, and every message up to the last user message's own parts.
        // Stable from one step to the next: all that was sent before.
        transcript.add_context(
            Context {
                now_ms: parts.clock.now_ms(),
                zone: input.zone.as_deref(),
                grounding: grounding.as_ref(),
                earlier_left_out: history.truncated,
            }
            .render(),
        );
        let specs = shelf.specs(&decision.tools);
        let mut frame =
            Frame { model, role, tier: decision.tier, asks: channel.asks, shelf, offered: decision.tools, specs, transcript };
        loop {
            if let Some(halt) = self.watch.now() {
                return Err(halt.into());
            }
            self.step += 1;
            if let Some(way) = self.one_step(&mut frame, &ctx).await? {
                return Ok(way);
            }
        }
    }

    /// Step 2. A run that has a decision is never judged anew.
    fn judgment(&self) -> Judgment {
        match &self.record.decision {
            Some(decision) => Judgment::of(decision),
            None => judge::unjudged(&self.parts.roster),
        }
    }

    /// Steps 3 and 4. Of a stored decision's tools those that still may be offered; a new one is stored before the model
    /// is asked.
    async fn decision(&mut self, judgment: Judgment, shelf: &Shelf<'_>, history: &History) -> Result<Decision, Early> {
        if let Some(mut decision) = self.record.decision.clone() {
            decision.tools = shelf.still_offered(&decision.tools);
            return Ok(decision);
        }
        let query = history.messages.iter().rev().find_map(|row| match &row.message {
            Message::User { parts, .. } => Some(text_of(parts)),
            _ => None,
        });
        let tools = shelf.offer(&query.unwrap_or_default());
        let decision = judgment.decision(shelf.role, tools, self.parts.roster.version());
        let store = &self.parts.store;
        persist(|| store.decide_run(self.lease, &decision).boxed()).await?;
        Ok(decision)
    }

    /// One model call with its tool results; `None` if the run goes on.
    async fn one_step(&mut self, frame: &mut Frame<'_>, ctx: &CallContext) -> Result<Option<Way>, Early> {
        let limits = &self.parts.settings.limits;
        // A turn's last run only answers.
        let last = self.step > limits.steps || self.record.leg >= limits.runs_per_turn;
        if last {
            // It stays in the history where the model saw it, so that the next turn sends the same bytes.
            let note = self.note(Note::StepLimit.text());
            frame.transcript.push([&note]);
            self.rows.push(note);
        }
        let ask = Ask {
            model: frame.model,
            ids: &*self.parts.ids,
            offered: &frame.offered,
            request: self.request(frame, if last { ToolChoice::None } else { ToolChoice::Auto }),
            announce: self.model.is_none() && self.record.steps == 0,
        };
        let answer = Box::pin(model::ask(ask, &self.watch, &mut self.out)).await;
        self.count(&answer.ledger);
        self.calls += 1;
        self.model = Some(answer.model.name.clone());
        self.ledger.push(answer.ledger.clone());
        match answer.end {
            End::Done(_) if !answer.calls.is_empty() => {
                let open = self.run_calls(frame, answer, ctx).await?;
                Ok((!open.is_empty()).then_some(Way::Waits(open)))
            }
            End::Done(finish) => self.reply(answer, finish, last).map(|reply| Some(Way::Replied(reply))),
            End::Halted(halt @ (Halt::Stop(Stop::Fenced | Stop::Shutdown) | Halt::Down)) => Err(halt.into()),
            End::Halted(halt) => {
                self.keep_part(answer);
                Err(halt.into())
            }
            End::Broke(ref error) => {
                tracing::warn!(run = %self.lease.run, %error, "the model failed");
                let failure = Failure::of(error);
                self.keep_part(answer);
                Err(Early::Failed(failure))
            }
        }
    }

    /// Runs the calls of an answer. If the client is to run some of them, they are what the run ends waiting for, and the
    /// step is committed with its end; else it ends here.
    async fn run_calls(&mut self, frame: &mut Frame<'_>, answer: Answer, ctx: &CallContext) -> Result<Vec<ToolCall>, Early> {
        let bench = Bench {
            ids: &*self.parts.ids,
            policy: &self.parts.settings.policy,
            asks: frame.asks,
            limits: &self.parts.settings.limits,
            shelf: frame.shelf,
            offered: &frame.offered,
            ctx: ctx.clone(),
        };
        let results = Box::pin(tools::run(&bench, &answer.calls, &self.watch, &mut self.out)).await;
        self.rows.push(assistant(answer, Whole::Yes));
        self.rows.extend(results.rows);
        if let Some(halt) = results.halt {
            return Err(halt.into());
        }
        if !results.open.is_empty() {
            return Ok(results.open);
        }
        self.commit().await?;
        frame.transcript.push(&self.rows);
        self.rows.clear();
        self.ledger.clear();
        Ok(Vec::new())
    }

    /// The final answer, or why it is none.
    fn reply(&mut self, mut answer: Answer, finish: FinishReason, last: bool) -> Result<Reply, Early> {
        if answer.is_empty() {
            match finish {
                FinishReason::ContentFilter => return Err(Early::Failed(Failure::refused())),
                FinishReason::Length => return Err(Early::Failed(Failure::no_room())),
                // A model that still wants to call: the limit is a normal end, so it gets an answer of ours.
                _ if last => {
                    answer.text = Note::StepLimitAnswer.text();
                    self.out.say(Event::TextMessageStart { message_id: answer.message.clone(), role: "assistant".to_owned() });
                    self.out.say(Event::TextMessageContent { message_id: answer.message.clone(), delta: answer.text.clone() });
                    self.out.say(Event::TextMessageEnd { message_id: answer.message.clone() });
                }
                _ => return Err(Early::Failed(Failure::empty_answer())),
            }
        }
        self.rows.push(assistant(answer, Whole::Yes));
        let note = match finish {
            FinishReason::Length => Some(("length", Note::Length)),
            FinishReason::ContentFilter => Some(("content-filter", Note::ContentFilter)),
            FinishReason::Stop | FinishReason::ToolCalls => None,
        };
        if let Some((_, text)) = note {
            let row = self.note(text.text());
            self.rows.push(row);
        }
        Ok(Reply { finish, note: note.map(|(word, _)| word).or(last.then_some("step-limit")) })
    }

    /// What was said before the end came, its calls answered, so that the history stays whole.
    fn keep_part(&mut self, answer: Answer) {
        if answer.is_empty() {
            return;
        }
        let results = tools::answer_all(&*self.parts.ids, &answer.calls, Note::CallNeverRun, &mut self.out);
        self.rows.push(assistant(answer, Whole::No));
        self.rows.extend(results);
    }

    /// Ends the step: its rows, its ledger and its events together.
    async fn commit(&mut self) -> Result<(), Halt> {
        let step = StepCommit {
            step: self.step,
            messages: self.rows.clone(),
            calls: self.ledger.clone(),
            frames: self.out.writer().take(),
        };
        let (store, lease) = (&self.parts.store, self.lease);
        persist(|| store.commit_step(lease, &step).boxed()).await?;
        self.out.writer().kept();
        Ok(())
    }

    fn note(&self, text: String) -> Message {
        Message::Note { id: ids::message(&*self.parts.ids), text }
    }

    /// Adds a call to what the run used, by model.
    fn count(&mut self, call: &ModelCall) {
        if call.usage == TokenUsage::default() {
            return;
        }
        let of = |usage: &&mut TokenUsage| {
            usage.provider.as_ref() == Some(&call.provider) && usage.model.as_ref() == Some(&call.model)
        };
        match self.usage.iter_mut().find(of) {
            Some(usage) => usage.add(&call.usage),
            None => self.usage.push(TokenUsage {
                provider: Some(call.provider.clone()),
                model: Some(call.model.clone()),
                ..call.usage.clone()
            }),
        }
    }

    fn request(&self, frame: &Frame<'_>, tool_choice: ToolChoice) -> ChatRequest {
        let record = self.record;
        ChatRequest {
            identity: RunIdentity {
                org: record.org.clone(),
                user: record.user.clone(),
                thread: record.reference.thread_id.clone(),
                run: record.reference.id.clone(),
                key: record.reference.key.clone(),
                attempt: record.attempt,
                step: self.step,
                parent_run: record.parent_run.clone(),
                resume: self.input.resume.clone(),
                state: self.input.state.clone(),
            },
            system: frame.role.instructions.clone(),
            messages: frame.transcript.messages().to_vec(),
            tools: frame.specs.clone(),
            tool_choice,
            max_output_tokens: self.parts.settings.limits.output_tokens,
            effort: frame.tier,
            timeout: self.watch.left(),
        }
    }

    fn call_context(&self) -> CallContext {
        let record = self.record;
        CallContext {
            principal: Principal {
                org: record.org.clone(),
                user: record.user.clone(),
                channel: record.channel.clone(),
                name: self.input.name.clone(),
                locale: self.input.locale.clone(),
                zone: self.input.zone.clone(),
            },
            store: self.parts.store.clone().into(),
            clock: self.parts.clock.clone(),
            thread: record.reference.thread_id.clone(),
            run: record.reference.id.clone(),
            cancel: self.watch.control.cancel().child_token(),
        }
    }
}

/// Whether an answer came to its end.
enum Whole {
    Yes,
    No,
}

fn assistant(answer: Answer, whole: Whole) -> Message {
    Message::Assistant {
        id: answer.message,
        text: answer.text,
        reasoning: answer.reasoning,
        tool_calls: answer.calls,
        partial: matches!(whole, Whole::No),
    }
}

#[cfg(test)]
mod tests;
