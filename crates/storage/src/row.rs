//! Columns as the words of `domain`.

use std::{fmt::Display, str::FromStr};

use serde::{Serialize, de::DeserializeOwned};

use crate::{Row, StorageError};

/// An id column.
pub(crate) fn parsed<T>(row: &Row, column: usize) -> Result<T, StorageError>
where
    T: FromStr,
    T::Err: Display,
{
    row.get::<String>(column)?.parse().map_err(|error: T::Err| StorageError::Corrupt(error.to_string()))
}

/// An id column that may be NULL.
pub(crate) fn optional<T>(row: &Row, column: usize) -> Result<Option<T>, StorageError>
where
    T: FromStr,
    T::Err: Display,
{
    let text: Option<String> = row.get(column)?;
    text.map(|text| text.parse().map_err(|error: T::Err| StorageError::Corrupt(error.to_string()))).transpose()
}

/// A column holding a word `parse` knows.
pub(crate) fn word<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, StorageError> {
    parse(text).ok_or_else(|| StorageError::Corrupt(format!("unknown word \"{text}\"")))
}

/// A count; negative ones are stored by nobody.
pub(crate) fn count(value: i64) -> Result<u64, StorageError> {
    u64::try_from(value).map_err(|_| StorageError::Corrupt(format!("negative count {value}")))
}

pub(crate) fn to_json(value: &impl Serialize) -> Result<String, StorageError> {
    serde_json::to_string(value).map_err(|error| StorageError::Corrupt(error.to_string()))
}

pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, StorageError> {
    serde_json::from_str(text).map_err(|error| StorageError::Corrupt(error.to_string()))
}

/// A duration in milliseconds, as columns keep it.
pub(crate) fn millis(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 4)
}
