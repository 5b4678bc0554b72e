//! Tokens as an application in front of Frontdesk would sign them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::hmac;
use serde_json::{Value, json};

/// The key the tests configure as `auth.jwt_secret`.
pub const SECRET: &str = "a test secret of more than thirty-two bytes";

/// An HS256 token for `sub` of `org`, good for a day.
pub fn token(sub: &str, org: &str) -> String {
    sign(SECRET, &json!({"alg": "HS256", "typ": "JWT"}), &claims(sub, org))
}

/// The claims of [`token`], to be altered.
pub fn claims(sub: &str, org: &str) -> Value {
    json!({"sub": sub, "org": org, "aud": "frontdesk", "exp": in_seconds(86_400)})
}

/// Seconds since the epoch, `seconds` from now.
pub fn in_seconds(seconds: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    i64::try_from(now).unwrap_or(i64::MAX).saturating_add(seconds)
}

/// A token with this head and these claims.
pub fn sign(secret: &str, head: &Value, claims: &Value) -> String {
    let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(head.to_string()), URL_SAFE_NO_PAD.encode(claims.to_string()));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), text.as_bytes());
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()))
}
