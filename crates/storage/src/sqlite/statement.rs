//! One statement on one connection.

use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection};

use crate::{Row, StorageError, Value};

/// At most `limit` rows; the statement is stopped there.
pub(super) fn rows(connection: &Connection, sql: &str, params: &[Value], limit: usize) -> Result<Vec<Row>, StorageError> {
    let mut statement = bound(connection, sql, params)?;
    let width = statement.column_count();
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while found.len() < limit
        && let Some(row) = rows.next()?
    {
        found.push(Row((0..width).map(|column| value(row.get_ref(column)?)).collect::<Result<_, _>>()?));
    }
    Ok(found)
}

/// Rows changed.
pub(super) fn execute(connection: &Connection, sql: &str, params: &[Value]) -> Result<u64, StorageError> {
    Ok(bound(connection, sql, params)?.raw_execute()? as u64)
}

fn bound<'c>(connection: &'c Connection, sql: &str, params: &[Value]) -> Result<CachedStatement<'c>, StorageError> {
    let mut statement = connection.prepare_cached(unlocked(sql))?;
    let count = statement.parameter_count();
    if count != params.len() {
        return Err(StorageError::Statement(format!("{count} parameters in the statement, {} given", params.len())));
    }
    for index in 1..=count {
        // SQLite numbers `$2 … $1` by first appearance; the name says which is meant.
        let number = statement.parameter_name(index).and_then(|name| name.strip_prefix('$')?.parse::<usize>().ok());
        let value = number.and_then(|number| params.get(number.checked_sub(1)?));
        match value {
            Some(Value::Text(text)) => statement.raw_bind_parameter(index, text.as_deref())?,
            Some(Value::Int(number)) => statement.raw_bind_parameter(index, number)?,
            Some(Value::Bool(flag)) => statement.raw_bind_parameter(index, flag)?,
            Some(Value::Bytes(bytes)) => statement.raw_bind_parameter(index, bytes.as_deref())?,
            None => return Err(StorageError::Statement("parameters are $1, $2, … without gaps".to_owned())),
        }
    }
    Ok(statement)
}

fn value(value: ValueRef<'_>) -> Result<Value, StorageError> {
    Ok(match value {
        ValueRef::Null => Value::Text(None),
        ValueRef::Integer(number) => Value::Int(Some(number)),
        ValueRef::Blob(bytes) => Value::Bytes(Some(bytes.to_vec())),
        ValueRef::Text(bytes) => {
            let text = String::from_utf8(bytes.to_vec());
            Value::Text(Some(text.map_err(|_| StorageError::Corrupt("text is not UTF-8".to_owned()))?))
        }
        ValueRef::Real(_) => return Err(StorageError::Corrupt("a column is REAL".to_owned())),
    })
}

/// Without a trailing `FOR UPDATE …`: the writer is alone.
fn unlocked(sql: &str) -> &str {
    let end = sql.trim_ascii_end();
    if !end.ends_with("UPDATE") && !end.ends_with("LOCKED") {
        return sql;
    }
    match sql.rsplit_once("FOR UPDATE") {
        Some((before, "")) => before,
        Some((before, after)) if after.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_whitespace()) => before,
        _ => sql,
    }
}

#[cfg(test)]
mod tests {
    use super::unlocked;

    #[test]
    fn only_a_trailing_lock_is_cut() {
        assert_eq!(unlocked("SELECT a FROM t FOR UPDATE"), "SELECT a FROM t ");
        assert_eq!(unlocked("SELECT a FROM t\n FOR UPDATE SKIP LOCKED \n"), "SELECT a FROM t\n ");
        assert_eq!(unlocked("SELECT a FROM t"), "SELECT a FROM t");
        let inner = "UPDATE t SET a = $1 WHERE b IN (SELECT b FROM t FOR UPDATE)";
        assert_eq!(unlocked(inner), inner);
    }
}
