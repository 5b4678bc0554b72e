//! Step 4: the tools a run may call.

use catalog::{Catalog, Scope};
use domain::{ToolName, ToolSpec};

/// Most tools a run is offered, however large the catalog is.
const MAX_TOOLS: usize = 20;

/// What the scope admits, in name order.
pub(super) fn offer(catalog: &Catalog, scope: &Scope) -> Vec<ToolName> {
    catalog.iter().filter(|contract| scope.admits(contract)).map(|contract| contract.name.clone()).take(MAX_TOOLS).collect()
}

/// A stored offer, without what is not there or not admitted any more.
pub(super) fn still_offered(catalog: &Catalog, scope: &Scope, stored: &[ToolName]) -> Vec<ToolName> {
    let admitted = |name: &&ToolName| catalog.get(name).is_some_and(|contract| scope.admits(contract));
    stored.iter().filter(admitted).cloned().collect()
}

/// The offer as a model sees it.
pub(super) fn specs(catalog: &Catalog, offered: &[ToolName]) -> Vec<ToolSpec> {
    let contracts = offered.iter().filter_map(|name| catalog.get(name));
    contracts
        .map(|contract| ToolSpec {
            name: contract.name.clone(),
            description: contract.description.clone(),
            parameters: contract.input.clone(),
        })
        .collect()
}
