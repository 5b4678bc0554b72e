//! Ids as opaque strings: 1 to 200 characters, no control characters, compared byte for byte.
//!
//! Thread and run ids are made by clients and unique within (organization, user); keys ([`ThreadKey`], [`RunKey`])
//! are ours, ULIDs, unique in the whole store, and never leave the server.

use std::{borrow::Cow, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Most characters an id may have.
pub const MAX_ID_CHARS: usize = 200;

/// Why a text is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("an id may not be empty")]
    Empty,
    #[error("an id may have at most {MAX_ID_CHARS} characters, this one has {0}")]
    TooLong(usize),
    #[error("an id may not hold control characters")]
    Control,
}

fn check(text: &str) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty);
    }
    let chars = text.chars().count();
    if chars > MAX_ID_CHARS {
        return Err(IdError::TooLong(chars));
    }
    if text.chars().any(char::is_control) {
        return Err(IdError::Control);
    }
    Ok(())
}

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks length and characters.
            pub fn parse(text: impl AsRef<str>) -> Result<Self, IdError> {
                check(text.as_ref())?;
                Ok(Self(text.as_ref().into()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:?})", stringify!($name), &*self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Cow::<'de, str>::deserialize(deserializer)?;
                Self::parse(&*text).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

id! {
    /// The tenant.
    OrgId
    /// The person, as the token's `sub` names them.
    UserId
    /// One conversation, as its client names it.
    ThreadId
    /// One run, as its client names it.
    RunId
    /// A message; the client's for user rows, ours (`msg_` + ULID) for the rest. Unique within the thread.
    MessageId
    /// A tool call, always ours: `call_` + ULID.
    ToolCallId
    /// A tool's name as its owner calls it; the model sees [`ToolName::for_model`].
    ToolName
    /// A role of the roster.
    RoleName
    /// What a tool is about; declared in configuration.
    Category
    /// How people reached the assistant: `web`, `cli`, …
    ChannelName
    /// A process that works the queue.
    WorkerId
    /// Our own key of a thread: a ULID.
    ThreadKey
    /// Our own key of a run: a ULID.
    RunKey
}

impl ToolName {
    /// What every provider takes as a tool's name: `[A-Za-z0-9_-]{1,64}`. A name that fits is itself; of another what
    /// does not fit becomes `_`, and a hash of the whole is added, so that two names seldom become one.
    pub fn for_model(&self) -> Cow<'_, str> {
        const MOST: usize = 64;
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if self.0.len() <= MOST && self.0.bytes().all(fits) {
            return Cow::Borrowed(&self.0);
        }
        // FNV-1a: the same on every machine and in every build.
        let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let hash = self.0.bytes().fold(0x811c_9dc5, hash);
        let fitting = self.0.chars().map(|c| if c.is_ascii() && fits(c as u8) { c } else { '_' });
        let name: String = fitting.take(MOST - 9).collect();
        Cow::Owned(format!("{name}_{hash:08x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tools_name_fits_every_provider_and_stays_its_own() {
        let name = |text: &str| ToolName::parse(text).expect("valid").for_model().into_owned();
        let check = |text: &str, expected: &str| assert_eq!(name(text), expected, "{text}");
        check("todo_list", "todo_list");
        check("git.hub/search", "git_hub_search_ceaa6133");
        check("über", "_ber_7ba3e4cf");
        let long = "a".repeat(65);
        assert_eq!(name(&long).len(), 64);
        assert_ne!(name("a.b"), name("a/b"));
    }

    #[test]
    fn an_id_is_one_to_two_hundred_characters_without_controls() {
        assert!(ThreadId::parse("thread-1796066840634 ü/猫").is_ok());
        assert_eq!(ThreadId::parse(""), Err(IdError::Empty));
        assert!(ThreadId::parse("é".repeat(200)).is_ok());
        assert_eq!(ThreadId::parse("é".repeat(201)), Err(IdError::TooLong(201)));
        assert_eq!(ThreadId::parse("a\nb"), Err(IdError::Control));
        assert!(serde_json::from_str::<RunId>("\"a\\u0000\"").is_err());
    }
}
