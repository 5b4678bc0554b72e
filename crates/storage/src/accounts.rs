//! Organizations, users and memberships.

use domain::{OrgId, Principal, UserId};

use crate::retry::retry;
use crate::row::parsed;
use crate::{StorageError, Store, Tx};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organization {
    pub id: OrgId,
    pub created_at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    pub role: Option<String>,
    /// Milliseconds since the epoch; `None`: does not expire.
    pub expires_at: Option<i64>,
}

/// The right of one user in one organization, now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    pub role: Option<String>,
    pub expires_at: Option<i64>,
}

impl Store {
    /// False if it was there already.
    pub async fn add_organization(&self, org: &OrgId) -> Result<bool, StorageError> {
        retry!(async {
            let mut tx = self.begin().await?;
            let now = tx.now().await?;
            let added = insert_organization(&mut tx, org, now).await?;
            tx.commit().await?;
            Ok::<_, StorageError>(added)
        })
    }

    pub async fn organizations(&self) -> Result<Vec<Organization>, StorageError> {
        let mut tx = self.read().await?;
        let rows = tx.rows("SELECT id, created_at FROM organizations ORDER BY id", &[]).await?;
        rows.iter().map(|row| Ok(Organization { id: parsed(row, 0)?, created_at: row.get(1)? })).collect()
    }

    /// Removes its memberships too; threads stay. False if unknown.
    pub async fn remove_organization(&self, org: &OrgId) -> Result<bool, StorageError> {
        retry!(async {
            let mut tx = self.begin().await?;
            tx.execute("DELETE FROM memberships WHERE org_id = $1", &[org.as_str().into()]).await?;
            let removed = tx.execute("DELETE FROM organizations WHERE id = $1", &[org.as_str().into()]).await?;
            tx.commit().await?;
            Ok::<_, StorageError>(removed > 0)
        })
    }

    /// Writes the membership without expiry, making user and organization if need be. False if nothing changed.
    pub async fn add_user(&self, org: &OrgId, user: &UserId, role: Option<&str>) -> Result<bool, StorageError> {
        retry!(async {
            let mut tx = self.begin().await?;
            let changed = write_membership(&mut tx, org, user, role, None).await?;
            tx.commit().await?;
            Ok::<_, StorageError>(changed)
        })
    }

    pub async fn users(&self, org: &OrgId) -> Result<Vec<User>, StorageError> {
        let mut tx = self.read().await?;
        let sql = "SELECT user_id, role, expires_at FROM memberships WHERE org_id = $1 ORDER BY user_id";
        let rows = tx.rows(sql, &[org.as_str().into()]).await?;
        rows.iter().map(|row| Ok(User { id: parsed(row, 0)?, role: row.get(1)?, expires_at: row.get(2)? })).collect()
    }

    /// Removes the membership. False if unknown.
    pub async fn remove_user(&self, org: &OrgId, user: &UserId) -> Result<bool, StorageError> {
        retry!(async {
            let mut tx = self.begin().await?;
            let sql = "DELETE FROM memberships WHERE org_id = $1 AND user_id = $2";
            let removed = tx.execute(sql, &[org.as_str().into(), user.as_str().into()]).await?;
            tx.commit().await?;
            Ok::<_, StorageError>(removed > 0)
        })
    }

    /// The unexpired membership, if any; by the database's time. Checked on every tool call.
    pub async fn membership(&self, principal: &Principal) -> Result<Option<Membership>, StorageError> {
        let mut tx = self.read().await?;
        let now = tx.now().await?;
        let membership = find(&mut tx, principal).await?;
        Ok(membership.filter(|membership| membership.expires_at.is_none_or(|at| at > now)))
    }

    /// `auth.memberships = claims`: writes the membership as the token says, if the row says otherwise.
    pub async fn claim_membership(&self, principal: &Principal, role: Option<&str>, expires_at: i64) -> Result<(), StorageError> {
        let claimed = Membership { role: role.map(str::to_owned), expires_at: Some(expires_at) };
        let mut tx = self.read().await?;
        if find(&mut tx, principal).await?.as_ref() == Some(&claimed) {
            return Ok(());
        }
        drop(tx);
        retry!(async {
            let mut tx = self.begin().await?;
            write_membership(&mut tx, &principal.org, &principal.user, role, Some(expires_at)).await?;
            tx.commit().await
        })
    }
}

async fn find(tx: &mut Tx, principal: &Principal) -> Result<Option<Membership>, StorageError> {
    let sql = "SELECT role, expires_at FROM memberships WHERE org_id = $1 AND user_id = $2";
    let row = tx.row(sql, &[principal.org.as_str().into(), principal.user.as_str().into()]).await?;
    row.map(|row| Ok(Membership { role: row.get(0)?, expires_at: row.get(1)? })).transpose()
}

async fn insert_organization(tx: &mut Tx, org: &OrgId, now: i64) -> Result<bool, StorageError> {
    let sql = "INSERT INTO organizations (id, created_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING";
    Ok(tx.execute(sql, &[org.as_str().into(), now.into()]).await? > 0)
}

async fn write_membership(
    tx: &mut Tx,
    org: &OrgId,
    user: &UserId,
    role: Option<&str>,
    expires_at: Option<i64>,
) -> Result<bool, StorageError> {
    let now = tx.now().await?;
    insert_organization(tx, org, now).await?;
    let sql = "INSERT INTO users (id, created_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING";
    tx.execute(sql, &[user.as_str().into(), now.into()]).await?;
    let sql = "INSERT INTO memberships (org_id, user_id, role, expires_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (org_id, user_id) DO UPDATE SET role = excluded.role, expires_at = excluded.expires_at
        WHERE memberships.role IS DISTINCT FROM excluded.role
           OR memberships.expires_at IS DISTINCT FROM excluded.expires_at";
    let changed = tx.execute(sql, &[org.as_str().into(), user.as_str().into(), role.into(), expires_at.into()]).await?;
    Ok(changed > 0)
}
