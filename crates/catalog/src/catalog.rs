//! The set of tools, checked once when it is built.

use std::{collections::BTreeMap, sync::Arc};

use domain::{Contract, ToolName};
use jsonschema::Validator;

use crate::{Read, schema};

/// Every tool by its name, in name order. Immutable once built.
pub struct Catalog {
    tools: BTreeMap<ToolName, Entry>,
}

/// A tool and its compiled schemas.
pub(crate) struct Entry {
    pub(crate) tool: Arc<dyn Read>,
    pub(crate) input: Validator,
    pub(crate) output: Validator,
}

/// Why a set of tools is no catalog.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    #[error("the tool name \"{0}\" does not fit [A-Za-z0-9_-]{{1,64}}")]
    Name(ToolName),
    #[error("two tools are called \"{0}\"")]
    Twice(ToolName),
    #[error("the {which} schema of tool \"{tool}\" is not valid: {message}")]
    Schema { tool: ToolName, which: &'static str, message: String },
    #[error("the input schema of tool \"{0}\" does not describe an object")]
    NotAnObject(ToolName),
}

/// Collects tools.
#[derive(Default)]
pub struct Builder {
    reads: Vec<Arc<dyn Read>>,
}

impl Builder {
    /// Adds a tool that only looks.
    pub fn read(mut self, tool: impl Read + 'static) -> Self {
        self.reads.push(Arc::new(tool));
        self
    }

    /// Checks names and schemas and compiles the latter.
    pub fn build(self) -> Result<Catalog, CatalogError> {
        let mut tools = BTreeMap::new();
        for tool in self.reads {
            let contract = tool.contract();
            let name = contract.name.clone();
            if !fits(name.as_str()) {
                return Err(CatalogError::Name(name));
            }
            if contract.input.get("type").and_then(|kind| kind.as_str()) != Some("object") {
                return Err(CatalogError::NotAnObject(name));
            }
            let compile = |which, schema| {
                schema::compile(schema).map_err(|message| CatalogError::Schema { tool: name.clone(), which, message })
            };
            let input = compile("input", &contract.input)?;
            let output = compile("output", &contract.output)?;
            if tools.insert(name.clone(), Entry { tool, input, output }).is_some() {
                return Err(CatalogError::Twice(name));
            }
        }
        Ok(Catalog { tools })
    }
}

impl Catalog {
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Contracts in name order.
    pub fn iter(&self) -> impl Iterator<Item = &Contract> {
        self.tools.values().map(|entry| entry.tool.contract())
    }

    pub fn get(&self, name: &ToolName) -> Option<&Contract> {
        self.tools.get(name).map(|entry| entry.tool.contract())
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub fn len(&self) -> usize {
        self.tools.len()
    }

    pub(crate) fn entry(&self, name: &ToolName) -> Option<&Entry> {
        self.tools.get(name)
    }
}

/// `[A-Za-z0-9_-]{1,64}`, what every provider takes.
fn fits(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

#[cfg(test)]
mod tests;
