//! A run's end: its last rows, its terminal event and its status in one commit, then readers see it.

use domain::{CancelReason, Code, Event, FinishReason, Outcome, RunStatus};
use futures::FutureExt;
use serde_json::{Value, json};
use storage::{Finish, NewInterrupt, StepCommit};
use tokio::time::Instant;

use super::{Early, Reply, Turn, Way, failure::Failure, halt::Halt, interrupt, persist::persist, post_turn, prompt::Note};
use crate::control::Stop;

/// A run's end before it is stored.
struct Ending {
    status: RunStatus,
    error: Option<(Code, String)>,
    note: Option<String>,
    /// Events nobody sees before the end is stored.
    last: Vec<Event>,
    terminal: Event,
    interrupts: Vec<NewInterrupt>,
}

impl Turn<'_> {
    /// The run's end, whichever it is.
    pub(super) async fn end(self, way: Result<Way, Early>, claimed_at: Instant) {
        let ending = match way {
            Ok(Way::Replied(reply)) => Ending {
                status: RunStatus::Completed,
                error: None,
                note: None,
                terminal: self.finished(None, Some(self.reply_metadata(&reply))),
                last: Vec::new(),
                interrupts: Vec::new(),
            },
            Ok(Way::Waits(calls)) => {
                let style = self.input.client_tool_style;
                let last = interrupt::announce(style, &calls);
                Ending {
                    status: RunStatus::Interrupted,
                    error: None,
                    note: None,
                    terminal: self
                        .finished(Some(style.outcome(&calls, &self.record.reference.id)), Some(self.metadata("tool_calls"))),
                    last,
                    interrupts: interrupt::rows(style, calls),
                }
            }
            Err(Early::Halted(Halt::Stop(Stop::Fenced))) => return,
            Err(Early::Halted(Halt::Stop(Stop::Shutdown))) => return self.hand_back().await,
            Err(Early::Halted(Halt::Down)) => return self.give_up(),
            Err(Early::Halted(Halt::Stop(Stop::Cancel(reason)))) => Ending {
                status: RunStatus::Cancelled,
                error: None,
                note: Some(stop_note(reason).text()),
                terminal: self.finished(Some(Outcome::Cancelled), Some(reason.metadata())),
                last: Vec::new(),
                interrupts: Vec::new(),
            },
            Err(Early::Halted(Halt::Deadline)) => self.failed(Failure::deadline(self.parts.settings.limits.deadline_seconds)),
            Err(Early::Failed(failure)) => self.failed(failure),
        };
        self.finish(ending, claimed_at).await;
    }

    async fn finish(mut self, ending: Ending, claimed_at: Instant) {
        if let Some(text) = ending.note {
            let note = self.note(text);
            self.rows.push(note);
        }
        self.out.close();
        let frames = match self.out.writer().seal(&ending.last, &ending.terminal) {
            Ok(frames) => frames,
            Err(error) => {
                tracing::error!(run = %self.lease.run, %error, "the end of the run was not allowed");
                return;
            }
        };
        let code = ending.error.as_ref().map(|(code, _)| *code);
        let finish = Finish {
            status: ending.status,
            error: ending.error,
            model: self.model.take(),
            interrupts: ending.interrupts,
            step: StepCommit {
                step: self.step,
                messages: std::mem::take(&mut self.rows),
                calls: std::mem::take(&mut self.ledger),
                frames,
            },
        };
        let (store, lease) = (&self.parts.store, self.lease);
        match persist(|| store.finish(lease, &finish).boxed()).await {
            Ok(()) => self.out.into_writer().publish(),
            Err(Halt::Down) => return self.give_up(),
            Err(_) => return,
        }
        post_turn::record(&post_turn::Ended {
            record: self.record,
            status: finish.status,
            code,
            calls: self.calls,
            usage: &self.usage,
            took: claimed_at.elapsed(),
        });
    }

    async fn hand_back(self) {
        let (store, lease) = (&self.parts.store, self.lease);
        if persist(|| store.hand_back(lease).boxed()).await == Err(Halt::Down) {
            self.give_up();
        }
    }

    fn give_up(&self) {
        tracing::error!(run = %self.lease.run, "the database is away; the run goes on once its lease ran out");
    }

    fn failed(&self, failure: Failure) -> Ending {
        Ending {
            status: RunStatus::Failed,
            terminal: Event::RunError {
                message: failure.message.clone(),
                code: Some(failure.code.as_str().to_owned()),
                usage: self.usage.clone(),
                metadata: None,
            },
            error: Some((failure.code, failure.message)),
            note: Some(failure.note),
            last: Vec::new(),
            interrupts: Vec::new(),
        }
    }

    fn finished(&self, outcome: Option<Outcome>, metadata: Option<Value>) -> Event {
        Event::RunFinished {
            thread_id: self.record.reference.thread_id.clone(),
            run_id: self.record.reference.id.clone(),
            outcome,
            usage: self.usage.clone(),
            metadata,
        }
    }

    fn metadata(&self, finish: &str) -> Value {
        let mut metadata = json!({ "tanstack": { "finishReason": finish } });
        if let Some(model) = &self.model {
            metadata["tanstack"]["model"] = json!(model);
        }
        metadata
    }

    fn reply_metadata(&self, reply: &Reply) -> Value {
        let finish = match reply.finish {
            FinishReason::Stop | FinishReason::ToolCalls => "stop",
            FinishReason::Length => "length",
            FinishReason::ContentFilter => "content_filter",
        };
        let mut metadata = self.metadata(finish);
        if let Some(note) = reply.note {
            metadata["frontdesk"] = json!({ "note": note });
        }
        metadata
    }
}

fn stop_note(reason: CancelReason) -> Note {
    match reason {
        CancelReason::Asked | CancelReason::Replaced => Note::Stopped,
        CancelReason::Unattended => Note::Left,
    }
}
