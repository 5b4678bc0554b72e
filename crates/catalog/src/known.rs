//! Names that are known to exist.

use domain::ToolName;

/// The name of a tool or command as a constant of a generated `names.rs`: one that is misspelt does not compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Known(&'static str);

impl Known {
    /// For generated sources, which name what is there.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl From<Known> for ToolName {
    fn from(name: Known) -> Self {
        Self::parse(name.0).expect("generated from the name of a tool")
    }
}
