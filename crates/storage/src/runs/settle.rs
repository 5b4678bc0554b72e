//! Answers to what runs ended waiting for: whole batches go on, parts are kept, the rest is told why not.

use std::collections::HashMap;

use domain::{
    Answer, AnsweredBy, Code, Event, InterruptFault, Message, Outcome, RunInput, RunKey, RunStatus, ThreadKey, ToolCallId,
};

use super::accept::{Halt, NewRun, Rate, count, insert_run};
use super::supersede::{active, next_position};
use crate::interrupts::{Settle, Status, Waiting};
use crate::row::{from_json, parsed};
use crate::{Accept, Accepted, Refusal, RunRef, StorageError, Tx, frames, interrupts};

/// Continuations of one person in a minute.
const CONTINUATIONS_A_MINUTE: u32 = 60;

/// How many of the newest answers are looked up if none of them is waited for.
const LOOK_BACK: usize = 64;

/// By call; a `resume` entry says more than the row that may come with it.
fn by_call(answers: &[Answer]) -> HashMap<&ToolCallId, &Answer> {
    let mut map: HashMap<&ToolCallId, &Answer> = HashMap::new();
    let (resumes, rows): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| is_resume(answer));
    for answer in resumes.into_iter().chain(rows) {
        map.entry(&answer.call).or_insert(answer);
    }
    map
}

pub(super) fn is_resume(answer: &Answer) -> bool {
    matches!(answer.by, AnsweredBy::Resume(_))
}

fn fault(waiting: &Waiting, code: Code) -> InterruptFault {
    InterruptFault { interrupt: waiting.open.kind.id(&waiting.open.call.id), code, run: Some(waiting.open.run.clone()) }
}

/// A `resume` entry must be for something that waits, or say again what was said. `waiting`: all that the thread waits
/// for.
pub(super) async fn check(tx: &mut Tx, thread: &ThreadKey, waiting: &[Waiting], answers: &[Answer]) -> Result<(), Halt> {
    let mut faults = Vec::new();
    for answer in answers {
        let AnsweredBy::Resume(id) = &answer.by else { continue };
        if waiting.iter().any(|waiting| waiting.open.call.id == answer.call) {
            continue;
        }
        match interrupts::find(tx, thread, &answer.call).await? {
            None => faults.push(InterruptFault { interrupt: id.clone(), code: Code::UnknownInterrupt, run: None }),
            Some(settled) if settled.status == Status::Answered => {
                if !is_same(tx, thread, answer).await? {
                    faults.push(fault(&settled, Code::Conflict));
                }
            }
            Some(settled) => faults.push(fault(&settled, Code::Stale)),
        }
    }
    let batches = waiting.iter().filter(|one| answers.iter().any(|answer| is_resume(answer) && answer.call == one.open.call.id));
    let batches: Vec<&RunKey> = batches.map(|waiting| &waiting.run).collect();
    let missing =
        waiting.iter().filter(|one| batches.contains(&&one.run) && !answers.iter().any(|answer| answer.call == one.open.call.id));
    faults.extend(missing.map(|waiting| fault(waiting, Code::IncompleteBatch)));
    if faults.is_empty() { Ok(()) } else { Err(Halt::Faulty(faults)) }
}

/// Whether the stored result of the call is this one.
async fn is_same(tx: &mut Tx, thread: &ThreadKey, answer: &Answer) -> Result<bool, StorageError> {
    let sql = "SELECT body FROM messages WHERE thread_key = $1 AND id = $2";
    let id = interrupts::result_id(&answer.call)?;
    let Some(row) = tx.row(sql, &[thread.as_str().into(), id.as_str().into()]).await? else { return Ok(false) };
    let stored: Message = from_json(&row.get::<String>(0)?)?;
    Ok(matches!(stored, Message::Tool { content, error, .. } if content == answer.content && error == answer.error))
}

/// A new message came: what it answers is settled, what it does not is cut off, what it writes anew waits no more.
pub(super) async fn close(
    tx: &mut Tx,
    accept: &Accept<'_>,
    thread: &ThreadKey,
    waiting: &[Waiting],
    anew: Option<i64>,
    now: i64,
) -> Result<(), StorageError> {
    let given = by_call(accept.answers);
    for one in waiting {
        if anew.is_some_and(|from| one.turn >= from) {
            interrupts::supersede(tx, thread, one, now).await?;
            continue;
        }
        let settle = match given.get(&one.open.call.id) {
            Some(answer) => Settle {
                waiting: one,
                status: Status::Answered,
                content: &answer.content,
                error: answer.error,
                by: Some(&accept.run_key),
            },
            None => cut_off(one, accept.cut_off),
        };
        interrupts::settle(tx, thread, settle, now).await?;
    }
    Ok(())
}

