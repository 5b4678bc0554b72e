//! `[auth]`: who may ask, and how a token proves it.

use server::{AuthMode, AuthSettings, Memberships};

use super::{Place, reader::Reader};

#[derive(Debug, Clone)]
pub struct Auth {
    /// Mode `jwt` if there is a key, else `demo`.
    pub settings: AuthSettings,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Demo,
    Jwt,
}

/// Fewest bytes of an HS256 key (RFC 7518, section 3.2).
const MIN_SECRET_BYTES: usize = 32;

impl Auth {
    pub(super) fn read(from: &mut Reader<'_>) -> Self {
        let mode = from.one_of("mode", &[("demo", Mode::Demo), ("jwt", Mode::Jwt)]);
        let secret = from.secret("jwt_secret");
        if let Some(secret) = &secret {
            let bytes = secret.value.expose().len();
            if bytes < MIN_SECRET_BYTES {
                let message = format!("auth.jwt_secret must have at least {MIN_SECRET_BYTES} bytes, this one has {bytes}");
                from.problems.error(&secret.at, "out-of-range", message);
            }
        }
        let jwks = from.has("jwks");
        if secret.is_some() && jwks {
            let at = secret.as_ref().map_or(Place::Configuration, |secret| secret.at.clone());
            from.problems.error(&at, "conflict", "auth.jwt_secret and auth.jwks cannot both be set; keep one");
        }
        from.later("jwks");
        if let Some(mode) = mode.as_ref().filter(|mode| mode.value == Mode::Jwt && secret.is_none() && !jwks) {
            from.problems.error(&mode.at, "missing", "auth.mode is jwt but there is no key; set auth.jwt_secret");
        }
        from.later("login_url");
        let mode = match (mode.map(|mode| mode.value), secret) {
            (None | Some(Mode::Jwt), Some(secret)) => AuthMode::Secret(secret.value),
            _ => AuthMode::Demo,
        };
        let memberships = [("store", Memberships::Store), ("claims", Memberships::Claims)];
        Self {
            settings: AuthSettings {
                mode,
                issuer: from.text("issuer").map(|issuer| issuer.value),
                audience: from.text("audience").map_or_else(|| "frontdesk".to_owned(), |audience| audience.value),
                memberships: from.one_of("memberships", &memberships).map_or(Memberships::Store, |word| word.value),
            },
        }
    }

    pub fn is_demo(&self) -> bool {
        matches!(self.settings.mode, AuthMode::Demo)
    }
}
