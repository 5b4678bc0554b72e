//! Parameters and columns.

use crate::StorageError;

/// A parameter or a column's value. A NULL parameter keeps its type, which PostgreSQL wants to know; the type of a
/// NULL column means nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(Option<String>),
    Int(Option<i64>),
    Bool(Option<bool>),
    Bytes(Option<Vec<u8>>),
}

macro_rules! from {
    ($($type:ty => $variant:ident: $value:ident => $into:expr;)*) => {$(
        impl From<$type> for Value {
            fn from($value: $type) -> Self { Self::$variant(Some($into)) }
        }
        impl From<Option<$type>> for Value {
            fn from(value: Option<$type>) -> Self { Self::$variant(value.map(|$value| $into)) }
        }
    )*};
}

from! {
    String => Text: value => value;
    &str => Text: value => value.to_owned();
    &String => Text: value => value.clone();
    i64 => Int: value => value;
    u32 => Int: value => i64::from(value);
    bool => Bool: value => value;
    Vec<u8> => Bytes: value => value;
    &[u8] => Bytes: value => value.to_vec();
}

/// One row; columns by position, in the order of the SELECT.
#[derive(Debug, Clone, PartialEq)]
pub struct Row(pub Vec<Value>);

/// A column's value as a Rust type.
pub trait FromValue: Sized {
    fn from_value(value: Option<&Value>) -> Result<Self, StorageError>;
}

impl Row {
    /// The `column`-th value, counted from 0. NULL for a type that cannot be null is [`StorageError::Corrupt`].
    pub fn get<T: FromValue>(&self, column: usize) -> Result<T, StorageError> {
        T::from_value(self.0.get(column))
            .map_err(|error| StorageError::Corrupt(format!("column {}: {}", column + 1, error.into_message())))
    }
}

fn wrong(value: Option<&Value>, wanted: &str) -> StorageError {
    let found = match value {
        None => "no such column",
        Some(Value::Text(None) | Value::Int(None) | Value::Bool(None) | Value::Bytes(None)) => "NULL",
        Some(Value::Text(_)) => "TEXT",
        Some(Value::Int(_)) => "BIGINT",
        Some(Value::Bool(_)) => "BOOLEAN",
        Some(Value::Bytes(_)) => "bytes",
    };
    StorageError::Corrupt(format!("expected {wanted}, found {found}"))
}

macro_rules! column {
    ($($type:ty, $name:literal: $($pattern:pat => $value:expr),+;)*) => {$(
        impl FromValue for $type {
            fn from_value(value: Option<&Value>) -> Result<Self, StorageError> {
                match value {
                    $(Some($pattern) => Ok($value),)+
                    other => Err(wrong(other, $name)),
                }
            }
        }
        impl FromValue for Option<$type> {
            fn from_value(value: Option<&Value>) -> Result<Self, StorageError> {
                match value {
                    Some(Value::Text(None) | Value::Int(None) | Value::Bool(None) | Value::Bytes(None)) => Ok(None),
                    other => <$type>::from_value(other).map(Some),
                }
            }
        }
    )*};
}

// SQLite keeps BOOLEAN as 0 and 1.
column! {
    String, "TEXT": Value::Text(Some(text)) => text.clone();
    i64, "BIGINT": Value::Int(Some(number)) => *number;
    bool, "BOOLEAN": Value::Bool(Some(flag)) => *flag, Value::Int(Some(0)) => false, Value::Int(Some(1)) => true;
    Vec<u8>, "bytes": Value::Bytes(Some(bytes)) => bytes.clone();
}
