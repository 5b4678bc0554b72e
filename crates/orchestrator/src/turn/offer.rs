//! Step 4: the tools a run may call, the catalog's and the client's.

use std::collections::BTreeMap;

use catalog::{Catalog, Scope};
use domain::{ClientTool, Contract, ToolName, ToolSpec};
use serde_json::json;

use super::history;

/// Most tools a run is offered, however large the catalog is.
const MAX_TOOLS: usize = 20;

/// What there is to offer in this run: the catalog, and what the client mounts with this request.
#[derive(Clone, Copy)]
pub(super) struct Shelf<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) client: &'a [ClientTool],
    pub(super) scope: &'a Scope,
}

/// A tool as it is found by its name.
#[derive(Clone, Copy)]
pub(super) enum Found<'a> {
    Catalog(&'a Contract),
    Client(&'a ClientTool),
}

impl<'a> Shelf<'a> {
    /// What the scope admits, in name order. Of more than fit, the catalog's come first, then the client's in its order.
    pub(super) fn offer(&self) -> Vec<ToolName> {
        let catalog = self.catalog.iter().filter(|contract| self.scope.admits(contract)).map(|contract| contract.name.clone());
        let client = self.client.iter().filter_map(|tool| ToolName::parse(&tool.name).ok());
        let client = client.filter(|name| matches!(self.find(name), Some(Found::Client(_))));
        // By what the model calls them: of two that look the same to it the first is meant.
        let mut chosen = BTreeMap::new();
        for name in catalog.chain(client) {
            if chosen.len() == MAX_TOOLS {
                break;
            }
            chosen.entry(name.for_model().into_owned()).or_insert(name);
        }
        chosen.into_values().collect()
    }

    /// A stored offer, without what is not there or not admitted any more.
    pub(super) fn still_offered(&self, stored: &[ToolName]) -> Vec<ToolName> {
        stored.iter().filter(|name| self.find(name).is_some()).cloned().collect()
    }

    /// The tool of that name, if the scope admits it. A client's tool never takes the place of one of the catalog's.
    pub(super) fn find(&self, name: &ToolName) -> Option<Found<'a>> {
        if let Some(contract) = self.catalog.get(name) {
            return self.scope.admits(contract).then_some(Found::Catalog(contract));
        }
        let tool = self.client.iter().find(|tool| tool.name == name.as_str())?;
        self.scope.admits_client(name).then_some(Found::Client(tool))
    }

    /// The offer as a model sees it.
    pub(super) fn specs(&self, offered: &[ToolName]) -> Vec<ToolSpec> {
        offered.iter().filter_map(|name| self.find(name).map(|found| spec(name, found))).collect()
    }
}

fn spec(name: &ToolName, found: Found<'_>) -> ToolSpec {
    let (description, parameters) = match found {
        Found::Catalog(contract) => (contract.description.clone(), contract.input.clone()),
        Found::Client(tool) if tool.parameters.is_object() => (tool.description.clone(), tool.parameters.clone()),
        // Providers want the schema of an object, if only of an empty one.
        Found::Client(tool) => (tool.description.clone(), json!({ "type": "object", "properties": {} })),
    };
    ToolSpec { name: history::for_model(name), description, parameters }
}

/// The offered tool that the model calls by this name; `None`: it made the name up.
pub(super) fn called<'a>(offered: &'a [ToolName], name: &str) -> Option<&'a ToolName> {
    offered.iter().find(|tool| tool.for_model() == name)
}

#[cfg(test)]
mod tests;
