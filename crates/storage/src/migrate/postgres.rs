//! PostgreSQL: all steps on one connection that holds an advisory lock and is closed at the end.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, Row};

use super::{Migration, TABLE, VERSION, failed, list, next};
use crate::OpenError;

/// "frontdes", as a number.
const LOCK: i64 = 0x6672_6f6e_7464_6573;
const CONNECT: Duration = Duration::from_secs(15);

pub(crate) async fn run(options: &PgConnectOptions) -> Result<(), OpenError> {
    run_list(options, list::POSTGRES).await
}

pub(super) async fn run_list(options: &PgConnectOptions, migrations: &'static [Migration]) -> Result<(), OpenError> {
    let connecting = tokio::time::timeout(CONNECT, options.connect()).await;
    let mut connection = connecting.map_err(|_| OpenError::Open("no connection within 15 s".to_owned()))?.map_err(open)?;
    // The usual start finds nothing to do and waits for nobody.
    if let Ok(found) = version(&mut connection).await
        && next(migrations, found)?.is_none()
    {
        return close(connection).await;
    }
    // A large table may take long; who waits for another process' migration waits a minute.
    for sql in ["SET statement_timeout = 0", "SET lock_timeout = '60s'"] {
        connection.execute(sql).await.map_err(open)?;
    }
    sqlx::query("SELECT pg_advisory_lock($1)").bind(LOCK).execute(&mut connection).await.map_err(open)?;
    connection.execute(TABLE).await.map_err(open)?;
    while let Some(migration) = next(migrations, version(&mut connection).await.map_err(open)?)? {
        apply(&mut connection, migration).await.map_err(|error| failed(migration, error))?;
    }
    close(connection).await
}

async fn apply(connection: &mut PgConnection, migration: &Migration) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin().await?;
    transaction.execute(sqlx::raw_sql(migration.sql)).await?;
    let number = format!("INSERT INTO schema_migrations (version) VALUES ({})", migration.version);
    transaction.execute(sqlx::raw_sql(AssertSqlSafe(number))).await?;
    transaction.commit().await
}

async fn version(connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
    connection.fetch_one(VERSION).await?.try_get(0)
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
