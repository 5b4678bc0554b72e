//! Ids of what a run makes.

use domain::{Ids, MessageId, RunKey, ToolCallId};

const VALID: &str = "a prefix and a ULID make an id";

/// The assistant's message of a step. Made from what is known, so that a reader whose attempt was lost before any of it
/// was stored can still be told which message does not stand.
pub(crate) fn reply(run: &RunKey, attempt: i64, step: u32) -> MessageId {
    MessageId::parse(format!("msg_{run}_{attempt}_{step}")).expect(VALID)
}

/// `msg_` and a ULID.
pub(super) fn message(ids: &dyn Ids) -> MessageId {
    MessageId::parse(format!("msg_{}", ids.ulid())).expect(VALID)
}

/// `call_` and a ULID.
pub(super) fn call(ids: &dyn Ids) -> ToolCallId {
    ToolCallId::parse(format!("call_{}", ids.ulid())).expect(VALID)
}
