//! The settings at the head of a Markdown file: YAML with the place of every key, of the few kinds that settings have.

use std::{collections::BTreeMap, sync::Arc};

use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use super::{
    problem::{File, Place, Problems},
    value::{Node, Table, Value},
};

/// Most levels of tables and lists within each other, and values in all.
const MAX_DEPTH: usize = 8;
const MAX_NODES: usize = 10_000;

/// The settings between the first line `---` and the next one, and the text after it; `None`: there are none.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut start = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..start], &rest[start + line.len()..]));
        }
        start += line.len();
    }
    None
}

/// Reads the settings that stand below the first line of a file; `None`: they cannot be read, which was said.
pub(super) fn parse(text: &str, file: &Arc<File>, problems: &mut Problems) -> Option<Table> {
    let mut reading = Reading { events: Parser::new_from_str(text), file, nodes: 0 };
    match reading.document() {
        Ok(table) => Some(table),
        Err((at, message)) => {
            problems.error(&at, "syntax", message);
            None
        }
    }
}

struct Reading<'a> {
    events: Parser<'a, StrInput<'a>>,
    file: &'a Arc<File>,
    nodes: usize,
}

type Fault = (Place, String);

impl<'a> Reading<'a> {
    fn place(&self, line: usize, column: usize) -> Place {
        // The line `---` comes before; columns are counted from 0.
        Place::File { file: self.file.clone(), line: line + 1, column: column + 1 }
    }

    fn next(&mut self) -> Result<(Event<'a>, Place), Fault> {
        match self.events.next_event() {
            Some(Ok((event, span))) => {
                let Span { start, .. } = span;
                Ok((event, self.place(start.line(), start.col())))
            }
            Some(Err(error)) => {
                let at = self.place(error.marker().line(), error.marker().col());
                Err((at, error.info()))
            }
            None => Ok((Event::StreamEnd, self.place(1, 0))),
        }
    }

    fn document(&mut self) -> Result<Table, Fault> {
        loop {
            let (event, at) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentStart(..) => {}
                Event::StreamEnd | Event::DocumentEnd => return Ok(Table::default()),
                event => {
                    return match self.node(event, at.clone(), 0)? {
                        Value::Table(table) => Ok(table),
                        _ => Err((at, "the settings are not a table of keys and values".to_owned())),
                    };
                }
            }
        }
    }

    fn node(&mut self, event: Event<'a>, at: Place, depth: usize) -> Result<Value, Fault> {
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return Err((at, format!("more than {MAX_DEPTH} levels or {MAX_NODES} values")));
        }
        match event {
            Event::Scalar(text, style, 0, None) => Ok(scalar(&text, style)),
            Event::SequenceStart(_, 0, None) => {
                let mut items = Vec::new();
                loop {
                    let (event, at) = self.next()?;
                    if event == Event::SequenceEnd {
                        return Ok(Value::Array(items));
                    }
                    let value = self.node(event, at.clone(), depth + 1)?;
                    items.push(Node { key: at.clone(), at, value });
                }
            }
            Event::MappingStart(_, 0, None) => self.table(depth),
            _ => Err((at, "anchors, aliases and tags are not taken".to_owned())),
        }
    }

    fn table(&mut self, depth: usize) -> Result<Value, Fault> {
        let mut entries = BTreeMap::new();
        loop {
            let (event, key) = self.next()?;
            let name = match event {
                Event::MappingEnd => return Ok(Value::Table(Table(entries))),
                Event::Scalar(name, _, 0, None) => name.into_owned(),
                _ => return Err((key, "a key is not a plain word".to_owned())),
            };
            let (event, at) = self.next()?;
            let value = self.node(event, at.clone(), depth + 1)?;
            if entries.contains_key(&name) {
                return Err((key, format!("{name} is set twice")));
            }
            entries.insert(name, Node { key, at, value });
        }
    }
}

/// As YAML 1.2's core schema reads it, of which settings have texts, whole numbers and booleans.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Other("nothing"),
        "true" | "True" | "TRUE" => Value::Boolean(true),
        "false" | "False" | "FALSE" => Value::Boolean(false),
        _ => match text.parse::<i64>() {
            Ok(integer) => Value::Integer(integer),
            Err(_) if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) && text.parse::<f64>().is_ok() => {
                Value::Other("a float")
            }
            Err(_) => Value::Text(text.to_owned()),
        },
    }
}
