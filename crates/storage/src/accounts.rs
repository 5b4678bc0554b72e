//! Organizations, users and memberships.

use domain::{OrgId, Principal, UserId};

use crate::{StorageError, Store};

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
    pub async fn add_organization(&self, _org: &OrgId) -> Result<bool, StorageError> {
        todo!()
    }
    pub async fn organizations(&self) -> Result<Vec<Organization>, StorageError> {
        todo!()
    }
    /// Removes its memberships too; threads stay. False if unknown.
    pub async fn remove_organization(&self, _org: &OrgId) -> Result<bool, StorageError> {
        todo!()
    }
    /// Writes the membership without expiry, making user and organization if need be. False if nothing changed.
    pub async fn add_user(&self, _org: &OrgId, _user: &UserId, _role: Option<&str>) -> Result<bool, StorageError> {
        todo!()
    }
    pub async fn users(&self, _org: &OrgId) -> Result<Vec<User>, StorageError> {
        todo!()
    }
    /// Removes the membership. False if unknown.
    pub async fn remove_user(&self, _org: &OrgId, _user: &UserId) -> Result<bool, StorageError> {
        todo!()
    }
    /// The unexpired membership, if any; by the database's time. Checked on every tool call.
    pub async fn membership(&self, _principal: &Principal) -> Result<Option<Membership>, StorageError> {
        todo!()
    }
    /// `auth.memberships = claims`: writes the membership as the token says, if the row says otherwise.
    pub async fn claim_membership(
        &self,
        _principal: &Principal,
        _role: Option<&str>,
        _expires_at: i64,
    ) -> Result<(), StorageError> {
        todo!()
    }
}
