//! Demo mode: a key of the store's own, and its one person.

use domain::{OrgId, Secret, UserId};
use ring::rand::{SecureRandom, SystemRandom};
use storage::{StorageError, Store};

use super::AuthError;

/// Name of demo's organization and of its person.
pub const LOCAL: &str = "local";

const KEY: &str = "demo.key";

/// The signing key, made at the first start; of processes that start at once all get the same.
pub(crate) async fn key(store: &Store) -> Result<Secret, AuthError> {
    let mut fresh = [0u8; 32];
    SystemRandom::new().fill(&mut fresh).map_err(|_| AuthError::Random)?;
    let fresh: String = fresh.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Secret::new(store.setting_or_insert(KEY, &fresh).await?))
}

/// Makes organization `local` with person `local` if the organization is not there. A person removed from it since
/// stays removed.
pub async fn ensure_local(store: &Store) -> Result<(OrgId, UserId), StorageError> {
    let (org, user) = local();
    if !store.organizations().await?.iter().any(|known| known.id == org) {
        store.add_user(&org, &user, None).await?;
    }
    Ok((org, user))
}

pub(crate) fn local() -> (OrgId, UserId) {
    let org = OrgId::parse(LOCAL).expect("five letters are an id");
    let user = UserId::parse(LOCAL).expect("five letters are an id");
    (org, user)
}
