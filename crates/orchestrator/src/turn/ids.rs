//! Ids of what a run makes.

use domain::{Ids, MessageId, ToolCallId};

const VALID: &str = "a prefix and a ULID make an id";

/// `msg_` and a ULID.
pub(super) fn message(ids: &dyn Ids) -> MessageId {
    MessageId::parse(format!("msg_{}", ids.ulid())).expect(VALID)
}

/// `call_` and a ULID.
pub(super) fn call(ids: &dyn Ids) -> ToolCallId {
    ToolCallId::parse(format!("call_{}", ids.ulid())).expect(VALID)
}
