//! What all request builders do with a conversation's rows.

use std::{
    borrow::Cow,
    hash::{DefaultHasher, Hash, Hasher},
};

use domain::{RunIdentity, ToolCall, ToolCallId};
use serde_json::value::RawValue;

/// What a wire allows as the id of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ids {
    /// Up to 64 letters, digits, `_` and `-`.
    Usual,
    /// Exactly nine letters and digits.
    Nine,
}

impl Ids {
    /// Our id as this wire takes it; the same one for the call and for its result.
    pub(crate) fn of(self, id: &ToolCallId) -> Cow<'_, str> {
        let text = id.as_str();
        let hash = || {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            hasher.finish()
        };
        match self {
            Self::Usual if text.len() <= 64 && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) => {
                Cow::Borrowed(text)
            }
            Self::Usual => Cow::Owned(format!("call_{:016x}", hash())),
            // The end of ours comes from the ULID's random part.
            Self::Nine => match text.len().checked_sub(9).and_then(|from| text.get(from..)) {
                Some(tail) if tail.bytes().all(|b| b.is_ascii_alphanumeric()) => Cow::Borrowed(tail),
                _ => Cow::Owned(format!("{:09x}", hash() & 0xf_ffff_ffff)),
            },
        }
    }
}

/// The text of the arguments' object. Several servers refuse a whole history for one call whose arguments are none;
/// what was wrong with them is said by the call's result.
pub(crate) fn arguments(call: &ToolCall) -> &str {
    let object = call.arguments.trim_start().starts_with('{');
    if object && serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_ok() { &call.arguments } else { "{}" }
}

/// The same as JSON, byte for byte as it came.
pub(crate) fn arguments_json(call: &ToolCall) -> &RawValue {
    serde_json::from_str(arguments(call)).expect("it was read as JSON just now")
}

/// What stands for a part that this wire or model cannot take.
pub(crate) fn left_out(what: &str) -> String {
    format!("[{what} left out: this model cannot read it]")
}

pub(crate) fn data_url(mime: &str, base64: &str) -> String {
    format!("data:{mime};base64,{base64}")
}

/// Stands for the thread and says nothing about it; at most 64 characters are allowed.
pub(crate) fn cache_key(identity: &RunIdentity) -> String {
    let mut hasher = DefaultHasher::new();
    (identity.org.as_str(), identity.user.as_str(), identity.thread.as_str()).hash(&mut hasher);
    format!("frontdesk-{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use domain::ToolName;

    use super::*;

    #[test]
    fn an_id_is_one_that_the_wire_takes() {
        let id = |text: &str| ToolCallId::parse(text).unwrap();
        let ours = id("call_01JDXK3V8ZQ4R5S6T7V8W9X0Y1");
        assert_eq!(Ids::Usual.of(&ours), ours.as_str());
        assert_eq!(Ids::Nine.of(&ours), "7V8W9X0Y1");
        for odd in ["functions.clock:0", "x", "call_", "a b", "猫猫猫猫", &"c".repeat(100)] {
            let odd = id(odd);
            let (usual, nine) = (Ids::Usual.of(&odd), Ids::Nine.of(&odd));
            assert!(usual.len() <= 64 && usual.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)), "{usual}");
            assert!(nine.len() == 9 && nine.bytes().all(|b| b.is_ascii_alphanumeric()), "{nine}");
            assert_eq!((Ids::Usual.of(&odd), Ids::Nine.of(&odd)), (usual, nine));
        }
    }

    #[test]
    fn arguments_that_are_no_object_do_not_break_the_history() {
        for (came, sent) in [("", "{}"), ("{\"a\":", "{}"), ("[1]", "{}"), ("null", "{}"), (" {\"a\": 1} ", " {\"a\": 1} ")] {
            let call = ToolCall {
                id: ToolCallId::parse("call_1").unwrap(),
                name: ToolName::parse("clock").unwrap(),
                arguments: came.into(),
            };
            assert_eq!(arguments(&call), sent, "{came}");
            assert_eq!(arguments_json(&call).get(), sent.trim(), "{came}");
        }
    }
}
