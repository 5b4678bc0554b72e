//! What is wrong with a configuration, where, and what was probably meant.

use std::{fmt, path::PathBuf, sync::Arc};

/// A configuration file: how the user named it and the folder its relative paths start from.
#[derive(Debug, PartialEq, Eq)]
pub struct File {
    pub shown: String,
    pub folder: PathBuf,
}

/// Where a value came from. Line and column count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    File {
        file: Arc<File>,
        line: usize,
        column: usize,
    },
    Variable(String),
    Flag(&'static str),
    /// Nowhere in particular, such as a setting that is missing.
    Configuration,
}

impl Place {
    /// Files first, in their order; then variables and flags.
    fn order(&self) -> (u8, &str, usize, usize) {
        match self {
            Self::File { file, line, column } => (0, &file.shown, *line, *column),
            Self::Variable(name) => (1, name, 0, 0),
            Self::Flag(name) => (2, name, 0, 0),
            Self::Configuration => (3, "", 0, 0),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line, column } => write!(f, "{}:{line}:{column}", file.shown),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(name) => f.write_str(name),
            Self::Configuration => f.write_str("configuration"),
        }
    }
}

/// One finding; its text is `PLACE: code: message; did you mean "x"?`. It never holds the value of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub at: Place,
    pub code: &'static str,
    pub message: String,
    pub nearest: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.at, self.code, self.message)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean \"{nearest}\"?"),
            None => Ok(()),
        }
    }
}

/// Everything found: `errors` refuse the start, `warnings` are said on standard error.
#[derive(Debug, Default)]
pub struct Problems {
    pub errors: Vec<Problem>,
    pub warnings: Vec<Problem>,
}

impl Problems {
    pub(super) fn error(&mut self, at: &Place, code: &'static str, message: impl Into<String>) {
        self.errors.push(Problem { at: at.clone(), code, message: message.into(), nearest: None });
    }

    pub(super) fn error_near(&mut self, at: &Place, code: &'static str, message: String, nearest: Option<String>) {
        self.errors.push(Problem { at: at.clone(), code, message, nearest });
    }

    pub(super) fn warn(&mut self, at: &Place, code: &'static str, message: impl Into<String>) {
        self.warnings.push(Problem { at: at.clone(), code, message: message.into(), nearest: None });
    }

    pub(super) fn sort(&mut self) {
        self.errors.sort_by(|a, b| a.at.order().cmp(&b.at.order()));
        self.warnings.sort_by(|a, b| a.at.order().cmp(&b.at.order()));
    }
}

/// The candidate a person probably meant by `word`, if one is near enough to be worth saying.
pub(super) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let allowed = 1 + word.chars().count() / 4;
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= allowed || strsim::jaro_winkler(&word, candidate) >= 0.85)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
