//! What a call does: it runs, a person is asked, only a person does it, or it is refused. A scope admits, a policy decides.

use std::{collections::BTreeMap, fmt};

use domain::{Effect, OrgId, RoleName, ToolName};

/// What happens on a call, from the least to the most strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    Run,
    /// A person approves exactly these arguments first.
    Ask,
    /// The model is told that only a person can do it.
    RequiresHuman,
    Deny,
}

impl Verdict {
    pub const ALL: [Self; 4] = [Self::Run, Self::Ask, Self::RequiresHuman, Self::Deny];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Ask => "ask",
            Self::RequiresHuman => "requires_human",
            Self::Deny => "deny",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == text)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a tool comes from, which says who can do harm with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The application's own operations.
    Catalog,
    /// A tool server's.
    Mcp,
    /// A command the client runs.
    Client,
    /// The channel's own, such as a hand-off.
    Channel,
}

impl Origin {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Mcp => "mcp",
            Self::Client => "client",
            Self::Channel => "channel",
        }
    }

    /// Its writes reach data that outlives the screen, so that no policy may let them run unasked.
    fn is_guarded(self) -> bool {
        matches!(self, Self::Catalog | Self::Mcp)
    }
}

/// Whom a rule is for; what is `None` is for all. The more it names, the more it counts; of two that name as much the
/// tool counts more than the organization, and that more than the role.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Whom {
    pub tool: Option<ToolName>,
    pub org: Option<OrgId>,
    pub role: Option<RoleName>,
}

impl Whom {
    pub fn tool(name: ToolName) -> Self {
        Self { tool: Some(name), ..Self::default() }
    }

    fn weight(&self) -> (usize, bool, bool, bool) {
        let named = [self.tool.is_some(), self.org.is_some(), self.role.is_some()];
        (named.iter().filter(|named| **named).count(), named[0], named[1], named[2])
    }

    fn fits(&self, call: &Question<'_>) -> bool {
        self.tool.as_ref().is_none_or(|tool| tool == call.tool)
            && self.org.as_ref().is_none_or(|org| org == call.org)
            && self.role.as_ref().is_none_or(|role| role == call.role)
    }
}

/// One call, as far as a policy looks at it.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub tool: &'a ToolName,
    pub effect: Effect,
    pub origin: Origin,
    pub org: &'a OrgId,
    pub role: &'a RoleName,
    /// Untrusted text is in what the model sees.
    pub tainted: bool,
    /// The channel can show a person what is to happen and take the answer.
    pub can_ask: bool,
}

/// Rules over the defaults by effect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    rules: BTreeMap<Whom, Verdict>,
}

impl Policy {
    /// Adds a rule; one for the same is replaced.
    #[must_use]
    pub fn rule(mut self, whom: Whom, verdict: Verdict) -> Self {
        self.rules.insert(whom, verdict);
        self
    }

    /// What is to happen. Whatever the rules say: a write of the application's or a tool server's is never `run`,
    /// what is a person's own is never the model's, untrusted text makes only stricter, and who cannot ask denies.
    pub fn decide(&self, call: &Question<'_>) -> Verdict {
        if call.effect == Effect::HumanOnly {
            return self.ruled(call).map_or(Verdict::RequiresHuman, |verdict| verdict.max(Verdict::RequiresHuman));
        }
        let mut verdict = self.ruled(call).unwrap_or_else(|| usual(call.effect, call.origin));
        let writes = !matches!(call.effect, Effect::Read | Effect::Gesture);
        if writes && (call.origin.is_guarded() || call.tainted) {
            verdict = verdict.max(Verdict::Ask);
        }
        if verdict == Verdict::Ask && !call.can_ask { Verdict::Deny } else { verdict }
    }

    fn ruled(&self, call: &Question<'_>) -> Option<Verdict> {
        let fitting = self.rules.iter().filter(|(whom, _)| whom.fits(call));
        fitting.max_by_key(|(whom, _)| whom.weight()).map(|(_, verdict)| *verdict)
    }
}

fn usual(effect: Effect, origin: Origin) -> Verdict {
    match (effect, origin) {
        (Effect::Read | Effect::Gesture, _) | (Effect::Reversible | Effect::Irreversible, Origin::Channel) => Verdict::Run,
        (Effect::Reversible, Origin::Client) => Verdict::Run,
        (Effect::Reversible, Origin::Catalog | Origin::Mcp) => Verdict::Ask,
        (Effect::Irreversible, _) | (Effect::HumanOnly, _) => Verdict::RequiresHuman,
    }
}

#[cfg(test)]
mod tests;
