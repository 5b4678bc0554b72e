//! What there is to call, what a role may be offered of it on a channel, and what a call does: for people who set it up.

use std::collections::BTreeMap;

use catalog::{NotAdmitted, Origin, Policy, Question, Surface, Tools, Verdict, Whom};
use domain::{Bundle, Category, ChannelName, Effect, Principal, RoleName, ToolName};
use serde_json::{Value, json};

use crate::{Asks, ChannelDefinition, RoleDefinition, Settings};

/// All tools in the order of their names, as one role meets them on one channel.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolList {
    pub role: RoleName,
    pub channel: ChannelName,
    pub tools: Vec<Listed>,
}

/// A tool and what becomes of it. A command counts only in requests whose client mounts it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    pub name: ToolName,
    /// A command has none: what it is called is its client's.
    pub title: Option<String>,
    pub origin: Origin,
    pub category: Category,
    /// Whose data its category is about, where that is declared.
    pub data: Option<Bundle>,
    pub effect: Effect,
    /// Where a command's client mounts it.
    pub surface: Option<Surface>,
    pub admitted: Result<(), NotAdmitted>,
    /// What a call does while nothing untrusted is in what the model sees; until a tool is admitted, no call comes so far.
    pub verdict: Verdict,
}

/// Why there is no list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotListed {
    #[error("there is no such role")]
    Role,
    #[error("there is no such channel")]
    Channel,
}

impl ToolList {
    /// `tools`: the catalog's, as they are mounted for this principal.
    pub fn of(
        tools: &Tools,
        channel: &ChannelDefinition,
        settings: &Settings,
        role: &RoleDefinition,
        principal: &Principal,
    ) -> Self {
        let mut listed: BTreeMap<&ToolName, Listed> = BTreeMap::new();
        for entry in tools.iter().chain(channel.tools.iter()) {
            let contract = &entry.contract;
            listed.entry(&contract.name).or_insert_with(|| Listed {
                name: contract.name.clone(),
                title: Some(contract.title.clone()),
                origin: entry.origin,
                category: contract.category.clone(),
                data: settings.categories.get(&contract.category).copied(),
                effect: contract.effect,
                surface: None,
                admitted: role.scope.judge(&contract.name, Some(&contract.category), contract.effect),
                verdict: Verdict::Deny,
            });
        }
        for command in settings.commands.iter() {
            listed.entry(&command.name).or_insert_with(|| Listed {
                name: command.name.clone(),
                title: None,
                origin: Origin::Client,
                category: command.category.clone(),
                data: settings.categories.get(&command.category).copied(),
                effect: command.effect,
                surface: Some(command.surface.clone()),
                admitted: role.scope.judge(&command.name, Some(&command.category), command.effect),
                verdict: Verdict::Deny,
            });
        }
        let mut tools: Vec<Listed> = listed.into_values().collect();
        for tool in &mut tools {
            let question = Question {
                tool: &tool.name,
                effect: tool.effect,
                origin: tool.origin,
                org: &principal.org,
                role: &role.name,
                tainted: false,
                can_ask: channel.asks == Asks::People,
            };
            tool.verdict = role.decide(&settings.policy, &question);
        }
        Self { role: role.name.clone(), channel: principal.channel.clone(), tools }
    }

    /// `{role, channel, items}`, as `frontdesk tools --json` and `GET /v1/tools` give it.
    pub fn json(&self) -> Value {
        let items: Vec<Value> = self.tools.iter().map(Listed::json).collect();
        json!({ "role": self.role, "channel": self.channel, "items": items })
    }
}

impl Listed {
    fn json(&self) -> Value {
        let mut item = json!({
            "name": self.name,
            "origin": self.origin.as_str(),
            "category": self.category,
            "effect": self.effect,
            "admitted": self.admitted.is_ok(),
            "verdict": self.verdict.as_str(),
        });
        let for_model = self.name.for_model();
        let optional = [
            ("modelName", (for_model != self.name.as_str()).then(|| for_model.into_owned())),
            ("title", self.title.clone()),
            ("data", self.data.map(|data| word(data).to_owned())),
            ("surface", self.surface.as_ref().map(|surface| place(surface).to_owned())),
            ("reason", self.admitted.err().map(|why| why.as_str().to_owned())),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                item[key] = json!(value);
            }
        }
        item
    }
}

impl RoleDefinition {
    /// What a call in this role does: its own rule for the tool counts as one of the policy's for both.
    pub fn decide(&self, policy: &Policy, call: &Question<'_>) -> Verdict {
        match self.policy.get(call.tool) {
            None => policy.decide(call),
            Some(verdict) => {
                let whom = Whom { tool: Some(call.tool.clone()), role: Some(self.name.clone()), org: None };
                policy.clone().rule(whom, *verdict).decide(call)
            }
        }
    }
}

/// As `categories.NAME.data` says it.
fn word(data: Bundle) -> &'static str {
    match data {
        Bundle::OwnData => "own",
        Bundle::App => "app",
    }
}

/// As a command's file says it.
fn place(surface: &Surface) -> &str {
    match surface {
        Surface::Global => "global",
        Surface::Screen(name) => name,
    }
}

#[cfg(test)]
mod tests;
