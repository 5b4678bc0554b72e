//! `[auth]`: who may ask, and how a token proves it.

use server::{AuthMode, AuthSettings, KeySource, Memberships};
use url::Url;

use super::{
    Place,
    reader::{Placed, Reader},
    server::is_loopback,
};

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
        let jwks = from.text("jwks");
        if secret.is_some() && jwks.is_some() {
            let at = secret.as_ref().map_or(Place::Configuration, |secret| secret.at.clone());
            from.problems.error(&at, "conflict", "auth.jwt_secret and auth.jwks cannot both be set; keep one");
        }
        let has_key = secret.is_some() || jwks.is_some();
        let jwks = jwks.and_then(|jwks| source(from, jwks));
        if let Some(mode) = mode.as_ref().filter(|mode| mode.value == Mode::Jwt && !has_key) {
            from.problems.error(&mode.at, "missing", "auth.mode is jwt but there is no key; set auth.jwt_secret or auth.jwks");
        }
        from.later("login_url");
        let mode = match (mode.map(|mode| mode.value), secret, jwks) {
            (None | Some(Mode::Jwt), Some(secret), _) => AuthMode::Secret(secret.value),
            (None | Some(Mode::Jwt), None, Some(source)) => AuthMode::Jwks(source),
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

    /// Whether `token` can sign what this server accepts.
    pub fn can_sign(&self) -> bool {
        !matches!(self.settings.mode, AuthMode::Jwks(_))
    }
}

/// A path, or a URL whose answer nobody on the way can change.
fn source(from: &mut Reader<'_>, Placed { value, at }: Placed<String>) -> Option<KeySource> {
    if !value.contains("://") {
        return Some(KeySource::File(from.resolve(&value, &at)));
    }
    let url = Url::parse(&value).ok().filter(|url| match url.scheme() {
        "https" => url.has_host(),
        "http" => url.host_str().is_some_and(is_loopback),
        _ => false,
    });
    let message = match url {
        Some(url) if url.username().is_empty() && url.password().is_none() => return Some(KeySource::Url(url)),
        Some(_) => "auth.jwks must not hold a user name or password; a key set is public",
        None => "auth.jwks must be a path or an https URL (http only for a loopback address)",
    };
    from.problems.error(&at, "invalid-value", message);
    None
}
