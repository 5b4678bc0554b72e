//! Runs that end waiting for their client's tools, and the answers they go on from.

mod answers;
mod cut_off;
mod races;
mod refusals;
mod shown;

use domain::{
    Answer, AnsweredBy, ClientToolStyle, Code, Event, InterruptKind, Limits, Message, Outcome, Part, Principal, RunInput,
    RunStatus, ToolCall,
};
use storage::{Accept, Accepted, Finish, NewInterrupt, NewMessage, Refusal, RunLease, RunRef, StepCommit, WhenBusy};

use crate::support::{Db, ada, assistant, call as model_call, finish, frame, id, key};

fn call(id_: &str) -> ToolCall {
    ToolCall { id: id(id_), name: id("get_location"), arguments: "{}".to_owned() }
}

/// An assistant's row with calls.
fn calling(message: &str, calls: &[&str]) -> Message {
    let Message::Assistant { id, text, .. } = assistant(message) else { unreachable!("that is what it makes") };
    let tool_calls = calls.iter().map(|name| call(name)).collect();
    Message::Assistant { id, text, reasoning: None, tool_calls, partial: false }
}

/// The end of a run whose one step is `row`, with these calls open.
fn end_waiting(row: Message, calls: &[&str]) -> Finish {
    let step = StepCommit { step: 1, messages: vec![row], calls: vec![model_call(1)], frames: frame(1, 2) };
    let open = |name: &&str| NewInterrupt {
        kind: InterruptKind::ClientTool,
        style: ClientToolStyle::Interrupt,
        call: call(name),
        cut_off: "told to stop".to_owned(),
    };
    Finish { interrupts: calls.iter().map(open).collect(), ..finish(RunStatus::Interrupted, step) }
}

async fn wait_for(db: &Db, lease: &RunLease, row: &str, calls: &[&str]) {
    db.store.finish(lease, &end_waiting(calling(row, calls), calls)).await.unwrap();
}

/// Run `r{number}` of message `m{number}` says `a{number}` and ends waiting for these calls.
async fn waits(db: &Db, thread: &str, number: u32, calls: &[&str]) -> RunRef {
    let run = db.say(&ada(), thread, &format!("r{number}"), &format!("m{number}")).await;
    wait_for(db, &db.claim_one().await, &format!("a{number}"), calls).await;
    run
}

fn row(call: &str, content: &str) -> Answer {
    Answer { call: id(call), content: content.to_owned(), error: false, by: AnsweredBy::Row }
}

fn resume(call: &str, content: &str) -> Answer {
    Answer { by: AnsweredBy::Resume(format!("client_tool_{call}")), ..row(call, content) }
}

/// A request that brings answers.
#[derive(Clone)]
struct Ask<'a> {
    who: Principal,
    thread: &'a str,
    run: &'a str,
    message: Option<&'a str>,
    replaces: Option<&'a str>,
    last_user: Option<&'a str>,
    answers: Vec<Answer>,
    limits: Limits,
    when_busy: WhenBusy,
    need_worker: bool,
}

impl<'a> Ask<'a> {
    fn new(run: &'a str, answers: impl Into<Vec<Answer>>) -> Self {
        Self {
            who: ada(),
            thread: "t",
            run,
            message: None,
            replaces: None,
            last_user: None,
            answers: answers.into(),
            limits: Limits { turns_per_minute: 60_000, queued_runs: 100_000, ..Limits::default() },
            when_busy: WhenBusy::Queue,
            need_worker: false,
        }
    }

    async fn send(&self, db: &Db) -> Accepted {
        let input = RunInput { resume: vec!["what the client said".to_owned()], ..RunInput::default() };
        let parts = vec![Part::Text { text: "text".to_owned() }];
        let message = self.message.map(|message| NewMessage { id: id(message), parts });
        let (replaces, last_user) = (self.replaces.map(id), self.last_user.map(id));
        let accept = Accept {
            principal: &self.who,
            thread: &id(self.thread),
            run: &id(self.run),
            thread_key: key(),
            run_key: key(),
            message: message.as_ref(),
            replaces: replaces.as_ref(),
            last_user: last_user.as_ref(),
            answers: &self.answers,
            cut_off: "cut off",
            parent_run: None,
            input: &input,
            limits: &self.limits,
            when_busy: self.when_busy,
            need_worker: self.need_worker,
        };
        db.store.accept(accept).await.unwrap()
    }

    async fn fresh(&self, db: &Db) -> RunRef {
        match self.send(db).await {
            Accepted::Fresh(run) => run,
            other => panic!("expected a fresh run, not {other:?}"),
        }
    }

    async fn settled(&self, db: &Db) -> RunRef {
        match self.send(db).await {
            Accepted::Settled(run) => run,
            other => panic!("expected the run that took the answers, not {other:?}"),
        }
    }

    /// Interrupts' ids with what is wrong with them.
    async fn faults(&self, db: &Db) -> Vec<(String, Code)> {
        match self.send(db).await {
            Accepted::Faulty(faults) => faults.into_iter().map(|fault| (fault.interrupt, fault.code)).collect(),
            other => panic!("expected faults, not {other:?}"),
        }
    }

    async fn refusal(&self, db: &Db) -> Refusal {
        match self.send(db).await {
            Accepted::Refused(refusal) => refusal,
            other => panic!("expected a refusal, not {other:?}"),
        }
    }
}

/// All interrupts, in the order of their calls: `call status`.
async fn interrupts(db: &Db) -> Vec<String> {
    let mut tx = db.store.read().await.unwrap();
    let rows = tx.rows("SELECT call_id, status FROM interrupts ORDER BY call_id, thread_key", &[]).await.unwrap();
    rows.iter().map(|row| format!("{} {}", row.get::<String>(0).unwrap(), row.get::<String>(1).unwrap())).collect()
}

/// Everything that accept may store, to show that nothing was.
async fn stored(db: &Db) -> (Vec<i64>, Vec<String>) {
    (db.counts().await, interrupts(db).await)
}

/// The result of a call as the owner sees it: content, and whether it is an error.
async fn result_of(db: &Db, thread: &str, call: &str) -> Option<(String, bool)> {
    let shown = db.store.hydrate(&ada(), &id(thread), None, None).await.unwrap();
    shown.messages.into_iter().find_map(|stored| match stored.message {
        Message::Tool { call: of, content, error, .. } if of.as_str() == call => Some((content, error)),
        _ => None,
    })
}

/// What a run's terminal event lists as still open.
async fn pending(db: &Db, run: &RunRef) -> Vec<String> {
    let frames = db.standing(run).await;
    let last = crate::support::events(frames.last().unwrap()).pop().unwrap();
    let Event::RunFinished { outcome: Some(Outcome::Success { pending_tool_call_ids }), .. } = last else {
        panic!("no end that lists calls: {last:?}")
    };
    pending_tool_call_ids.iter().map(ToString::to_string).collect()
}
