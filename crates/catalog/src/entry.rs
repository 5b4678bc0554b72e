//! A tool ready to be called: its contract, where it comes from, its compiled schemas.

use std::{fmt, sync::Arc};

use domain::{Contract, ToolName};
use jsonschema::Validator;

use crate::{Origin, Read, ToolSource, Write, schema};

/// A tool, wherever it comes from.
pub struct Entry {
    pub contract: Contract,
    pub origin: Origin,
    pub(crate) operation: Operation,
    pub(crate) input: Validator,
    /// `None`: its source promises nothing.
    pub(crate) output: Option<Validator>,
}

/// How a call is carried out.
pub(crate) enum Operation {
    /// At once, here.
    Call(Arc<dyn Read>),
    /// Only with a person's approval.
    #[expect(dead_code, reason = "run by the approval's execution")]
    Apply(Arc<dyn Write>),
    /// By a source, which calls it by its own name.
    Source(Arc<dyn ToolSource>, String),
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.contract.name).field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// What is wrong with a contract.
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
    #[error("\"{0}\" cannot be the name of a source of tools: it has other characters than a-z, 0-9 and -, or comes twice")]
    Source(String),
    #[error("the tool \"{tool}\" is registered as one that {registered}, but its effect is {effect}")]
    Effect { tool: ToolName, registered: &'static str, effect: domain::Effect },
}

impl Entry {
    /// Compiles the schemas. An output schema of `null` promises nothing.
    pub(crate) fn new(contract: Contract, origin: Origin, operation: Operation) -> Result<Self, CatalogError> {
        let name = &contract.name;
        if contract.input.get("type").and_then(|kind| kind.as_str()) != Some("object") {
            return Err(CatalogError::NotAnObject(name.clone()));
        }
        let compile = |which, schema| {
            schema::compile(schema).map_err(|message| CatalogError::Schema { tool: name.clone(), which, message })
        };
        let input = compile("input", &contract.input)?;
        let output = if contract.output.is_null() { None } else { Some(compile("output", &contract.output)?) };
        Ok(Self { contract, origin, operation, input, output })
    }
}
