//! The set of tools, checked once when it is built, and what a person is handed of it for a run.

use std::{collections::BTreeMap, sync::Arc};

use domain::{Contract, Effect, Principal, ToolName};
use futures::future::join_all;

use crate::{CatalogError, Entry, Origin, Read, ToolSource, Write, entry::Operation, source::Mounted};

/// The application's tools and the sources of others.
pub struct Catalog {
    own: Tools,
    sources: Vec<Mounted>,
}

/// Tools by their names, in name order. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Tools(Arc<BTreeMap<ToolName, Arc<Entry>>>);

/// Collects tools.
#[derive(Default)]
pub struct Builder {
    tools: Vec<(Contract, Operation)>,
    sources: Vec<Arc<dyn ToolSource>>,
}

impl Builder {
    /// Adds a tool that only looks.
    #[must_use]
    pub fn read(mut self, tool: impl Read + 'static) -> Self {
        let tool: Arc<dyn Read> = Arc::new(tool);
        self.tools.push((tool.contract().clone(), Operation::Call(tool)));
        self
    }

    /// Adds a tool that changes the application's own tables once a person approved it.
    #[must_use]
    pub fn write(mut self, tool: impl Write + 'static) -> Self {
        let tool: Arc<dyn Write> = Arc::new(tool);
        self.tools.push((tool.contract().clone(), Operation::Apply(tool)));
        self
    }

    /// Adds tools from elsewhere.
    #[must_use]
    pub fn source(mut self, source: impl ToolSource + 'static) -> Self {
        self.sources.push(Arc::new(source));
        self
    }

    /// Checks names, effects and schemas and compiles the latter.
    pub fn build(self) -> Result<Catalog, CatalogError> {
        let mut names = std::collections::BTreeSet::new();
        for source in &self.sources {
            let name = source.name();
            let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            if !(1..=32).contains(&name.len()) || !name.bytes().all(fits) || !names.insert(name.to_owned()) {
                return Err(CatalogError::Source(name.to_owned()));
            }
        }
        let sources = self.sources.into_iter().map(Mounted::new).collect();
        Ok(Catalog { own: Tools::of(self.tools, Origin::Catalog)?, sources })
    }
}

impl Catalog {
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The application's own tools.
    pub fn own(&self) -> &Tools {
        &self.own
    }

    /// Whether a name is one that a source's tool may have: what a source brings is known only while it is there.
    pub fn may_be_a_sources(&self, name: &ToolName) -> bool {
        self.sources.iter().any(|mounted| {
            let rest = name.as_str().strip_prefix(mounted.source.name()).and_then(|rest| rest.strip_prefix("__"));
            rest.is_some_and(|tool| !tool.is_empty())
        })
    }

    /// Whether [`Catalog::mount`] may give more than [`Catalog::own`].
    pub fn has_sources(&self) -> bool {
        !self.sources.is_empty()
    }

    /// All tools there are for a person now. A source that is away brings none; its tools never take the place of the
    /// application's.
    pub async fn mount(&self, principal: &Principal) -> Tools {
        if self.sources.is_empty() {
            return self.own.clone();
        }
        let mut all = (*self.own.0).clone();
        for entries in join_all(self.sources.iter().map(|source| source.entries(principal))).await {
            for (name, entry) in entries.iter() {
                all.entry(name.clone()).or_insert_with(|| entry.clone());
            }
        }
        Tools(Arc::new(all))
    }
}

impl Tools {
    /// A channel's own tools, which its server side runs.
    pub fn of_channel(tools: Vec<Arc<dyn Read>>) -> Result<Self, CatalogError> {
        let tools = tools.into_iter().map(|tool| (tool.contract().clone(), Operation::Call(tool))).collect();
        Self::of(tools, Origin::Channel)
    }

    fn of(tools: Vec<(Contract, Operation)>, origin: Origin) -> Result<Self, CatalogError> {
        let mut all = BTreeMap::new();
        for (contract, operation) in tools {
            let name = contract.name.clone();
            if name.for_model() != name.as_str() {
                return Err(CatalogError::Name(name));
            }
            let fits = match operation {
                Operation::Call(_) => origin == Origin::Channel || contract.effect == Effect::Read,
                Operation::Apply(_) => !matches!(contract.effect, Effect::Read | Effect::Gesture),
                Operation::Source(..) => true,
            };
            if !fits {
                let registered = if matches!(operation, Operation::Call(_)) { "only looks" } else { "writes" };
                return Err(CatalogError::Effect { tool: name, registered, effect: contract.effect });
            }
            if all.insert(name.clone(), Arc::new(Entry::new(contract, origin, operation)?)).is_some() {
                return Err(CatalogError::Twice(name));
            }
        }
        Ok(Self(Arc::new(all)))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.0.values().map(|entry| &**entry)
    }

    pub fn get(&self, name: &ToolName) -> Option<&Entry> {
        self.0.get(name).map(|entry| &**entry)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests;