pub(super) fn cut_off<'a>(waiting: &'a Waiting, content: &'a str) -> Settle<'a> {
    Settle { waiting, status: Status::CutOff, content, error: true, by: None }
}

/// There is no new message: the run that waits goes on once all it waits for is there.
pub(super) async fn go_on(tx: &mut Tx, accept: &Accept<'_>, now: i64) -> Result<Accepted, Halt> {
    let Some(thread) = lock_known_thread(tx, accept).await? else { return nothing_waits(tx, None, accept).await };
    let others = active(tx, &thread).await?;
    let waiting = interrupts::open(tx, &thread).await?;
    check(tx, &thread, &waiting, accept.answers).await?;
    let given = by_call(accept.answers);
    // Of several runs that wait the newest goes on first; the client sends the others' results again.
    let Some(first) = waiting.iter().rev().find(|one| given.contains_key(&one.open.call.id)) else {
        return nothing_waits(tx, Some(&thread), accept).await;
    };
    count(tx, accept, Rate { kind: "continuations", a_minute: CONTINUATIONS_A_MINUTE }, now).await?;
    let batch: Vec<&Waiting> = waiting.iter().filter(|one| one.run == first.run).collect();
    let mut rest = Vec::new();
    let mut input = RunInput { resume: Vec::new(), ..accept.input.clone() };
    for one in &batch {
        let Some(answer) = given.get(&one.open.call.id) else {
            rest.push(one.open.call.id.clone());
            continue;
        };
        input.resume.push(one.open.kind.id(&one.open.call.id));
        let settle = Settle {
            waiting: one,
            status: Status::Answered,
            content: &answer.content,
            error: answer.error,
            by: Some(&accept.run_key),
        };
        interrupts::settle(tx, &thread, settle, now).await?;
    }
    let run = RunRef { key: accept.run_key.clone(), id: accept.run.clone(), thread, thread_id: accept.thread.clone() };
    let whole = rest.is_empty();
    let new = NewRun {
        status: if whole { RunStatus::Queued } else { RunStatus::Interrupted },
        turn: first.turn,
        message: &first.message,
        position: next_position(&others, now),
        parent: Some(&first.open.run),
        leg: if whole { first.leg + 1 } else { first.leg },
        continues: Some(&first.run),
        decision: first.decision.as_deref(),
        input: &input,
    };
    insert_run(tx, accept, &run, new, now).await?;
    if !whole {
        let end = Event::RunFinished {
            thread_id: run.thread_id.clone(),
            run_id: run.id.clone(),
            outcome: Some(Outcome::Success { pending_tool_call_ids: rest }),
            usage: Vec::new(),
            metadata: None,
        };
        frames::insert_terminal(tx, &run.key, 1, &end).await?;
    }
    Ok(Accepted::Fresh(run))
}

async fn lock_known_thread(tx: &mut Tx, accept: &Accept<'_>) -> Result<Option<ThreadKey>, StorageError> {
    let sql = "SELECT key FROM threads WHERE org_id = $1 AND owner_id = $2 AND id = $3 FOR UPDATE";
    let principal = accept.principal;
    let params = [principal.org.as_str().into(), principal.user.as_str().into(), accept.thread.as_str().into()];
    tx.row(sql, &params).await?.map(|row| parsed(&row, 0)).transpose()
}

/// Answers that were taken before belong to the run that took them; what was cut off is stale.
async fn nothing_waits(tx: &mut Tx, thread: Option<&ThreadKey>, accept: &Accept<'_>) -> Result<Accepted, Halt> {
    let Some(thread) = thread else { return Err(Refusal::NothingWaits.into()) };
    let mut taken: Option<RunKey> = None;
    let mut stale = Vec::new();
    for answer in accept.answers.iter().rev().take(LOOK_BACK) {
        match interrupts::find(tx, thread, &answer.call).await? {
            Some(Waiting { status: Status::Answered, settled_by: Some(run), .. }) => taken = taken.max(Some(run)),
            Some(waiting) => stale.push(fault(&waiting, Code::Stale)),
            None => {}
        }
    }
    if let Some(key) = taken {
        let sql = "SELECT id FROM runs WHERE key = $1";
        let row = tx.row(sql, &[key.as_str().into()]).await?;
        if let Some(row) = row {
            let id = parsed(&row, 0)?;
            return Ok(Accepted::Settled(RunRef { key, id, thread: thread.clone(), thread_id: accept.thread.clone() }));
        }
    }
    if stale.is_empty() { Err(Refusal::NothingWaits.into()) } else { Err(Halt::Faulty(stale)) }
}
