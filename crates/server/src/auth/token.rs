//! JWTs (RFC 7519) in compact form: made with HMAC SHA-256, checked with that or a key set.
//!
//! `ring` does the arithmetic, comparing in constant time. The algorithm is the key's, never the token's choice.

use std::{fmt, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{OrgId, UserId};
use ring::hmac;
use serde::Deserialize;
use serde_json::json;
use storage::Store;

use super::{AuthError, AuthMode, AuthSettings, Claims, FetchKeys, demo, jwk::Signed, jwks::Jwks};

/// Longest token looked at, in bytes.
const MAX_TOKEN: usize = 8 * 1024;
/// Shortest secret, in bytes (RFC 7518, 3.2).
const MIN_SECRET: usize = 32;

/// What tokens are checked with.
#[derive(Debug)]
pub(crate) enum Keys {
    Hs256(Hs256),
    Jwks(Jwks),
}

/// A key that makes and checks.
#[derive(Clone)]
pub(crate) struct Hs256(hmac::Key);

/// Why a token is refused; for logs, clients only learn that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenError {
    #[error("not a signed token")]
    Malformed,
    #[error("the algorithm is not the key's")]
    Algorithm,
    #[error("the signature does not fit")]
    Signature,
    #[error("no key has the token's kid")]
    UnknownKey,
    #[error("the token names no key, and not exactly one is of its algorithm")]
    Ambiguous,
    /// Says nothing about the token.
    #[error("there are no keys to check it with")]
    NoKeys,
    #[error("{0} is missing or wrong")]
    Claim(&'static str),
    #[error("expired")]
    Expired,
    #[error("not valid yet")]
    NotYet,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    /// Extensions that must be understood (RFC 7515, 4.1.11); we understand none.
    #[serde(default)]
    crit: Option<serde::de::IgnoredAny>,
}

impl Keys {
    /// Opens what `settings` name; demo's key is made and stored the first time.
    pub(crate) async fn open(store: &Store, settings: &AuthSettings, fetch: FetchKeys) -> Result<Self, AuthError> {
        match &settings.mode {
            AuthMode::Jwks(source) => Ok(Self::Jwks(Jwks::open(source.clone(), fetch).await?)),
            AuthMode::Demo | AuthMode::Secret(_) => Ok(Self::Hs256(Hs256::open(store, settings).await?)),
        }
    }

    /// Checks form, algorithm and signature; gives the claims' JSON text.
    pub(crate) async fn open_token(&self, token: &str) -> Result<Vec<u8>, TokenError> {
        if token.len() > MAX_TOKEN {
            return Err(TokenError::Malformed);
        }
        let (text, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed)?;
        let (header, payload) = text.split_once('.').ok_or(TokenError::Malformed)?;
        let signature = decode(signature)?;
        let header: Header = serde_json::from_slice(&decode(header)?).map_err(|_| TokenError::Malformed)?;
        if header.crit.is_some() {
            return Err(TokenError::Malformed);
        }
        let payload = decode(payload)?;
        match self {
            Self::Hs256(key) => {
                if header.alg != "HS256" {
                    return Err(TokenError::Algorithm);
                }
                hmac::verify(&key.0, text.as_bytes(), &signature).map_err(|_| TokenError::Signature)?;
            }
            Self::Jwks(keys) => {
                let signed = Signed { text: text.as_bytes(), signature: &signature };
                Box::pin(keys.verify(&header.alg, header.kid.as_deref(), signed)).await?;
            }
        }
        Ok(payload)
    }
}

impl Hs256 {
    async fn open(store: &Store, settings: &AuthSettings) -> Result<Self, AuthError> {
        match &settings.mode {
            AuthMode::Secret(secret) => Self::new(secret.expose().as_bytes()),
            AuthMode::Demo => Self::new(demo::key(store).await?.expose().as_bytes()),
            AuthMode::Jwks(_) => Err(AuthError::CannotSign),
        }
    }

    pub(crate) fn new(secret: &[u8]) -> Result<Self, AuthError> {
        if secret.len() < MIN_SECRET {
            return Err(AuthError::ShortSecret { bytes: secret.len() });
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, secret)))
    }
}

impl fmt::Debug for Hs256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hs256(…)")
    }
}

/// A part of a token; a fourth part would hold a dot and fails here.
fn decode(part: &str) -> Result<Vec<u8>, TokenError> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenError::Malformed)
}

/// A fresh token and when it ends, in seconds since the epoch.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub expires_at: i64,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("text", &"…").field("expires_at", &self.expires_at).finish()
    }
}

/// Checks tokens.
#[derive(Debug)]
pub(crate) struct Checker {
    keys: Keys,
    issuer: Option<String>,
    audience: String,
}

impl Checker {
    pub(crate) fn new(keys: Keys, settings: &AuthSettings) -> Self {
        Self { keys, issuer: settings.issuer.clone(), audience: settings.audience.clone() }
    }

    /// What the claims of `token` say, if all of it holds at `now_ms`.
    pub(crate) async fn check(&self, token: &str, now_ms: i64) -> Result<Claims, TokenError> {
        let claims = self.keys.open_token(token).await?;
        Claims::read(&claims, self.issuer.as_deref(), &self.audience, now_ms)
    }
}

/// Makes tokens that this server accepts.
#[derive(Debug)]
pub struct Signer {
    key: Hs256,
    issuer: Option<String>,
    audience: String,
}

impl Signer {
    /// [`AuthError::CannotSign`] with `auth.jwks`: the private keys are the issuer's.
    pub async fn open(store: &Store, settings: &AuthSettings) -> Result<Self, AuthError> {
        Ok(Self::new(Hs256::open(store, settings).await?, settings))
    }

    pub(crate) fn new(key: Hs256, settings: &AuthSettings) -> Self {
        Self { key, issuer: settings.issuer.clone(), audience: settings.audience.clone() }
    }

    /// A token for `user` acting in `org`, valid for `ttl` from `now_ms` (whole seconds, at least one).
    pub fn token(&self, user: &UserId, org: &OrgId, ttl: Duration, now_ms: i64) -> Token {
        let now = now_ms.div_euclid(1_000);
        let expires_at = now.saturating_add(i64::try_from(ttl.as_secs().max(1)).unwrap_or(i64::MAX));
        let mut claims = json!({"sub": user, "org": org, "aud": self.audience, "iat": now, "exp": expires_at});
        if let Some(issuer) = &self.issuer {
            claims["iss"] = json!(issuer);
        }
        Token { text: self.sign(&claims), expires_at }
    }

    /// Signs any claims, right or wrong.
    pub(crate) fn sign(&self, claims: &serde_json::Value) -> String {
        let mut text = URL_SAFE_NO_PAD.encode(br#"{"alg":"HS256","typ":"JWT"}"#);
        text.push('.');
        URL_SAFE_NO_PAD.encode_string(claims.to_string(), &mut text);
        let signature = hmac::sign(&self.key.0, text.as_bytes());
        text.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut text);
        text
    }
}
