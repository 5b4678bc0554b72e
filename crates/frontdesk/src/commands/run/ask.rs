//! The question, and how its run can end for the command.

use std::time::Duration;

use domain::{Code, Ids, MessageId, RunId, ThreadId};
use tokio::io::AsyncReadExt;

use crate::{Exit, Failure, Message, out, system::Ulids};

/// What standard output gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    Answer,
    Events,
}

/// After the first Ctrl-C: until the run has ended, be it that the store or the server does not take the cancel.
pub(super) const STOPPING: Duration = Duration::from_secs(5);

/// One turn, by ids made here.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) text: String,
    pub(super) thread: ThreadId,
    pub(super) run: RunId,
    pub(super) message: MessageId,
    pub(super) show: Show,
    pub(super) wait: Duration,
}

impl Ask {
    pub(super) fn new(text: String, thread: Option<ThreadId>, show: Show, wait: Duration) -> Result<Self, Failure> {
        let ids = Ulids::default();
        let failed = |error: domain::IdError| Failure::failed(error.to_string());
        let thread = match thread {
            Some(thread) => thread,
            None => ThreadId::parse(format!("cli_{}", ids.ulid())).map_err(failed)?,
        };
        let run = RunId::parse(format!("run_{}", ids.ulid())).map_err(failed)?;
        let message = MessageId::parse(format!("user_{}", ids.ulid())).map_err(failed)?;
        Ok(Self { text, thread, run, message, show, wait })
    }

    /// The command stops waiting; `what` becomes of the run.
    pub(super) fn waited(&self, what: &str) -> Failure {
        let (seconds, run, thread) = (self.wait.as_secs(), &self.run, &self.thread);
        Failure::failed(format!("no end after {seconds} s; run {run} in thread {thread} {what}"))
    }

    /// The command was interrupted and the run has not ended.
    pub(super) fn left(&self) -> Failure {
        let message = format!("interrupted; run {} in thread {} has not ended yet", self.run, self.thread);
        Failure { exit: Exit::Interrupted, message: Message::Sentence(message) }
    }

    /// Prints what is to be printed at the end and says how the command ends.
    pub(super) fn conclude(&self, end: End) -> Result<Exit, Failure> {
        if let (Show::Answer, Some(answer)) = (self.show, &end.answer) {
            out::line(&out::shown(answer))?;
        }
        match end.how {
            How::Completed => Ok(Exit::Done),
            How::Waits => Ok(Exit::Waiting),
            How::Stopped => Ok(Exit::Interrupted),
            How::Cancelled => Err(Failure::failed(format!("run {} was cancelled", self.run))),
            How::Failed { code, message } => Err(Failure::failed(format!("{code}: {message}"))),
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum How {
    Completed,
    /// For a person.
    Waits,
    /// By this command's Ctrl-C.
    Stopped,
    /// By somebody else.
    Cancelled,
    Failed {
        code: String,
        message: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    pub(super) how: How,
    /// The stored text, also a partial one.
    pub(super) answer: Option<String>,
}

/// The prompt, or standard input for `-`: at most `max` bytes, so that nothing endless is read.
pub(super) async fn prompt(argument: String, max: usize) -> Result<String, Failure> {
    let text = if argument == "-" {
        let mut bytes = Vec::new();
        let mut input = tokio::io::stdin().take(max as u64 + 1);
        input.read_to_end(&mut bytes).await.map_err(|error| Failure::failed(format!("cannot read standard input: {error}")))?;
        if bytes.len() > max {
            let message = format!("{}: standard input has more than {max} bytes; shorten it", Code::InputTooLarge);
            return Err(Failure { exit: Exit::Refused, message: Message::Sentence(message) });
        }
        String::from_utf8(bytes).map_err(|_| Failure::usage("standard input is not UTF-8 text"))?
    } else {
        argument
    };
    if text.trim().is_empty() {
        return Err(Failure::usage("the prompt is empty; write what to ask"));
    }
    Ok(text)
}
