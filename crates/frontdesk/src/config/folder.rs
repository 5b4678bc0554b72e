//! A folder of files that a setting names: what is in it, in the order of the names, each read within bounds.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    file,
    problem::{File, Place, Problems},
};

/// Most entries of a folder that are looked at.
const MAX_ENTRIES: usize = 1_000;
/// Most bytes of one file.
const MAX_BYTES: usize = 256 * 1024;

/// Where it is, and how the setting that names it was written.
pub(super) struct Folder {
    pub full: PathBuf,
    pub shown: PathBuf,
    pub at: Place,
}

impl Folder {
    /// The folder that a setting at `at` names; relative paths as [`Reader::resolve`](super::reader::Reader::resolve)
    /// reads them, which gave `full`.
    pub(super) fn named(written: &str, full: PathBuf, at: Place) -> Self {
        let shown = match &at {
            Place::File { file, .. } => Path::new(&file.shown).parent().unwrap_or(Path::new("")).join(written),
            _ => PathBuf::from(written),
        };
        Self { full, shown, at }
    }

    /// The names of what is in it, in their order, without hidden files.
    pub(super) fn names(&self, problems: &mut Problems) -> Vec<String> {
        let entries = match fs::read_dir(&self.full) {
            Ok(entries) => entries,
            Err(error) => {
                let message = format!("cannot read the folder {}: {error}", self.shown.display());
                problems.error(&self.at, "unreadable", message);
                return Vec::new();
            }
        };
        let names = entries.filter_map(Result::ok).map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).take(MAX_ENTRIES + 1).collect();
        if names.len() > MAX_ENTRIES {
            let message = format!("the folder {} holds more than {MAX_ENTRIES} files", self.shown.display());
            problems.error(&self.at, "out-of-range", message);
            return Vec::new();
        }
        names.sort();
        names
    }

    /// A file of it, and how errors name it.
    pub(super) fn read(&self, name: &str, problems: &mut Problems) -> Option<(String, Arc<File>)> {
        let full = self.full.join(name);
        let folder = full.parent().unwrap_or(&self.full).to_owned();
        let file = Arc::new(File { shown: self.shown.join(name).display().to_string(), folder });
        let text = file::read(&full)
            .and_then(|text| if text.len() <= MAX_BYTES { Ok(text) } else { Err(format!("it has more than {MAX_BYTES} bytes")) });
        match text {
            Ok(text) => Some((text, file)),
            Err(error) => {
                problems.error(&start(&file), "unreadable", format!("cannot read the file: {error}"));
                None
            }
        }
    }
}

/// A file as a whole.
pub(super) fn start(file: &Arc<File>) -> Place {
    Place::File { file: file.clone(), line: 1, column: 1 }
}
