//! JSON Web Keys (RFC 7517; RFC 7518, 6; RFC 8037, 2): a set's text in, what checks signatures out. Pure.
//!
//! A key's kind is its algorithm, so a token's header can choose among keys but never how one is used.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

use super::TokenError;

/// Most keys of a set.
const MAX_KEYS: usize = 100;
/// Sizes of an RSA modulus, in bits (RFC 7518, 3.3; `ring`'s upper bound).
const RSA_BITS: std::ops::RangeInclusive<usize> = 2_048..=8_192;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    /// `None`: not one a key set is for; so `none` and HS256 never are.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Rs256, Self::Es256, Self::EdDsa].into_iter().find(|algorithm| algorithm.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }
}

/// The whole set cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeySetError {
    #[error("it is not a JSON Web Key Set, {{\"keys\": […]}}")]
    Malformed,
    #[error("it holds more than {MAX_KEYS} keys")]
    TooMany,
}

/// The usable keys of a set, perhaps none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct KeySet(Vec<Key>);

#[derive(Debug, PartialEq, Eq)]
struct Key {
    id: Option<String>,
    public: Public,
}

#[derive(Debug, PartialEq, Eq)]
enum Public {
    /// Big-endian without leading zeros.
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// An uncompressed point.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    r#use: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    kid: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
    d: Option<IgnoredAny>,
}

impl KeySet {
    /// Keys for something else are passed over (RFC 7517, 5); faulty ones too, with a warning.
    pub(crate) fn parse(json: &[u8]) -> Result<Self, KeySetError> {
        let document: Document = serde_json::from_slice(json).map_err(|_| KeySetError::Malformed)?;
        if document.keys.len() > MAX_KEYS {
            return Err(KeySetError::TooMany);
        }
        let mut keys = Vec::new();
        for (index, value) in document.keys.into_iter().enumerate() {
            let read = serde_json::from_value(value).map_err(|_| "a member is missing or of the wrong type").and_then(Key::read);
            match read {
                Ok(Some(key)) => keys.push(key),
                Ok(None) => tracing::debug!(index, "a key of auth.jwks is for something else"),
                Err(reason) => tracing::warn!(index, reason, "a key of auth.jwks is not used"),
            }
        }
        Ok(Self(keys))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks a signature with the one key that `kid` names; without it, with the only key of that algorithm.
    /// [`TokenError::UnknownKey`]: no key has this `kid`, a newer set might.
    pub(crate) fn verify(
        &self,
        algorithm: Algorithm,
        kid: Option<&str>,
        Signed { text, signature }: Signed<'_>,
    ) -> Result<(), TokenError> {
        let mut fitting = self.0.iter().filter(|key| key.public.algorithm() == algorithm);
        let key = match kid {
            Some(_) if !self.0.iter().any(|key| key.id.as_deref() == kid) => return Err(TokenError::UnknownKey),
            Some(_) => fitting.find(|key| key.id.as_deref() == kid).ok_or(TokenError::Algorithm)?,
            None => match (fitting.next(), fitting.next()) {
                (Some(key), None) => key,
                _ => return Err(TokenError::Ambiguous),
            },
        };
        key.public.verify(text, signature).map_err(|_| TokenError::Signature)
    }
}

/// What was signed, and with what result.
#[derive(Clone, Copy)]
pub(crate) struct Signed<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) signature: &'a [u8],
}

impl Key {
    /// `None`: it is for another purpose or another algorithm than ours.
    fn read(jwk: Jwk) -> Result<Option<Self>, &'static str> {
        let is_for_signatures = jwk.r#use.as_deref().is_none_or(|purpose| purpose == "sig")
            && jwk.key_ops.as_ref().is_none_or(|operations| operations.iter().any(|operation| operation == "verify"));
        let algorithm = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => Algorithm::Rs256,
            ("EC", Some("P-256")) => Algorithm::Es256,
            ("OKP", Some("Ed25519")) => Algorithm::EdDsa,
            _ => return Ok(None),
        };
        if !is_for_signatures || jwk.alg.as_deref().is_some_and(|alg| alg != algorithm.name()) {
            return Ok(None);
        }
        if jwk.d.is_some() {
            return Err("it holds a private key, which belongs to the issuer alone");
        }
        let public = match algorithm {
            Algorithm::Rs256 => rsa(&number(jwk.n.as_deref())?, &number(jwk.e.as_deref())?)?,
            Algorithm::Es256 => {
                let (x, y) = (number(jwk.x.as_deref())?, number(jwk.y.as_deref())?);
                if x.len() != 32 || y.len() != 32 {
                    return Err("x and y of a P-256 key have 32 bytes each");
                }
                Public::P256([&[4], x.as_slice(), &y].concat())
            }
            Algorithm::EdDsa => {
                let x = number(jwk.x.as_deref())?;
                if x.len() != 32 {
                    return Err("x of an Ed25519 key has 32 bytes");
                }
                Public::Ed25519(x)
            }
        };
        Ok(Some(Self { id: jwk.kid, public }))
    }
}

fn rsa(modulus: &[u8], exponent: &[u8]) -> Result<Public, &'static str> {
    let (modulus, exponent) = (stripped(modulus), stripped(exponent));
    let bits = modulus.len() * 8 - modulus.first().map_or(0, |byte| byte.leading_zeros() as usize);
    if !RSA_BITS.contains(&bits) {
        return Err("an RSA key has 2048 to 8192 bits");
    }
    Ok(Public::Rsa { modulus: modulus.to_vec(), exponent: exponent.to_vec() })
}

/// Some issuers write a leading zero byte, as DER does.
fn stripped(number: &[u8]) -> &[u8] {
    &number[number.iter().take_while(|byte| **byte == 0).count()..]
}

fn number(text: Option<&str>) -> Result<Vec<u8>, &'static str> {
    let text = text.ok_or("a number of the key is missing")?;
    URL_SAFE_NO_PAD.decode(text).map_err(|_| "a number of the key is not base64url")
}

impl Public {
    fn algorithm(&self) -> Algorithm {
        match self {
            Self::Rsa { .. } => Algorithm::Rs256,
            Self::P256(_) => Algorithm::Es256,
            Self::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    fn verify(&self, text: &[u8], signature: &[u8]) -> Result<(), ring::error::Unspecified> {
        match self {
            Self::Rsa { modulus, exponent } => {
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                key.verify(&signature::RSA_PKCS1_2048_8192_SHA256, text, signature)
            }
            Self::P256(point) => UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point).verify(text, signature),
            Self::Ed25519(point) => UnparsedPublicKey::new(&signature::ED25519, point).verify(text, signature),
        }
    }
}

#[cfg(test)]
#[path = "jwk/tests.rs"]
mod tests;
