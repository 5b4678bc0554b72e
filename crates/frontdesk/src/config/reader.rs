//! Reading one section: each accessor takes its key out of the table and checks type and bounds, so that what
//! is left over at the end is unknown and what was asked for is the list of known names.

use std::{fmt, ops::RangeInclusive, path::PathBuf, str::FromStr};

use super::{
    Environment, Secret,
    environment::PREFIX,
    file,
    problem::{Place, Problems, nearest},
    value::{Node, Table, Value},
};

/// A value with the place it came from, for checks that need several keys.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed<T> {
    pub value: T,
    pub at: Place,
}

pub(super) struct Reader<'a> {
    section: &'static str,
    table: Table,
    known: Vec<&'static str>,
    /// Errors that were there before the last key was read.
    before: usize,
    pub environment: &'a Environment,
    pub problems: &'a mut Problems,
}

impl<'a> Reader<'a> {
    pub(super) fn new(section: &'static str, table: Table, environment: &'a Environment, problems: &'a mut Problems) -> Self {
        let before = problems.errors.len();
        Self { section, table, known: Vec::new(), before, environment, problems }
    }

    fn take(&mut self, key: &'static str) -> Option<Node> {
        self.known.push(key);
        self.before = self.problems.errors.len();
        self.table.0.remove(key)
    }

    fn wrong(&mut self, key: &str, node: &Node, expected: &str) {
        let kind = match &node.value {
            Value::Raw(_) => String::new(),
            value => format!(", not {}", value.kind()),
        };
        let message = format!("{}.{key} must be {expected}{kind}", self.section);
        self.problems.error(&node.at, "wrong-type", message);
    }

    /// Whether the key that was read last is there, but wrong, which was said.
    pub(super) fn was_wrong(&self) -> bool {
        self.problems.errors.len() > self.before
    }

    /// A string that is not empty.
    pub(super) fn text(&mut self, key: &'static str) -> Option<Placed<String>> {
        let node = self.take(key)?;
        match node.value {
            Value::Raw(text) | Value::Text(text) if !text.is_empty() => Some(Placed { value: text, at: node.at }),
            Value::Raw(_) | Value::Text(_) => {
                let message = format!("{}.{key} may not be empty; leave it out instead", self.section);
                self.problems.error(&node.at, "out-of-range", message);
                None
            }
            _ => {
                self.wrong(key, &node, "a string");
                None
            }
        }
    }

    pub(super) fn secret(&mut self, key: &'static str) -> Option<Placed<Secret>> {
        self.text(key).map(|text| Placed { value: Secret::new(text.value), at: text.at })
    }

    /// A whole number within `range`.
    pub(super) fn integer<T: TryFrom<i64>>(&mut self, key: &'static str, range: RangeInclusive<i64>) -> Option<T> {
        let mut node = self.take(key)?;
        if let Value::Raw(text) = &node.value {
            node.value = file::fragment(text, &node.at).unwrap_or(Value::Raw(String::new()));
        }
        let Value::Integer(integer) = node.value else {
            self.wrong(key, &node, "an integer");
            return None;
        };
        let value = range.contains(&integer).then(|| T::try_from(integer).ok()).flatten();
        if value.is_none() {
            let message = format!("{}.{key} must be {} to {}, not {integer}", self.section, range.start(), range.end());
            self.problems.error(&node.at, "out-of-range", message);
        }
        value
    }

    pub(super) fn boolean(&mut self, key: &'static str) -> Option<Placed<bool>> {
        let mut node = self.take(key)?;
        if let Value::Raw(text) = &node.value {
            node.value = file::fragment(text, &node.at).unwrap_or(Value::Raw(String::new()));
        }
        match node.value {
            Value::Boolean(value) => Some(Placed { value, at: node.at }),
            _ => {
                self.wrong(key, &node, "true or false");
                None
            }
        }
    }

