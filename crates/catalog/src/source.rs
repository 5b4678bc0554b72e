//! Tools that come from elsewhere and may change while the process runs: a tool server, another catalog.

use std::{collections::BTreeMap, panic::AssertUnwindSafe, sync::Arc, sync::Mutex, time::Duration};

use async_trait::async_trait;
use domain::{Category, Contract, Effect, Principal, ToolName};
use futures::FutureExt;
use serde_json::Value;

use crate::{Args, CallContext, Entry, Origin, Output, ToolError, entry::Operation};

/// A tool as its source describes it. All of it is untrusted.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceTool {
    /// The source's own name, whatever its characters.
    pub name: String,
    pub title: String,
    pub description: String,
    /// JSON Schema of an object; one that cannot be used leaves the tool out.
    pub input: Value,
    /// `None`: it promises nothing of its results.
    pub output: Option<Value>,
    pub category: Category,
    /// Derived by the source's adapter, which must fail closed: what is not surely a read is none.
    pub effect: Effect,
}

/// Where tools come from. An adapter decides what is listed and with which effect; it never decides whether a call is
/// admitted or what it may do: that is the scope's and the policy's.
#[async_trait]
pub trait ToolSource: Send + Sync {
    /// `[a-z0-9-]{1,32}`, unique: the beginning of its tools' names, `<source>__<tool>`, always, so that a tool keeps its
    /// name whatever other sources are there.
    fn name(&self) -> &str;

    /// What this person may see of it now. Answered from memory, the same `Arc` as long as nothing changed; empty while
    /// the source is away.
    async fn tools(&self, principal: &Principal) -> Arc<[SourceTool]>;

    /// Arguments were checked against the input schema. Dropped on stop or time-out.
    async fn call(&self, ctx: &CallContext, tool: &str, args: Args) -> Result<Output, ToolError>;
}

/// Most tools one source may bring, and bytes of one description.
const MAX_TOOLS: usize = 1_000;
const MAX_DESCRIPTION: usize = 4_096;
/// How long a turn waits for a source's list, which is in memory.
const LIST_WAIT: Duration = Duration::from_secs(1);

/// A source and what its last list became.
pub(crate) struct Mounted {
    pub(crate) source: Arc<dyn ToolSource>,
    last: Mutex<Option<(Arc<[SourceTool]>, Entries)>>,
}

type Entries = Arc<BTreeMap<ToolName, Arc<Entry>>>;

impl Mounted {
    pub(crate) fn new(source: Arc<dyn ToolSource>) -> Self {
        Self { source, last: Mutex::new(None) }
    }

    /// Its usable tools; compiled once for each list.
    pub(crate) async fn entries(&self, principal: &Principal) -> Entries {
        let Some(tools) = self.list(principal).await else { return Entries::default() };
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((list, entries)) = &*last
            && Arc::ptr_eq(list, &tools)
        {
            return entries.clone();
        }
        let mut entries = BTreeMap::new();
        for tool in tools.iter().take(MAX_TOOLS) {
            match self.entry(tool) {
                Ok(entry) => {
                    // Of two that are called the same the first stays.
                    entries.entry(entry.contract.name.clone()).or_insert_with(|| Arc::new(entry));
                }
                Err(error) => tracing::warn!(source = self.source.name(), %error, "a tool is left out"),
            }
        }
        let entries = Arc::new(entries);
        *last = Some((tools, entries.clone()));
        entries
    }

    /// `None`: it does not say.
    async fn list(&self, principal: &Principal) -> Option<Arc<[SourceTool]>> {
        let list = AssertUnwindSafe(self.source.tools(principal)).catch_unwind();
        let name = self.source.name();
        match tokio::time::timeout(LIST_WAIT, list).await {
            Ok(Ok(tools)) => Some(tools),
            Ok(Err(_)) => {
                tracing::error!(source = name, "a source of tools panicked");
                None
            }
            Err(_) => {
                tracing::warn!(source = name, "a source of tools does not say what it has");
                None
            }
        }
    }

    fn entry(&self, tool: &SourceTool) -> Result<Entry, String> {
        let name = ToolName::parse(format!("{}__{}", self.source.name(), tool.name)).map_err(|error| error.to_string())?;
        let contract = Contract {
            name,
            title: clip(&tool.title, 200),
            description: clip(&tool.description, MAX_DESCRIPTION),
            input: tool.input.clone(),
            output: tool.output.clone().unwrap_or(Value::Null),
            category: tool.category.clone(),
            effect: tool.effect,
        };
        let operation = Operation::Source(self.source.clone(), tool.name.clone());
        Entry::new(contract, Origin::Mcp, operation).map_err(|error| error.to_string())
    }
}

fn clip(text: &str, most: usize) -> String {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

#[cfg(test)]
mod tests;
