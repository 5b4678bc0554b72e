//! What a tool promises.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Category, ToolName};

/// What a call of a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Read,
    Reversible,
    Irreversible,
    /// A client-side action with no server effect.
    Gesture,
    /// Offered to the model, only ever run by a person.
    HumanOnly,
}

impl Effect {
    pub const ALL: [Self; 5] = [Self::Read, Self::Reversible, Self::Irreversible, Self::Gesture, Self::HumanOnly];

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.as_str() == text)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Reversible => "reversible",
            Self::Irreversible => "irreversible",
            Self::Gesture => "gesture",
            Self::HumanOnly => "human_only",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A tool as everyone sees it. Schemas are JSON Schema 2020-12 documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contract {
    /// Fits `[A-Za-z0-9_-]{1,64}`.
    pub name: ToolName,
    pub title: String,
    pub description: String,
    pub input: Value,
    pub output: Value,
    pub category: Category,
    pub effect: Effect,
}
