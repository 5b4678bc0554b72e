//! Which tools a role may be offered. A scope only admits; what a call does is the policy's.

use std::collections::BTreeSet;

use domain::{Category, Contract, Effect, ToolName};

/// `exclude` wins over everything; `include` admits by name whatever the category or effect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// `None`: any category.
    pub categories: Option<BTreeSet<Category>>,
    /// Empty: only `include` admits.
    pub effects: BTreeSet<Effect>,
    pub include: BTreeSet<ToolName>,
    pub exclude: BTreeSet<ToolName>,
}

impl Scope {
    pub fn admits(&self, contract: &Contract) -> bool {
        if self.exclude.contains(&contract.name) {
            return false;
        }
        if self.include.contains(&contract.name) {
            return true;
        }
        let category = self.categories.as_ref().is_none_or(|categories| categories.contains(&contract.category));
        category && self.effects.contains(&contract.effect)
    }
}

#[cfg(test)]
mod tests;
