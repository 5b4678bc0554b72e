//! Step 4: the tools a run may call, the application's, the channel's and the client's.

use std::collections::HashSet;

use catalog::{Commands, Entry, Narration, Origin, Tools};
use domain::{ClientTool, Effect, ToolName, ToolSpec, rank};
use serde_json::json;

use super::history;
use crate::RoleDefinition;

/// Most tools a run is offered, however large the catalog is.
pub(super) const MAX_TOOLS: usize = 20;
/// Up to so many candidates all are offered; of more, the best of them.
const MAX_RANKED: usize = 12;

/// What there is to offer in this run: what the server side runs, and what the client mounts with this request.
#[derive(Clone, Copy)]
pub(super) struct Shelf<'a> {
    pub(super) tools: &'a Tools,
    pub(super) channel: &'a Tools,
    pub(super) client: &'a [ClientTool],
    pub(super) commands: &'a Commands,
    pub(super) role: &'a RoleDefinition,
}

/// A tool as it is found by its name.
#[derive(Clone, Copy)]
pub(super) enum Found<'a> {
    Server(&'a Entry),
    Client { tool: &'a ClientTool, effect: Effect, narration: Option<&'a Narration> },
}

impl Found<'_> {
    pub(super) fn effect(&self) -> Effect {
        match self {
            Self::Server(entry) => entry.contract.effect,
            Self::Client { effect, .. } => *effect,
        }
    }

    pub(super) fn origin(&self) -> Origin {
        match self {
            Self::Server(entry) => entry.origin,
            Self::Client { .. } => Origin::Client,
        }
    }

    /// What a ranking goes by.
    fn text(&self) -> String {
        match self {
            Self::Server(Entry { contract, .. }) => format!("{} {} {}", contract.name, contract.title, contract.description),
            Self::Client { tool, .. } => format!("{} {}", tool.name, tool.description),
        }
    }
}

impl<'a> Shelf<'a> {
    /// At most [`MAX_TOOLS`] of what the scope admits, in the order of their names. Of more than [`MAX_RANKED`] those
    /// that the role always offers, and the best for `query`, the person's message.
    pub(super) fn offer(&self, query: &str) -> Vec<ToolName> {
        let mut candidates = self.candidates();
        if candidates.len() > MAX_RANKED {
            let (always, ranked): (Vec<_>, Vec<_>) =
                candidates.into_iter().partition(|(name, _)| self.role.always.contains(name));
            let texts: Vec<String> = ranked.iter().map(|(_, found)| found.text()).collect();
            let scores = rank::scores(query, texts.iter().map(String::as_str));
            let mut ranked: Vec<_> = ranked.into_iter().zip(scores).collect();
            // Stable: of equals the first stays first.
            ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
            let ranked = ranked.into_iter().map(|(candidate, _)| candidate).take(MAX_RANKED);
            candidates = always.into_iter().take(RoleDefinition::MAX_ALWAYS).chain(ranked).take(MAX_TOOLS).collect();
        }
        in_order(candidates)
    }

    /// The whole offer if it needs no ranking.
    pub(super) fn offer_unranked(&self) -> Option<Vec<ToolName>> {
        let candidates = self.candidates();
        (candidates.len() <= MAX_RANKED).then(|| in_order(candidates))
    }

    /// What is admitted: one of each name a model would see, the server side's first.
    fn candidates(&self) -> Vec<(ToolName, Found<'a>)> {
        let server = self.tools.iter().chain(self.channel.iter()).map(|entry| entry.contract.name.clone());
        let client = self.client.iter().filter_map(|tool| ToolName::parse(&tool.name).ok());
        let mut seen = HashSet::new();
        let mut candidates = Vec::new();
        for name in server.chain(client) {
            let Some(found) = self.find(&name) else { continue };
            if seen.insert(name.for_model().into_owned()) {
                candidates.push((name, found));
            }
        }
        candidates
    }

    /// A stored offer, without what is not there or not admitted any more.
    pub(super) fn still_offered(&self, stored: &[ToolName]) -> Vec<ToolName> {
        stored.iter().filter(|name| self.find(name).is_some()).cloned().collect()
    }

    /// The tool of that name, if the scope admits it. A client's tool never takes the place of one of the server side's.
    pub(super) fn find(&self, name: &ToolName) -> Option<Found<'a>> {
        let scope = &self.role.scope;
        if let Some(entry) = self.tools.get(name).or_else(|| self.channel.get(name)) {
            return scope.admits(&entry.contract).then_some(Found::Server(entry));
        }
        let tool = self.client.iter().find(|tool| tool.name == name.as_str())?;
        let tag = self.commands.tag(name, tool.effect);
        // One that no manifest declares is offered as what it seems to be, whatever a call of it does.
        let shown = if tag.category.is_none() { Effect::Gesture } else { tag.effect };
        let admitted = scope.judge(name, tag.category, shown).is_ok();
        admitted.then_some(Found::Client { tool, effect: tag.effect, narration: tag.narration })
    }

    /// The offer as a model sees it.
    pub(super) fn specs(&self, offered: &[ToolName]) -> Vec<ToolSpec> {
        offered.iter().filter_map(|name| self.find(name).map(|found| spec(name, found))).collect()
    }
}

/// By what the model calls them.
fn in_order(candidates: Vec<(ToolName, Found<'_>)>) -> Vec<ToolName> {
    let mut names: Vec<ToolName> = candidates.into_iter().map(|(name, _)| name).collect();
    names.sort_by(|one, other| one.for_model().cmp(&other.for_model()));
    names
}

fn spec(name: &ToolName, found: Found<'_>) -> ToolSpec {
    let (description, parameters) = match found {
        Found::Server(Entry { contract, .. }) => (contract.description.clone(), contract.input.clone()),
        Found::Client { tool, .. } if tool.parameters.is_object() => (tool.description.clone(), tool.parameters.clone()),
        // Providers want the schema of an object, if only of an empty one.
        Found::Client { tool, .. } => (tool.description.clone(), json!({ "type": "object", "properties": {} })),
    };
    ToolSpec { name: history::for_model(name), description, parameters }
}

/// The offered tool that the model calls by this name; `None`: it made the name up.
pub(super) fn called<'a>(offered: &'a [ToolName], name: &str) -> Option<&'a ToolName> {
    offered.iter().find(|tool| tool.for_model() == name)
}

#[cfg(test)]
mod tests;
