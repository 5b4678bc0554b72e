//! What the process was given besides its file: variables, home and working directory, as values.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{
    file,
    problem::{Place, Problems},
    value::{Table, Value},
};

/// The prefix of variables that are settings.
pub(super) const PREFIX: &str = "FRONTDESK__";

/// Variables, home and working directory. Variables that are not UTF-8 keep their lossy text.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    pub variables: BTreeMap<String, String>,
    pub home: Option<PathBuf>,
    pub directory: PathBuf,
}

impl Environment {
    /// The process's own.
    pub fn of_process() -> Self {
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        Self {
            variables: std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect(),
            home: std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from),
            directory: std::env::current_dir().unwrap_or_default(),
        }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// `~/…` as a path below the home directory; any other path as it is.
    pub(super) fn expand(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        }
    }

    /// `AI_PROVIDER` and `AI_MODEL`, the layer below the file. Empty is not set.
    pub(super) fn model_layer(&self) -> Table {
        let mut table = Table::default();
        for (variable, key) in [("AI_PROVIDER", "provider"), ("AI_MODEL", "name")] {
            if let Some(value) = self.get(variable).filter(|value| !value.is_empty()) {
                table.insert(&["model", key], &Place::Variable(variable.to_owned()), Value::Raw(value.to_owned()));
            }
        }
        table
    }

    /// `FRONTDESK__SECTION__KEY`, and `…_FILE`, whose value is the text of the file it names without the final newline.
    pub(super) fn layer(&self, problems: &mut Problems) -> Table {
        let mut table = Table::default();
        for (variable, value) in &self.variables {
            let Some(rest) = variable.strip_prefix(PREFIX) else { continue };
            let at = Place::Variable(variable.clone());
            let name = rest.to_lowercase();
            let (name, value) = match name.strip_suffix("_file") {
                Some(name) => match file::read(&self.directory.join(self.expand(Path::new(value)))) {
                    Ok(text) => (name, text.trim_end_matches(['\n', '\r']).to_owned()),
                    Err(error) => {
                        problems.error(&at, "unreadable", format!("cannot read the file it names: {error}"));
                        continue;
                    }
                },
                None => (name.as_str(), value.clone()),
            };
            let path: Vec<&str> = name.split("__").collect();
            if !table.insert(&path, &at, Value::Raw(value)) {
                problems.error(&at, "duplicate-key", format!("{} is set twice", path.join(".")));
            }
        }
        table
    }
}
