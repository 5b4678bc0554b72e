//! The key pairs of `tests/keys`, which are published and worth nothing.

use base64::{Engine as _, engine::general_purpose::STANDARD, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair},
};
use serde_json::Value;

pub(crate) const JWKS: &str = include_str!("../../tests/keys/jwks.json");
pub(crate) const WEAK: &str = include_str!("../../tests/keys/weak.json");
/// Each with its `kid`; made by openssl.
pub(crate) const TOKENS: [(&str, &str); 3] = [
    ("rsa-1", include_str!("../../tests/keys/rs256.jwt")),
    ("ec-1", include_str!("../../tests/keys/es256.jwt")),
    ("ed-1", include_str!("../../tests/keys/eddsa.jwt")),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pair {
    Rsa,
    Ec,
    Ed25519,
}

impl Pair {
    pub(crate) fn sign(self, text: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa => {
                let pair = RsaKeyPair::from_pkcs8(&der(include_str!("../../tests/keys/rsa.pem"))).unwrap();
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature).unwrap();
                signature
            }
            Self::Ec => {
                let der = der(include_str!("../../tests/keys/ec.pem"));
                let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der, &random).unwrap();
                pair.sign(&random, text).unwrap().as_ref().to_vec()
            }
            Self::Ed25519 => {
                let der = der(include_str!("../../tests/keys/ed25519.pem"));
                Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).unwrap().sign(text).as_ref().to_vec()
            }
        }
    }

    pub(crate) fn token(self, header: &Value, claims: &Value) -> String {
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", encode(header), encode(claims));
        let signature = URL_SAFE_NO_PAD.encode(self.sign(text.as_bytes()));
        format!("{text}.{signature}")
    }
}

fn der(pem: &str) -> Vec<u8> {
    let lines: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    STANDARD.decode(lines).unwrap()
}
