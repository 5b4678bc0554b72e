//! What becomes of a run that did not end well: the code and words for the person, the note for the model.

use domain::{Code, ModelError};

use super::{halt::Halt, model::End, prompt::Note};
use crate::control::Stop;

/// A run's end as RUN_ERROR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) code: Code,
    /// What the person reads: what happened and what to do next.
    pub(super) message: String,
    /// What the model reads in the next turn.
    pub(super) note: String,
}

impl Failure {
    pub(super) fn deadline(seconds: u64) -> Self {
        Self {
            code: Code::Deadline,
            message: format!("the reply took longer than {seconds} s and was cut off; ask again, or ask for less at once"),
            note: Note::Deadline.text(),
        }
    }

    pub(super) fn no_model() -> Self {
        let message = "no model is configured; the operator must name one with AI_PROVIDER or model.base_url";
        Self { code: Code::ModelUnconfigured, message: message.to_owned(), note: Self::unavailable("no model is configured") }
    }

    pub(super) fn empty_answer() -> Self {
        Self {
            code: Code::ModelUnavailable,
            message: "the model sent an empty answer; ask again".to_owned(),
            note: Self::unavailable("the model sent an empty answer"),
        }
    }

    pub(super) fn no_room() -> Self {
        Self {
            code: Code::ModelUnavailable,
            message: "the model reached the largest length of a reply before it said anything; ask for less at once".to_owned(),
            note: Self::unavailable("the model reached the largest length of a reply before it said anything"),
        }
    }

    pub(super) fn refused() -> Self {
        Self {
            code: Code::ModelRefused,
            message: format!("{}; put the question differently", ModelError::Refused),
            note: Note::ModelRefused.text(),
        }
    }

    /// Never holds what a provider wrote.
    pub(super) fn of(error: &ModelError) -> Self {
        let advice = match error {
            ModelError::Refused => return Self::refused(),
            ModelError::ContextTooLong => {
                return Self {
                    code: Code::ContextTooLong,
                    message: format!("{error}; begin a new conversation or send a shorter message"),
                    note: Note::ContextTooLong.text(),
                };
            }
            ModelError::RateLimited { retry_after: Some(wait) } | ModelError::Overloaded { retry_after: Some(wait) } => {
                format!("ask again in {} s", wait.as_secs().max(1))
            }
            ModelError::RateLimited { retry_after: None } | ModelError::Overloaded { retry_after: None } => {
                "ask again in a while".to_owned()
            }
            ModelError::Auth => "the operator must check model.api_key".to_owned(),
            ModelError::Invalid { .. } => "the operator must check model.name and model.base_url".to_owned(),
            ModelError::Cut | ModelError::Idle | ModelError::Protocol(_) | ModelError::Unavailable(_) => "ask again".to_owned(),
        };
        let what = Self::what(error);
        Self { code: Code::ModelUnavailable, message: format!("{what}; {advice}"), note: Self::unavailable(&what) }
    }

    fn what(error: &ModelError) -> String {
        match error {
            // The detail is for the log: it may name hosts.
            ModelError::Unavailable(_) => "the model's provider cannot be reached".to_owned(),
            other => other.to_string(),
        }
    }

    fn unavailable(what: &str) -> String {
        Note::ModelUnavailable.fill(&[("what", what)])
    }
}

/// The ledger's word for how a call ended.
pub(super) fn outcome(end: &End) -> &'static str {
    match end {
        End::Done(_) => "ok",
        End::Halted(Halt::Deadline) => "deadline",
        End::Halted(Halt::Stop(Stop::Cancel(_))) => "cancelled",
        End::Halted(_) => "stopped",
        End::Broke(error) => match error {
            ModelError::RateLimited { .. } => "rate-limited",
            ModelError::Overloaded { .. } => "overloaded",
            ModelError::ContextTooLong => "context-too-long",
            ModelError::Refused => "refused",
            ModelError::Auth => "auth",
            ModelError::Invalid { .. } => "invalid",
            ModelError::Cut => "cut",
            ModelError::Idle => "idle",
            ModelError::Protocol(_) => "protocol",
            ModelError::Unavailable(_) => "unavailable",
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_error_says_what_to_do_and_nothing_a_provider_wrote() {
        let check = |error: ModelError, code: Code, message: &str| {
            let failure = Failure::of(&error);
            assert_eq!((failure.code, failure.message.as_str()), (code, message));
            assert!(!failure.note.contains("secret"), "{}", failure.note);
        };
        check(
            ModelError::RateLimited { retry_after: Some(Duration::from_secs(7)) },
            Code::ModelUnavailable,
            "the provider limits the rate of requests; ask again in 7 s",
        );
        check(
            ModelError::Overloaded { retry_after: None },
            Code::ModelUnavailable,
            "the provider is overloaded; ask again in a while",
        );
        check(
            ModelError::Auth,
            Code::ModelUnavailable,
            "the provider did not accept the key; the operator must check model.api_key",
        );
        check(
            ModelError::Unavailable("secret host".to_owned()),
            Code::ModelUnavailable,
            "the model's provider cannot be reached; ask again",
        );
        check(ModelError::Refused, Code::ModelRefused, "the model refused to answer; put the question differently");
        check(
            ModelError::ContextTooLong,
            Code::ContextTooLong,
            "the conversation is longer than the model's context; begin a new conversation or send a shorter message",
        );
    }
}
