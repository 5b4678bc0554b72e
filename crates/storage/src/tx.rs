//! One transaction on either engine, with one SQL text.
//!
//! Parameters are `$1`, `$2`, … bound by name (SQLite numbers them by first appearance). Column types are TEXT,
//! BIGINT, BLOB/BYTEA and BOOLEAN only. A trailing `FOR UPDATE [SKIP LOCKED]` is cut on SQLite, whose writer is
//! alone. A `Tx` has no lifetime, is `Send`, and rolls back when dropped.

use crate::StorageError;

/// A parameter or a column's value. NULL keeps its type, which PostgreSQL wants to know.
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
    }
}

/// An open transaction.
pub struct Tx {
    _private: (),
}

impl Tx {
    /// The database's time, milliseconds since the Unix epoch, the same throughout the transaction.
    pub async fn now(&mut self) -> Result<i64, StorageError> {
        todo!()
    }

    pub async fn rows(&mut self, _sql: &str, _params: &[Value]) -> Result<Vec<Row>, StorageError> {
        todo!()
    }

    /// The first row, if any.
    pub async fn row(&mut self, _sql: &str, _params: &[Value]) -> Result<Option<Row>, StorageError> {
        todo!()
    }

    /// Rows changed.
    pub async fn execute(&mut self, _sql: &str, _params: &[Value]) -> Result<u64, StorageError> {
        todo!()
    }

    /// Marks a place [`Tx::rollback_to_savepoint`] returns to. One at a time.
    pub async fn savepoint(&mut self) -> Result<(), StorageError> {
        todo!()
    }

    pub async fn rollback_to_savepoint(&mut self) -> Result<(), StorageError> {
        todo!()
    }

    /// Returns once the change is as durable as `store.durability` says; so does a transaction that only read.
    pub async fn commit(self) -> Result<(), StorageError> {
        todo!()
    }
}
