//! The claims of a token, checked.

use domain::{ChannelName, OrgId, Principal, UserId};
use serde_json::{Map, Value};

use super::TokenError;

/// Seconds that clocks may differ.
const LEEWAY: f64 = 5.0;
/// Longest optional text taken over, in characters; longer ones are left out.
const MAX_TEXT: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claims {
    pub(crate) user: UserId,
    pub(crate) org: OrgId,
    /// Seconds since the epoch.
    pub(crate) expires_at: i64,
    pub(crate) name: Option<String>,
    pub(crate) locale: Option<String>,
    pub(crate) zone: Option<String>,
    /// The first of `roles`: the membership's role with `auth.memberships = "claims"`.
    pub(crate) role: Option<String>,
}

impl Claims {
    /// `json` is a payload whose signature was checked.
    pub(crate) fn read(json: &[u8], issuer: Option<&str>, audience: &str, now_ms: i64) -> Result<Self, TokenError> {
        let claims: Map<String, Value> = serde_json::from_slice(json).map_err(|_| TokenError::Malformed)?;
        let now = now_ms as f64 / 1_000.0;
        let expires = number(&claims, "exp")?.ok_or(TokenError::Claim("exp"))?;
        if now >= expires + LEEWAY {
            return Err(TokenError::Expired);
        }
        if number(&claims, "nbf")?.is_some_and(|from| now + LEEWAY < from) {
            return Err(TokenError::NotYet);
        }
        let for_us = match claims.get("aud") {
            Some(Value::String(one)) => one == audience,
            Some(Value::Array(many)) => many.iter().any(|one| one.as_str() == Some(audience)),
            _ => false,
        };
        if !for_us {
            return Err(TokenError::Claim("aud"));
        }
        if issuer.is_some() && claims.get("iss").and_then(Value::as_str) != issuer {
            return Err(TokenError::Claim("iss"));
        }
        let id = |key| claims.get(key).and_then(Value::as_str).ok_or(TokenError::Claim(key));
        Ok(Self {
            user: UserId::parse(id("sub")?).map_err(|_| TokenError::Claim("sub"))?,
            org: OrgId::parse(id("org")?).map_err(|_| TokenError::Claim("org"))?,
            expires_at: expires as i64,
            name: text(claims.get("name")),
            locale: text(claims.get("locale")),
            zone: text(claims.get("zone")),
            role: match claims.get("roles") {
                Some(Value::Array(roles)) => text(roles.first()),
                one => text(one),
            },
        })
    }

    pub(crate) fn principal(&self, channel: ChannelName) -> Principal {
        Principal {
            org: self.org.clone(),
            user: self.user.clone(),
            channel,
            name: self.name.clone(),
            locale: self.locale.clone(),
            zone: self.zone.clone(),
        }
    }
}

/// A NumericDate: seconds, perhaps with a fraction.
fn number(claims: &Map<String, Value>, key: &'static str) -> Result<Option<f64>, TokenError> {
    match claims.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_f64().map(Some).ok_or(TokenError::Claim(key)),
    }
}

/// An optional text that is fit to be shown: short, without controls.
fn text(value: Option<&Value>) -> Option<String> {
    let text = value?.as_str()?.trim();
    let fit = !text.is_empty() && text.chars().count() <= MAX_TEXT && !text.chars().any(char::is_control);
    fit.then(|| text.to_owned())
}
