//! Step 2, on a fresh turn only: who answers, how hard, and whether it is in scope.

use domain::{Bundle, Decision, Effort, RoleName, ToolName};

use crate::{RoleDefinition, Roster};

/// What is known of a turn before the model is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judgment {
    pub(super) role: RoleName,
    pub(super) tier: Effort,
    pub(super) in_scope: bool,
    pub(super) bundle: Bundle,
    pub(super) degraded: bool,
}

impl Judgment {
    /// What was judged before.
    pub(super) fn of(decision: &Decision) -> Self {
        Self {
            role: decision.role.clone(),
            tier: decision.tier,
            in_scope: decision.in_scope,
            bundle: decision.bundle,
            degraded: decision.degraded,
        }
    }

    /// What is stored of it, with the exact tools of the run.
    pub(super) fn decision(self, role: &RoleDefinition, tools: Vec<ToolName>, roster_version: &str) -> Decision {
        Decision {
            role: role.name.clone(),
            tier: self.tier,
            in_scope: self.in_scope,
            bundle: self.bundle,
            degraded: self.degraded,
            facts: serde_json::Map::new(),
            tools,
            roster_version: roster_version.to_owned(),
        }
    }
}

/// No judge is configured, which is no failure: the default role and tier, in scope, and no call.
pub(super) fn unjudged(roster: &Roster) -> Judgment {
    let role = roster.default_role();
    Judgment { role: role.name.clone(), tier: role.tier, in_scope: true, bundle: Bundle::OwnData, degraded: false }
}
