//! Who is asking: bearer tokens in, a [`domain::Principal`] and its membership out.
//!
//! Two kinds of key, the variants of `Keys`: HS256 with the configured secret or demo's own, and a key set from a file or
//! URL. Beside `token` and `jwk` nothing here knows algorithms.

mod authenticator;
mod claims;
mod demo;
mod jwk;
mod jwks;
mod token;

pub use authenticator::AuthError;
pub(crate) use authenticator::Authenticator;
pub(crate) use claims::Claims;
pub use demo::{LOCAL, ensure_local};
pub use jwks::{FetchKeys, KeySource, MAX_KEY_SET_BYTES};
pub(crate) use token::TokenError;
pub use token::{Signer, Token};

use domain::Secret;

/// `auth.*`.
#[derive(Debug, Clone)]
pub struct AuthSettings {
    pub mode: AuthMode,
    /// `auth.issuer`: `iss` must be this.
    pub issuer: Option<String>,
    /// `auth.audience`: must be in `aud`.
    pub audience: String,
    pub memberships: Memberships,
}

impl Default for AuthSettings {
    fn default() -> Self {
        Self { mode: AuthMode::Demo, issuer: None, audience: "frontdesk".to_owned(), memberships: Memberships::Store }
    }
}

#[derive(Debug, Clone)]
pub enum AuthMode {
    /// A random key that the store keeps from its first start; tokens at `POST /v1/auth/demo`.
    Demo,
    /// `auth.jwt_secret`, at least 32 bytes.
    Secret(Secret),
    /// `auth.jwks`: keys of an issuer that signs for us; we cannot.
    Jwks(KeySource),
}

/// `auth.memberships`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Memberships {
    /// Only `org` and `user` commands write them.
    #[default]
    Store,
    /// A valid token writes its own, expiring with it.
    Claims,
}

#[cfg(test)]
mod test_keys;
#[cfg(test)]
#[path = "auth/tests.rs"]
mod tests;
