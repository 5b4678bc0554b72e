//! Settings before they have types: a tree whose every value knows where it came from.

use std::collections::BTreeMap;

use super::problem::Place;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// From an environment variable or a flag: its type is that of the key it is read for.
    Raw(String),
    Text(String),
    Integer(i64),
    Boolean(bool),
    /// A TOML value no key takes; the text names its kind.
    Other(&'static str),
    Array(Vec<Node>),
    Table(Table),
}

impl Value {
    /// The kind as a message says it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Raw(_) => "text",
            Self::Text(_) => "a string",
            Self::Integer(_) => "an integer",
            Self::Boolean(_) => "a boolean",
            Self::Other(kind) => kind,
            Self::Array(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// A value and its place; for a table's entry the place of its key is kept beside it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub key: Place,
    pub at: Place,
    pub value: Value,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Table(pub BTreeMap<String, Node>);

impl Table {
    /// Lays `later` over this one: tables merge, everything else is replaced.
    pub(super) fn merge(&mut self, later: Self) {
        for (name, node) in later.0 {
            match (self.0.get_mut(&name), node) {
                (Some(Node { value: Value::Table(below), .. }), Node { value: Value::Table(above), .. }) => below.merge(above),
                (_, node) => {
                    self.0.insert(name, node);
                }
            }
        }
    }

    /// Puts a value at `path`, making tables on the way. False if something on the way, or at the end, is there already.
    pub(super) fn insert(&mut self, path: &[&str], at: &Place, value: Value) -> bool {
        let Some((first, rest)) = path.split_first() else { return false };
        if rest.is_empty() {
            if self.0.contains_key(*first) {
                return false;
            }
            self.0.insert((*first).to_owned(), Node { key: at.clone(), at: at.clone(), value });
            return true;
        }
        let node = self.0.entry((*first).to_owned()).or_insert_with(|| Node {
            key: at.clone(),
            at: at.clone(),
            value: Value::Table(Self::default()),
        });
        match &mut node.value {
            Value::Table(table) => table.insert(rest, at, value),
            _ => false,
        }
    }
}