    /// One of a few words.
    pub(super) fn one_of<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)]) -> Option<Placed<T>> {
        let Placed { value: word, at } = self.text(key)?;
        if let Some((_, value)) = words.iter().find(|(name, _)| *name == word) {
            return Some(Placed { value: *value, at });
        }
        let names = words.iter().map(|(name, _)| *name);
        let near = nearest(&word, names.clone()).map(str::to_owned);
        let list = names.collect::<Vec<_>>().join(", ");
        let message = format!("{}.{key} must be one of {list}, not \"{word}\"", self.section);
        self.problems.error_near(&at, "unknown-value", message, near);
        None
    }

    /// A name of some kind.
    pub(super) fn name<T: FromStr<Err: fmt::Display>>(&mut self, key: &'static str) -> Option<Placed<T>> {
        let text = self.text(key)?;
        self.parsed(&text)
    }

    /// The same where there must be one; what lacks it is at `whole`.
    pub(super) fn required<T: FromStr<Err: fmt::Display>>(&mut self, key: &'static str, whole: &Place) -> Option<Placed<T>> {
        let name = self.name(key);
        if name.is_none() && !self.was_wrong() {
            self.problems.error(whole, "missing-key", format!("{}.{key} is missing", self.section));
        }
        name
    }

    /// A list of names of some kind, each with its place; those that are none are left out.
    pub(super) fn names<T: FromStr<Err: fmt::Display>>(&mut self, key: &'static str) -> Option<Vec<Placed<T>>> {
        let items = self.items(key)?.value;
        Some(items.iter().filter_map(|item| self.parsed(item)).collect())
    }

    fn parsed<T: FromStr<Err: fmt::Display>>(&mut self, text: &Placed<String>) -> Option<Placed<T>> {
        match text.value.parse() {
            Ok(value) => Some(Placed { value, at: text.at.clone() }),
            Err(error) => {
                self.problems.error(&text.at, "invalid-value", error.to_string());
                None
            }
        }
    }

    /// A table, with the place of its key.
    pub(super) fn table(&mut self, key: &'static str) -> Option<(Table, Place)> {
        let node = self.take(key)?;
        match node.value {
            Value::Table(table) => Some((table, node.key)),
            _ => {
                self.wrong(key, &node, "a table of settings");
                None
            }
        }
    }

    /// A list of strings; in a variable or flag also separated by commas.
    pub(super) fn list(&mut self, key: &'static str) -> Option<Placed<Vec<String>>> {
        let Placed { value, at } = self.items(key)?;
        Some(Placed { value: value.into_iter().map(|item| item.value).collect(), at })
    }

    fn items(&mut self, key: &'static str) -> Option<Placed<Vec<Placed<String>>>> {
        let mut node = self.take(key)?;
        if let Value::Raw(text) = &node.value {
            let written = text.trim();
            node.value = if written.starts_with('[') {
                file::fragment(written, &node.at).unwrap_or(Value::Raw(String::new()))
            } else {
                let item =
                    |item: &str| Node { key: node.at.clone(), at: node.at.clone(), value: Value::Text(item.trim().to_owned()) };
                Value::Array(written.split(',').filter(|item| !item.trim().is_empty()).map(item).collect())
            };
        }
        let Value::Array(items) = &node.value else {
            self.wrong(key, &node, "a list of strings");
            return None;
        };
        let texts: Option<Vec<Placed<String>>> = items
            .iter()
            .map(|item| match &item.value {
                Value::Text(text) => Some(Placed { value: text.clone(), at: item.at.clone() }),
                _ => None,
            })
            .collect();
        match texts {
            Some(value) => Some(Placed { value, at: node.at }),
            None => {
                self.wrong(key, &node, "a list of strings");
                None
            }
        }
    }

    /// A path made absolute: `~/…`, else relative to the file it is written in, else to the working directory.
    pub(super) fn resolve(&self, path: &str, at: &Place) -> PathBuf {
        let path = self.environment.expand(std::path::Path::new(path));
        match at {
            Place::File { file, .. } => file.folder.join(path),
            _ => self.environment.directory.join(path),
        }
    }

    /// A key whose feature is not there yet: set, it refuses the start.
    pub(super) fn later(&mut self, key: &'static str) {
        if let Some(node) = self.take(key) {
            let message = format!("{}.{key} is not available in this version; remove it", self.section);
            self.problems.error(&node.key, "not-available", message);
        }
    }

    /// Says of a key that it has no effect yet.
    pub(super) fn idle(&mut self, key: &'static str) {
        let node = self.table.0.get(key).map(|node| node.key.clone());
        if let Some(at) = node {
            let message = format!("{}.{key} has no effect in this version", self.section);
            self.problems.warn(&at, "not-available", message);
        }
    }

    /// Whatever was not asked for is unknown.
    pub(super) fn finish(self) {
        for (name, node) in self.table.0 {
            let near = nearest(&name, self.known.iter().copied());
            let near = near.map(|key| match &node.key {
                Place::Variable(_) => format!("{PREFIX}{}__{}", self.section.replace('.', "__"), key).to_uppercase(),
                _ => key.to_owned(),
            });
            let message = format!("there is no setting {}.{name}", self.section);
            self.problems.error_near(&node.key, "unknown-key", message, near);
        }
    }
}
