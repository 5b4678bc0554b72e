//! Tool calls out of deltas, however a provider tells them apart.

use std::{borrow::Cow, collections::VecDeque};

use domain::{ChatEvent, ModelError};

/// Most calls of one answer.
pub(crate) const MAX_CALLS: usize = 64;
/// Most bytes of all names and arguments of one answer.
pub(crate) const MAX_BYTES: usize = 1024 * 1024;

/// How a provider tells one call from another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Number(u64),
    /// Whatever else stands where a number should.
    Text(String),
}

/// A piece of a call; what is not said is empty.
#[derive(Debug)]
pub(crate) struct Delta<'a> {
    pub(crate) key: Option<Key>,
    /// The provider's id of the call. It stays here: ours are made by whoever listens.
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    /// More of the arguments' JSON text.
    pub(crate) text: Cow<'a, str>,
}

/// The calls of one answer. A provider's index is only a name for a call (it may start at 1, be huge, be missing, be
/// the same for all); ours count from 0 in the order in which the names came.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    named: usize,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Call {
    key: Option<Key>,
    id: String,
    name: String,
    /// Our index, once the name is known.
    slot: Option<usize>,
    /// All of the arguments so far.
    text: String,
    brackets: Brackets,
}

impl Calls {
    /// Takes one delta of one call.
    pub(crate) fn push(&mut self, delta: &Delta<'_>, out: &mut VecDeque<ChatEvent>) -> Result<(), ModelError> {
        let Delta { key, id, name, text } = delta;
        let (id, name) = (*id, *name);
        self.bytes = self.bytes.saturating_add(name.len() + text.len());
        if self.bytes > MAX_BYTES {
            return Err(ModelError::Protocol("tool calls of more than 1 MiB"));
        }
        let at = match self.find(key.as_ref(), id, name) {
            Some(at) if self.calls[at].repeats(id, name, text) => return Ok(()),
            Some(at) if !self.calls[at].is_over(key.is_some(), id, name) => at,
            _ if key.is_none() && id.is_empty() && name.is_empty() && text.is_empty() => return Ok(()),
            _ if self.calls.len() == MAX_CALLS => return Err(ModelError::Protocol("more than 64 tool calls")),
            _ => {
                self.calls.push(Call { key: key.clone(), ..Call::default() });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            call.id.push_str(id);
        }
        call.text.push_str(text);
        call.brackets.push(text);
        match call.slot {
            Some(index) if !text.is_empty() => {
                out.push_back(ChatEvent::ToolArguments { index, delta: text.clone().into_owned() })
            }
            None if !name.is_empty() => {
                let index = self.named;
                self.named += 1;
                call.slot = Some(index);
                name.clone_into(&mut call.name);
                out.push_back(ChatEvent::ToolCall { index, name: name.to_owned() });
                if !call.text.is_empty() {
                    out.push_back(ChatEvent::ToolArguments { index, delta: call.text.clone() });
                }
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// How many calls have their name.
    pub(crate) fn named(&self) -> usize {
        self.named
    }

    /// Bytes of names and arguments so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The arguments so far of the call of that key.
    pub(crate) fn text(&self, key: &Key) -> Option<&str> {
        self.calls.iter().rev().find(|call| call.key.as_ref() == Some(key)).map(|call| call.text.as_str())
    }

    /// Whether every call got its name.
    pub(crate) fn are_named(&self) -> bool {
        self.named == self.calls.len()
    }

    /// The call a delta may belong to: by index, else by id, else the last one.
    fn find(&self, key: Option<&Key>, id: &str, name: &str) -> Option<usize> {
        let last = self.calls.len().checked_sub(1);
        match key {
            Some(_) => self.calls.iter().rposition(|call| call.key.as_ref() == key),
            None if id.is_empty() => last,
            None => self.calls.iter().rposition(|call| call.id == id).or(if name.is_empty() { last } else { None }),
        }
    }
}

impl Call {
    /// A delta that names a tool begins another call, if this one has its name already and nothing says that the
    /// provider merely repeats it.
    fn is_over(&self, indexed: bool, id: &str, name: &str) -> bool {
        let another_id = !id.is_empty() && !self.id.is_empty() && self.id != id;
        let unmarked = !indexed && id.is_empty();
        self.slot.is_some() && !name.is_empty() && (another_id || unmarked || self.name != name || self.brackets.are_closed())
    }

    /// The same call once more, whole.
    fn repeats(&self, id: &str, name: &str, text: &str) -> bool {
        self.brackets.are_closed() && !id.is_empty() && self.id == id && self.name == name && self.text == text
    }
}

/// Follows JSON text just far enough to see where its object or list ends.
#[derive(Debug, Default)]
struct Brackets {
    depth: usize,
    opened: bool,
    in_string: bool,
    escaped: bool,
}

impl Brackets {
    fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => {
                    self.depth += 1;
                    self.opened = true;
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn are_closed(&self) -> bool {
        self.opened && self.depth == 0 && !self.in_string
    }
}

#[cfg(test)]
mod tests;
