//! PostgreSQL: all steps on one connection that holds an advisory lock and is closed at the end.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, Row};

use super::{Migration, Migrations, Owner, Schema, list};
use crate::OpenError;

/// "frontdes", as a number.
const LOCK: i64 = 0x6672_6f6e_7464_6573;
const CONNECT: Duration = Duration::from_secs(15);

pub(crate) async fn run(options: &PgConnectOptions, application: Option<Migrations>) -> Result<(), OpenError> {
    let mut schemas = vec![Schema::product(list::POSTGRES)];
    if let Some(application) = application {
        schemas.push(application.schema(application.postgres)?);
    }
    run_schemas(options, &schemas).await
}

pub(super) async fn run_schemas(options: &PgConnectOptions, schemas: &[Schema]) -> Result<(), OpenError> {
    let connecting = tokio::time::timeout(CONNECT, options.connect()).await;
    let mut connection = connecting.map_err(|_| OpenError::Open("no connection within 15 s".to_owned()))?.map_err(open)?;
    // The usual start finds nothing to do and waits for nobody.
    if up_to_date(&mut connection, schemas).await? {
        return close(connection).await;
    }
    // A large table may take long; who waits for another process' migration waits a minute.
    for sql in ["SET statement_timeout = 0", "SET lock_timeout = '60s'"] {
        connection.execute(sql).await.map_err(open)?;
    }
    sqlx::query("SELECT pg_advisory_lock($1)").bind(LOCK).execute(&mut connection).await.map_err(open)?;
    for schema in schemas {
        connection.execute(schema.owner.table()).await.map_err(open)?;
        while let Some(step) = schema.next(version(&mut connection, schema.owner).await.map_err(open)?)? {
            apply(&mut connection, schema, step).await?;
        }
    }
    close(connection).await
}

async fn up_to_date(connection: &mut PgConnection, schemas: &[Schema]) -> Result<bool, OpenError> {
    for schema in schemas {
        // Without its table nothing ran yet.
        let Ok(found) = version(connection, schema.owner).await else { return Ok(false) };
        if schema.next(found)?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn apply(connection: &mut PgConnection, schema: &Schema, step: &Migration) -> Result<(), OpenError> {
    let failed = |error: sqlx::Error| schema.failed(step, error);
    let mut transaction = connection.begin().await.map_err(failed)?;
    let before = names(&mut transaction).await.map_err(failed)?;
    transaction.execute(sqlx::raw_sql(step.sql)).await.map_err(failed)?;
    let after = names(&mut transaction).await.map_err(failed)?;
    schema.owner.check_names(&before, &after).map_err(|why| schema.failed(step, why))?;
    let record = schema.owner.record(step.version);
    transaction.execute(sqlx::raw_sql(AssertSqlSafe(record))).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)
}

async fn version(connection: &mut PgConnection, owner: Owner) -> Result<i64, sqlx::Error> {
    connection.fetch_one(sqlx::raw_sql(AssertSqlSafe(owner.version()))).await?.try_get(0)
}

/// Tables, indexes, views and sequences of the schema new ones are made in.
async fn names(connection: &mut PgConnection) -> Result<Vec<String>, sqlx::Error> {
    let sql = "SELECT relname::TEXT FROM pg_class
        WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())";
    connection.fetch_all(sql).await?.iter().map(|row| row.try_get(0)).collect()
}

/// The lock ends with the connection.
async fn close(connection: PgConnection) -> Result<(), OpenError> {
    // What is done is done, whether or not the server hears of it.
    let _ = connection.close().await;
    Ok(())
}

fn open(error: sqlx::Error) -> OpenError {
    // The server's own words: sqlx adds a line number of the server's source.
    let message = error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned());
    OpenError::Open(message)
}
