//! What the store keeps for the server itself.

use crate::{StorageError, Store};

impl Store {
    /// The value of `key`, storing `value` first if there is none: the first caller of all processes wins.
    pub async fn setting_or_insert(&self, _key: &str, _value: &str) -> Result<String, StorageError> {
        todo!()
    }
}
