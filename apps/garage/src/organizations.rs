//! What the garage knows of an organization beside the product's own row.

use domain::Principal;
use schemars::JsonSchema;
use serde::Serialize;
use storage::{StorageError, Tx};

/// The organization's profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Profile {
    pub(crate) name: String,
    /// ISO 3166-1, two letters.
    pub(crate) country: String,
    /// What amounts are in unless they say otherwise, ISO 4217.
    pub(crate) currency: String,
}

/// `None`: nobody has filled it in.
pub(crate) async fn find(tx: &mut Tx, principal: &Principal) -> Result<Option<Profile>, StorageError> {
    let sql = "SELECT name, country, currency FROM garage_organizations WHERE org_id = $1";
    let row = tx.row(sql, &[principal.org.as_str().into()]).await?;
    row.map(|row| Ok(Profile { name: row.get(0)?, country: row.get(1)?, currency: row.get(2)? })).transpose()
}

/// False if there is one already.
pub(crate) async fn insert(tx: &mut Tx, principal: &Principal, profile: &Profile) -> Result<bool, StorageError> {
    let sql = "INSERT INTO garage_organizations (org_id, name, country, currency) VALUES ($1, $2, $3, $4)
        ON CONFLICT (org_id) DO NOTHING";
    let Profile { name, country, currency } = profile;
    let params = [principal.org.as_str().into(), name.into(), country.into(), currency.into()];
    Ok(tx.execute(sql, &params).await? > 0)
}
