//! Reading the configuration file: TOML with the place of every key.

use std::{
    fs::File as Opened,
    io::Read,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    Environment,
    problem::{File, Place, Problems},
    value::{Node, Table, Value},
};

/// Most bytes a configuration file, or a file named by `…_FILE`, may have.
pub(super) const MAX_BYTES: u64 = 1024 * 1024;

/// The file to read: `--config`, else `FRONTDESK_CONFIG`, else `./frontdesk.toml`, else `~/.frontdesk/config.toml`.
/// The first two must exist; they may be pipes. What has the name of the others but cannot be read is an error later,
/// never passed over.
pub(super) fn locate(environment: &Environment, flag: Option<&Path>, problems: &mut Problems) -> Option<PathBuf> {
    let named = flag.map(|path| (path.to_owned(), Place::Flag("--config"))).or_else(|| {
        let path = environment.get("FRONTDESK_CONFIG").filter(|path| !path.is_empty())?;
        Some((PathBuf::from(path), Place::Variable("FRONTDESK_CONFIG".to_owned())))
    });
    if let Some((path, at)) = named {
        let path = environment.expand(&path);
        if environment.directory.join(&path).metadata().is_ok_and(|found| !found.is_dir()) {
            return Some(path);
        }
        problems.error(&at, "not-found", format!("there is no file {}", path.display()));
        return None;
    }
    let local = PathBuf::from("frontdesk.toml");
    let home = environment.home.as_ref().map(|home| home.join(".frontdesk").join("config.toml"));
    [Some(local), home].into_iter().flatten().find(|path| environment.directory.join(path).symlink_metadata().is_ok())
}

/// Reads a text file, pipe or device of at most [`MAX_BYTES`]: nothing endless.
pub(super) fn read(path: &Path) -> Result<String, String> {
    let file = Opened::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("it has more than {MAX_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

pub(super) fn layer(environment: &Environment, path: &Path, problems: &mut Problems) -> Table {
    let full = environment.directory.join(path);
    let folder = full.parent().unwrap_or(&environment.directory).to_owned();
    let file = Arc::new(File { shown: path.display().to_string(), folder });
    match read(&full) {
        Ok(text) => parse(&text, file, problems),
        Err(error) => {
            problems.error(&Place::File { file, line: 1, column: 1 }, "unreadable", format!("cannot read the file: {error}"));
            Table::default()
        }
    }
}

/// Reads a TOML document; what is wrong with it is said, the rest of it counts.
pub(super) fn parse(text: &str, file: Arc<File>, problems: &mut Problems) -> Table {
    let source = Source { text, file };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let span = error.span().unwrap_or(0..0);
        let at = source.place(span.clone());
        if error.message().starts_with("duplicate") {
            let key = text.get(span).unwrap_or_default();
            problems.error(&at, "duplicate-key", format!("{key} is set twice"));
        } else {
            problems.error(&at, "syntax", error.message());
        }
    }
    source.table(table.get_ref())
}

/// A TOML value written in an environment variable; every value in it has the variable's place.
pub(super) fn fragment(text: &str, at: &Place) -> Option<Value> {
    let value = DeValue::parse(text.trim()).ok()?;
    let mut node =
        Source { text: "", file: Arc::new(File { shown: String::new(), folder: PathBuf::new() }) }.value(value.get_ref());
    relocate(&mut node, at);
    Some(node)
}

fn relocate(value: &mut Value, at: &Place) {
    let each = |node: &mut Node| {
        (node.key, node.at) = (at.clone(), at.clone());
        relocate(&mut node.value, at);
    };
    match value {
        Value::Array(items) => items.iter_mut().for_each(each),
        Value::Table(table) => table.0.values_mut().for_each(each),
        _ => {}
    }
}

struct Source<'a> {
    text: &'a str,
    file: Arc<File>,
}

impl Source<'_> {
    fn place(&self, span: Range<usize>) -> Place {
        let before = self.text.get(..span.start.min(self.text.len())).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        Place::File { file: self.file.clone(), line, column }
    }

    fn table(&self, table: &DeTable<'_>) -> Table {
        let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
            let name: &std::borrow::Cow<'_, str> = key.get_ref();
            let node = Node { key: self.place(key.span()), at: self.place(value.span()), value: self.value(value.get_ref()) };
            (name.to_string(), node)
        };
        Table(table.iter().map(entry).collect())
    }

    fn value(&self, value: &DeValue<'_>) -> Value {
        match value {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(integer) => Value::Integer(integer),
                Err(_) => Value::Other("an integer beyond 64 bits"),
            },
            DeValue::Float(_) => Value::Other("a float"),
            DeValue::Boolean(boolean) => Value::Boolean(*boolean),
            DeValue::Datetime(_) => Value::Other("a date"),
            DeValue::Array(items) => Value::Array(
                items
                    .iter()
                    .map(|item| {
                        let at = self.place(item.span());
                        Node { key: at.clone(), at, value: self.value(item.get_ref()) }
                    })
                    .collect(),
            ),
            DeValue::Table(table) => Value::Table(self.table(table)),
        }
    }
}
