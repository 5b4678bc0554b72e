//! One catalog of tools: contracts, which of them a scope admits, and the executor that runs a call.
//!
//! It knows no role, no channel, no model and no wire. Whatever goes wrong with a call is a *result for the model*,
//! never an error that ends the run.
//! To add a tool: one file in `tools/` (doc, `Args` and `Output` with derived schemas, `contract`, `call`) and its
//! line in [`tools::builtin`], or `Catalog::builder().read(...)` in the composition root.

mod tool;

mod catalog;
mod command;
mod entry;
mod execute;
mod known;
mod policy;
mod schema;
mod scope;
mod source;
pub mod tools;

pub use catalog::{Builder, Catalog, Tools};
pub use command::{Command, Commands, Narration, Surface, Tag, Untagged};
pub use entry::{CatalogError, Entry};
pub use execute::{CallBounds, CallResult, check_client_call, cut};
pub use known::Known;
pub use policy::{Origin, Policy, Question, Verdict, Whom};
pub use schema::schema_of;
pub use scope::{NotAdmitted, Scope};
pub use source::{SourceTool, ToolSource};
pub use tool::{ApprovedCall, Args, CallContext, Output, Read, ReadOnly, ToolError, Write};
