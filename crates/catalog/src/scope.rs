//! Which tools a role may be offered. A scope only admits; what a call does is the policy's.

use std::collections::BTreeSet;

use domain::{Category, Contract, Effect, ToolName};

/// Why a tool is not admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAdmitted {
    #[error("excluded by name")]
    Excluded,
    #[error("its category is not among the scope's")]
    Category,
    #[error("its effect is not among the scope's")]
    Effect,
}

impl NotAdmitted {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Excluded => "excluded",
            Self::Category => "category",
            Self::Effect => "effect",
        }
    }
}

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
        self.judge(&contract.name, Some(&contract.category), contract.effect).is_ok()
    }

    /// The same of any tool by what it is. One that nobody declared is of no category.
    pub fn judge(&self, name: &ToolName, category: Option<&Category>, effect: Effect) -> Result<(), NotAdmitted> {
        if self.exclude.contains(name) {
            return Err(NotAdmitted::Excluded);
        }
        if self.include.contains(name) {
            return Ok(());
        }
        let within = match (&self.categories, category) {
            (None, _) => true,
            (Some(categories), Some(category)) => categories.contains(category),
            (Some(_), None) => false,
        };
        if !within {
            return Err(NotAdmitted::Category);
        }
        if self.effects.contains(&effect) { Ok(()) } else { Err(NotAdmitted::Effect) }
    }
}

#[cfg(test)]
mod tests;
