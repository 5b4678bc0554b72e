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
        self.admits_as(&contract.name, Some(&contract.category), contract.effect)
    }

    /// A tool of a client, by its tag. One that nobody declared is of no category.
    pub fn admits_as(&self, name: &ToolName, category: Option<&Category>, effect: Effect) -> bool {
        if self.exclude.contains(name) {
            return false;
        }
        if self.include.contains(name) {
            return true;
        }
        let within = match (&self.categories, category) {
            (None, _) => true,
            (Some(categories), Some(category)) => categories.contains(category),
            (Some(_), None) => false,
        };
        within && self.effects.contains(&effect)
    }
}

#[cfg(test)]
mod tests;
