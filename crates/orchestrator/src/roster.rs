//! The roles there are. A role is a definition the turn reads, never a name it asks for.

use std::collections::{BTreeMap, BTreeSet};

use catalog::{Scope, Verdict};
use domain::{Effect, Effort, RoleName, ToolName};

/// What the assistant is in a turn: its instructions and the tools it may be offered.
#[derive(Debug, Clone, PartialEq)]
pub struct RoleDefinition {
    pub name: RoleName,
    pub title: String,
    /// The stable prefix of every request.
    pub instructions: String,
    pub scope: Scope,
    /// Offered in every turn, ranked or not; at most [`RoleDefinition::MAX_ALWAYS`], each admitted by the scope.
    pub always: Vec<ToolName>,
    /// What a call of these does, where it is not what the policy says.
    pub policy: BTreeMap<ToolName, Verdict>,
    /// How hard the model thinks when nobody judged the turn.
    pub tier: Effort,
}

impl RoleDefinition {
    pub const MAX_ALWAYS: usize = 8;
}

/// The set of roles, and which one answers when nobody says otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Roster {
    roles: BTreeMap<RoleName, RoleDefinition>,
    default: RoleDefinition,
    version: String,
}

impl Roster {
    /// `version` goes into every decision; it should change whenever a role does. A role of the default's name is
    /// replaced by it.
    pub fn new(default: RoleDefinition, others: Vec<RoleDefinition>, version: impl Into<String>) -> Self {
        let mut roles: BTreeMap<_, _> = others.into_iter().map(|role| (role.name.clone(), role)).collect();
        roles.insert(default.name.clone(), default.clone());
        Self { roles, default, version: version.into() }
    }

    /// What counts without `roles.path`: one role that may be offered whatever does no lasting harm.
    pub fn builtin() -> Self {
        let assistant = RoleDefinition {
            name: RoleName::parse("assistant").expect("a valid literal"),
            title: "Assistant".to_owned(),
            instructions: include_str!("../prompts/assistant.md").trim_end().to_owned(),
            scope: Scope {
                categories: None,
                effects: BTreeSet::from([Effect::Read, Effect::Gesture, Effect::Reversible]),
                include: BTreeSet::new(),
                exclude: BTreeSet::new(),
            },
            always: Vec::new(),
            policy: BTreeMap::new(),
            tier: Effort::Medium,
        };
        Self::new(assistant, Vec::new(), concat!("builtin-", env!("CARGO_PKG_VERSION")))
    }

    /// The same roster with another of its roles as the one that answers; `None`: it has none of that name.
    #[must_use]
    pub fn led_by(self, name: &RoleName) -> Option<Self> {
        let default = self.roles.get(name)?.clone();
        Some(Self { default, ..self })
    }

    pub fn get(&self, name: &RoleName) -> Option<&RoleDefinition> {
        self.roles.get(name)
    }

    /// The role of a turn that nobody routed, and of a decision whose role is gone.
    pub fn default_role(&self) -> &RoleDefinition {
        &self.default
    }

    pub fn roles(&self) -> impl Iterator<Item = &RoleDefinition> {
        self.roles.values()
    }

    pub fn version(&self) -> &str {
        &self.version
    }
}
