//! Answers that were not taken, as a run that begins and ends at once (`ag-ui.md` 3.2). Nothing of it is stored.

use domain::{Answer, AnsweredBy, Code, Event, InterruptFault, RunId, ThreadId};
use orchestrator::SubmitError;
use serde_json::{Value, json};

/// What a request named that its answers were refused of.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) thread: ThreadId,
    /// As the client knows it.
    pub(crate) run: RunId,
    /// The run that waited, as the client says: for what nothing waits for.
    pub(crate) parent_run: Option<RunId>,
    /// Ids of the interrupts it answered.
    pub(crate) interrupts: Vec<String>,
}

impl Asked {
    /// The ids of `answers` that are to interrupts.
    pub(crate) fn interrupts(answers: &[Answer]) -> Vec<String> {
        let ids = answers.iter().filter_map(|answer| match &answer.by {
            AnsweredBy::Resume(id) => Some(id.clone()),
            AnsweredBy::Row => None,
        });
        ids.collect()
    }
}

/// RUN_STARTED and RUN_ERROR.
pub(crate) fn events(asked: &Asked, error: &SubmitError) -> [Event; 2] {
    let started = Event::RunStarted {
        thread_id: asked.thread.clone(),
        run_id: asked.run.clone(),
        parent_run_id: None,
        protocol_version: None,
    };
    let metadata = json!({ "tanstack": {
        "runId": asked.run,
        "threadId": asked.thread,
        "interruptErrors": errors(asked, &error.faults),
    }});
    let failed = Event::RunError {
        message: error.detail.clone(),
        code: Some(error.code.as_str().to_owned()),
        usage: Vec::new(),
        metadata: Some(metadata),
    };
    [started, failed]
}

/// One entry a fault; what is missing of a run's batch is one entry that names the whole batch as it was sent: its client
/// compares the ids with those of its own submission, and reads none of the entries if one of them has no run.
fn errors(asked: &Asked, faults: &[InterruptFault]) -> Vec<Value> {
    let mut short: Vec<&RunId> = Vec::new();
    let mut errors = Vec::new();
    for fault in faults {
        let run = fault.run.as_ref().or(asked.parent_run.as_ref()).unwrap_or(&asked.run);
        let scope = if fault.code == Code::IncompleteBatch { "batch" } else { "item" };
        let mut error = json!({
            "scope": scope,
            "threadId": asked.thread,
            "interruptedRunId": run,
            "generation": 0,
            "code": fault.code.as_str(),
            "message": message(fault),
            "source": "server",
            "retryable": false,
        });
        if scope == "item" {
            error["interruptId"] = json!(fault.interrupt);
        } else if short.contains(&run) {
            continue;
        } else {
            short.push(run);
            error["interruptIds"] = json!(asked.interrupts);
        }
        errors.push(error);
    }
    errors
}

fn message(fault: &InterruptFault) -> String {
    let id = &fault.interrupt;
    match fault.code {
        Code::IncompleteBatch => format!("the run waits for {id} too; send all answers together"),
        Code::Conflict => format!("{id} was answered before, and differently"),
        Code::Stale => format!("the conversation went on without {id}"),
        _ => format!("nothing in this conversation waits for {id}"),
    }
}

#[cfg(test)]
#[path = "faults/tests.rs"]
mod tests;
