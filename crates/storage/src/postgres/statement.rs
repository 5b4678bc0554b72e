//! One statement on one connection.

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Column, Postgres, Row as _, TypeInfo};

use crate::{Row, StorageError, Value};

/// The text comes from our own code; what people wrote is bound. Prepared once a connection.
pub(super) fn query(sql: &str, params: &[Value]) -> Query<'static, Postgres, PgArguments> {
    params.iter().cloned().fold(sqlx::query(AssertSqlSafe(sql)), |query, value| match value {
        Value::Text(text) => query.bind(text),
        Value::Int(number) => query.bind(number),
        Value::Bool(flag) => query.bind(flag),
        Value::Bytes(bytes) => query.bind(bytes),
    })
}

pub(super) fn row(row: &PgRow) -> Result<Row, StorageError> {
    let columns = row.columns().iter().map(|column| {
        let at = column.ordinal();
        Ok(match column.type_info().name() {
            "TEXT" | "VARCHAR" | "CHAR" | "NAME" => Value::Text(row.try_get(at)?),
            "INT8" => Value::Int(row.try_get(at)?),
            "INT4" => Value::Int(row.try_get::<Option<i32>, _>(at)?.map(i64::from)),
            "INT2" => Value::Int(row.try_get::<Option<i16>, _>(at)?.map(i64::from)),
            "BOOL" => Value::Bool(row.try_get(at)?),
            "BYTEA" => Value::Bytes(row.try_get(at)?),
            other => {
                return Err(StorageError::Corrupt(format!("column {} is {other}: cast it in the statement", column.name())));
            }
        })
    });
    columns.collect::<Result<_, _>>().map(Row)
}
