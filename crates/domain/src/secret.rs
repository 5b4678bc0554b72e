//! A text that must never be seen.

use std::fmt;

use serde::{Deserialize, Deserializer};

/// A key, password or token. `Debug` prints `***`; there is no `Display` and no `Serialize`, so it cannot reach a log,
/// an error or a stored row by accident: [`Secret::expose`] is where to look for its uses.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself. Call it only where it leaves for its receiver.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Nothing but white space, as an unset variable or an empty file gives.
    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing_of_it() {
        assert_eq!(format!("{:?}", Some(Secret::new("sk-123"))), "Some(***)");
    }
}
