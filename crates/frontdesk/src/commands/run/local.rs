//! In this process, on the store: submits, brings a worker for its own thread, reads to the end.

use std::time::Duration;

use domain::{Message, Part, Principal, RunInput, RunStatus};
use futures::StreamExt;
use orchestrator::{From, ItemKind, Reader, Submission, WorkScope};
use storage::{NewMessage, RunRef};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::ask::{Ask, End, How, STOPPING, Show};
use crate::{App, Exit, Failure, commands::Person, out, program::Program, signals::Stages};

/// After the answer: what else of the thread the worker took is handed back instead of waited for.
const GRACE: Duration = Duration::from_secs(1);

/// Rows looked at for the answer.
const ROWS: u32 = 100;

pub(super) async fn run(mut program: Program, person: Person, ask: Ask) -> Result<Exit, Failure> {
    let stages = Stages::on_signals()?;
    program.config.worker.grace = GRACE;
    let principal = person.principal()?;
    let (app, config) = program.app().await?;
    if !app.orchestrator.model_configured() {
        // A named provider without its key is not the same as no provider.
        config
            .warnings
            .iter()
            .filter(|warning| warning.code == "missing-key")
            .for_each(|warning| out::note(&warning.to_string()));
    }
    if config.auth.is_demo() {
        server::ensure_local(app.store()).await?;
    }
    let result = Box::pin(converse(&app, &principal, &ask, &stages)).await;
    app.close(&stages).await;
    match result? {
        Some(end) => ask.conclude(end),
        None => Ok(Exit::Interrupted),
    }
}

/// `None`: interrupted twice, left at once.
async fn converse(app: &App, principal: &Principal, ask: &Ask, stages: &Stages) -> Result<Option<End>, Failure> {
    let submission = Submission {
        thread: ask.thread.clone(),
        run: ask.run.clone(),
        message: Some(NewMessage { id: ask.message.clone(), parts: vec![Part::Text { text: ask.text.clone() }] }),
        replaces: None,
        last_user: None,
        answers: Vec::new(),
        parent_run: None,
        input: RunInput { protocol: Some("1.0".to_owned()), ..RunInput::default() },
        need_worker: false,
    };
    let ticket = Box::pin(app.orchestrator.submit(principal, submission)).await;
    let run = ticket.map_err(|error| Failure::refused(error.code, &error.detail))?.run;
    let stop = CancellationToken::new();
    let working = Box::pin(app.orchestrator.work(WorkScope::Thread(run.thread.clone()), stop.clone()));
    let reading = async {
        let read = Box::pin(read(app, principal, &run, ask, stages)).await;
        stop.cancel();
        read
    };
    let how = tokio::select! {
        (how, ()) = async { tokio::join!(reading, working) } => how?,
        () = stages.cut.cancelled() => return Ok(None),
    };
    let answer = answer(app, principal, &run).await?;
    Ok(Some(End { how, answer }))
}

/// Follows the run to its end. The first Ctrl-C cancels it and goes on reading.
async fn read(app: &App, principal: &Principal, run: &RunRef, ask: &Ask, stages: &Stages) -> Result<How, Failure> {
    // Leaving is no sign that nobody wants the answer any more: it stays in the thread.
    let mut events = app.orchestrator.follow(principal, run.clone(), From::Start, Reader::Observer);
    let mut deadline = Instant::now() + ask.wait;
    let mut stopped = false;
    loop {
        tokio::select! {
            item = events.next() => {
                let Some(item) = item else { break };
                let item = item.map_err(|error| Failure::failed(error.to_string()))?;
                if ask.show == Show::Events {
                    out::line(&String::from_utf8_lossy(&item.json))?;
                }
                if item.kind == ItemKind::Terminal {
                    break;
                }
            }
            () = stages.stop.cancelled(), if !stopped => {
                stopped = true;
                deadline = Instant::now() + STOPPING;
                app.orchestrator.cancel(principal, &run.id).await?;
            }
            () = tokio::time::sleep_until(deadline) => return Err(match stopped {
                true => ask.left(),
                false => ask.waited("goes on with the next command in it, `serve` or `worker`"),
            }),
        }
    }
    let Some(record) = app.store().run(principal, &run.id).await? else {
        return Err(Failure::failed("the run was deleted"));
    };
    Ok(match record.status {
        RunStatus::Completed => How::Completed,
        RunStatus::Interrupted => How::Waits,
        RunStatus::Cancelled if stopped => How::Stopped,
        RunStatus::Cancelled => How::Cancelled,
        RunStatus::Failed | RunStatus::Abandoned => {
            let (code, message) = record.error.unwrap_or_else(|| ("internal".to_owned(), "the run failed".to_owned()));
            How::Failed { code, message }
        }
        RunStatus::Queued | RunStatus::Running => {
            return Err(Failure::failed(format!("the events of run {} ended before the run did", run.id)));
        }
    })
}

/// The stored text of the run's last assistant row that has one: what counts, not the deltas.
async fn answer(app: &App, principal: &Principal, run: &RunRef) -> Result<Option<String>, Failure> {
    let thread = app.store().hydrate(principal, &run.thread_id, Some(ROWS), None).await?;
    let text = |stored: &storage::StoredMessage| match &stored.message {
        Message::Assistant { text, .. } if stored.run.as_ref() == Some(&run.key) && !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    Ok(thread.messages.iter().rev().find_map(text))
}
