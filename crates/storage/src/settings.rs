//! What the store keeps for the server itself.

use crate::retry::retry;
use crate::{Migrations, StorageError, Store, Tx};

impl Store {
    /// The value of `key`, storing `value` first if there is none: the first caller of all processes wins.
    pub async fn setting_or_insert(&self, key: &str, value: &str) -> Result<String, StorageError> {
        let mut tx = self.read().await?;
        if let Some(stored) = find(&mut tx, key).await? {
            return Ok(stored);
        }
        drop(tx);
        retry!(async {
            let mut tx = self.begin().await?;
            let sql = "INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING";
            tx.execute(sql, &[key.into(), value.into()]).await?;
            let stored = find(&mut tx, key).await?;
            tx.commit().await?;
            stored.ok_or_else(|| StorageError::Conflict("the setting was removed meanwhile".to_owned()))
        })
    }

    /// The number of the last migration the database has.
    pub async fn version(&self) -> Result<i64, StorageError> {
        let mut tx = self.read().await?;
        let row = tx.row("SELECT COALESCE(MAX(version), 0) FROM schema_migrations", &[]).await?;
        row.map_or(Ok(0), |row| row.get(0))
    }

    /// The same of the application's tables; of a store opened with them.
    pub async fn application_version(&self, application: &Migrations) -> Result<i64, StorageError> {
        let mut tx = self.read().await?;
        let sql = "SELECT COALESCE(MAX(version), 0) FROM app_migrations WHERE application = $1";
        let row = tx.row(sql, &[application.application.into()]).await?;
        row.map_or(Ok(0), |row| row.get(0))
    }
}

async fn find(tx: &mut Tx, key: &str) -> Result<Option<String>, StorageError> {
    let row = tx.row("SELECT value FROM settings WHERE key = $1", &[key.into()]).await?;
    row.map(|row| row.get(0)).transpose()
}
