//! What a provider wants to see again of an answer's reasoning, carried through the transcript as one opaque text.
//!
//! Providers sign their reasoning, and want it back exactly where it stood: before the call it led to, beside the text
//! it belongs to. The transcript keeps an answer's text, reasoning and calls apart. So the seal notes the order in which
//! they came, by length, and each piece's signature. It fits only the text, reasoning and calls it was made for, and only
//! the model that made it: anything else reads it as no seal.

use domain::{ModelRef, Reasoning, ToolCall};
use serde::{Deserialize, Serialize};

/// Most pieces of one answer that are noted; an answer in more of them has no seal.
const MAX_PIECES: usize = 512;

/// The order of an answer's pieces.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pieces: Vec<Noted>,
    /// The next piece of reasoning is another one, also if it follows the last one directly.
    apart: bool,
    overflowed: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case")]
enum Noted {
    Text {
        n: usize,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        s: String,
    },
    Thinking {
        n: usize,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        s: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        id: String,
    },
    /// Reasoning that nobody can read.
    Opaque { d: String },
    Call {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        s: String,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct Seal {
    provider: String,
    model: String,
    pieces: Vec<Noted>,
}

impl Layout {
    pub(crate) fn text(&mut self, bytes: usize) {
        match self.pieces.last_mut() {
            Some(Noted::Text { n, s }) if s.is_empty() => *n += bytes,
            _ => self.push(Noted::Text { n: bytes, s: String::new() }),
        }
    }

    pub(crate) fn thinking(&mut self, bytes: usize) {
        match self.pieces.last_mut() {
            Some(Noted::Thinking { n, .. }) if !self.apart => *n += bytes,
            _ => self.push(Noted::Thinking { n: bytes, s: String::new(), id: String::new() }),
        }
        self.apart = false;
    }

    pub(crate) fn call(&mut self) {
        self.push(Noted::Call { s: String::new() });
    }

    /// What comes next is a piece of reasoning of its own.
    pub(crate) fn set_apart(&mut self) {
        self.apart = true;
    }

    /// The signature, or more of it, of the reasoning that came last, which may be empty.
    pub(crate) fn sign_thinking(&mut self, signature: &str, name: &str) {
        if self.apart || !matches!(self.pieces.last(), Some(Noted::Thinking { .. })) {
            self.push(Noted::Thinking { n: 0, s: String::new(), id: String::new() });
            self.apart = false;
        }
        if let Some(Noted::Thinking { s, id, .. }) = self.pieces.last_mut() {
            s.push_str(signature);
            name.clone_into(id);
        }
    }

    /// The signature of the call that came last; the first one counts.
    pub(crate) fn sign_call(&mut self, signature: &str) {
        if let Some(Noted::Call { s }) = self.pieces.last_mut()
            && s.is_empty()
        {
            signature.clone_into(s);
        }
    }

    /// The signature of the last `bytes` of text, which become a piece of their own; there may be none.
    pub(crate) fn sign_text(&mut self, bytes: usize, signature: &str) {
        if let Some(Noted::Text { n, s }) = self.pieces.last_mut()
            && s.is_empty()
        {
            *n = n.saturating_sub(bytes);
            if *n == 0 {
                self.pieces.pop();
            }
        }
        self.push(Noted::Text { n: bytes, s: signature.to_owned() });
    }

    pub(crate) fn opaque(&mut self, data: &str) {
        self.push(Noted::Opaque { d: data.to_owned() });
    }

    /// The seal; `None` if nothing was signed.
    pub(crate) fn sealed(self, model: &ModelRef) -> Option<String> {
        let signed = |piece: &Noted| match piece {
            Noted::Text { s, .. } | Noted::Thinking { s, .. } | Noted::Call { s } => !s.is_empty(),
            Noted::Opaque { .. } => true,
        };
        if self.overflowed || !self.pieces.iter().any(signed) {
            return None;
        }
        let seal = Seal { provider: model.provider.clone(), model: model.name.clone(), pieces: self.pieces };
        serde_json::to_string(&seal).ok()
    }

    fn push(&mut self, piece: Noted) {
        if self.pieces.len() < MAX_PIECES {
            self.pieces.push(piece);
        } else {
            self.overflowed = true;
        }
    }
}

/// A piece of a stored answer, in the order in which it came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Piece<'a> {
    /// May be empty if it has a signature.
    Text {
        text: &'a str,
        signature: &'a str,
    },
    /// `signature` may be empty; `id` is the provider's name of it, if it has one.
    Thinking {
        text: &'a str,
        signature: &'a str,
        id: &'a str,
    },
    Opaque {
        data: &'a str,
    },
    Call {
        call: &'a ToolCall,
        signature: &'a str,
    },
}

/// A stored answer, read with its seal.
#[derive(Debug)]
pub(crate) struct Stored<'a> {
    text: &'a str,
    reasoning: &'a str,
    calls: &'a [ToolCall],
    seal: Option<Seal>,
}

impl<'a> Stored<'a> {
    pub(crate) fn new(model: &ModelRef, text: &'a str, reasoning: Option<&'a Reasoning>, calls: &'a [ToolCall]) -> Self {
        let seal = reasoning
            .and_then(|reasoning| reasoning.signature.as_deref())
            .and_then(|seal| serde_json::from_str::<Seal>(seal).ok())
            .filter(|seal| seal.provider == model.provider && seal.model == model.name);
        let reasoning = reasoning.map_or("", |reasoning| reasoning.text.as_str());
        let mut stored = Self { text, reasoning, calls, seal };
        if stored.cut().is_none() {
            stored.seal = None;
        }
        stored
    }

    /// Whether it goes back with its reasoning.
    pub(crate) fn is_sealed(&self) -> bool {
        self.seal.is_some()
    }

    /// Its pieces in their order; without a seal its text, then its calls, and no reasoning.
    pub(crate) fn pieces(&self) -> Vec<Piece<'_>> {
        self.cut().unwrap_or_else(|| {
            let text = (!self.text.is_empty()).then_some(Piece::Text { text: self.text, signature: "" });
            text.into_iter().chain(self.calls.iter().map(|call| Piece::Call { call, signature: "" })).collect()
        })
    }

    /// The pieces the seal tells of; `None` if it does not fit.
    fn cut(&self) -> Option<Vec<Piece<'_>>> {
        let seal = self.seal.as_ref()?;
        let (mut text, mut reasoning, mut calls) = (self.text, self.reasoning, self.calls.iter());
        let mut pieces = Vec::with_capacity(seal.pieces.len());
        for noted in &seal.pieces {
            pieces.push(match noted {
                Noted::Text { n, s } => {
                    let (head, rest) = text.split_at_checked(*n)?;
                    text = rest;
                    Piece::Text { text: head, signature: s }
                }
                Noted::Thinking { n, s, id } => {
                    let (head, rest) = reasoning.split_at_checked(*n)?;
                    reasoning = rest;
                    Piece::Thinking { text: head, signature: s, id }
                }
                Noted::Opaque { d } => Piece::Opaque { data: d },
                Noted::Call { s } => Piece::Call { call: calls.next()?, signature: s },
            });
        }
        (text.is_empty() && reasoning.is_empty() && calls.next().is_none()).then_some(pieces)
    }
}

#[cfg(test)]
mod tests;
