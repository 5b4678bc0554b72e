//! From a request's headers to a principal, and whether that is a member.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::http::{HeaderMap, header::AUTHORIZATION};
use domain::{ChannelName, Clock, Code, OrgId, Principal, UserId};
use storage::{StorageError, Store};

use super::{
    AuthMode, AuthSettings, Claims, FetchKeys, Memberships, Signer, Token, TokenError, demo,
    token::{Checker, Keys},
};
use crate::problem::{ApiError, Challenge};

/// Memberships remembered as written; beyond it all are forgotten, which costs one write each.
const REMEMBERED: usize = 10_000;

/// Authentication cannot start.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    #[error("auth.jwt_secret has {bytes} bytes; it needs at least 32")]
    ShortSecret { bytes: usize },
    #[error("cannot read the keys of auth.jwks, {source_name}: {reason}")]
    Keys { source_name: String, reason: String },
    #[error("with auth.jwks only the issuer of those keys makes tokens; ask it for one")]
    CannotSign,
    #[error("the system gives no random numbers")]
    Random,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

pub(crate) struct Authenticator {
    store: Store,
    checker: Checker,
    clock: Arc<dyn Clock>,
    channel: ChannelName,
    memberships: Memberships,
    /// In demo mode.
    signer: Option<Signer>,
    written: Mutex<HashMap<(OrgId, UserId), Written>>,
}

/// What this process last wrote of a membership.
struct Written {
    expires_at: i64,
    role: Option<String>,
}

impl Authenticator {
    /// In demo mode makes the key and its person. `fetch` is used with a key set's URL only.
    pub(crate) async fn open(
        store: Store,
        settings: &AuthSettings,
        clock: Arc<dyn Clock>,
        fetch: FetchKeys,
    ) -> Result<Self, AuthError> {
        let signer = match settings.mode {
            AuthMode::Demo => {
                demo::ensure_local(&store).await?;
                Some(Signer::open(&store, settings).await?)
            }
            AuthMode::Secret(_) | AuthMode::Jwks(_) => None,
        };
        Ok(Self {
            checker: Checker::new(Keys::open(&store, settings, fetch).await?, settings),
            store,
            clock,
            channel: ChannelName::parse("web").expect("three letters are an id"),
            memberships: settings.memberships,
            signer,
            written: Mutex::default(),
        })
    }

    /// Who asks, by the bearer token. With `auth.memberships = "claims"` the membership is written if need be.
    pub(crate) async fn principal(&self, headers: &HeaderMap) -> Result<Principal, ApiError> {
        let token = bearer(headers)?;
        let claims = self.checker.check(token, self.clock.now_ms()).await.map_err(|error| {
            tracing::debug!(%error, "a token was refused");
            match error {
                TokenError::NoKeys => {
                    ApiError::new(Code::Unavailable, "the keys to check tokens with cannot be read; try again shortly")
                }
                _ => unauthenticated(Challenge::InvalidToken, "the token is not valid; ask for a new one"),
            }
        })?;
        let principal = claims.principal(self.channel.clone());
        if self.memberships == Memberships::Claims {
            self.write(&principal, &claims).await?;
        }
        Ok(principal)
    }

    /// Refuses who is no member now; by the database's time.
    pub(crate) async fn member(&self, principal: &Principal) -> Result<(), ApiError> {
        match self.store.membership(principal).await? {
            Some(_) => Ok(()),
            None => Err(not_a_member()),
        }
    }

    /// A token of demo's person; `None` if the mode is another.
    pub(crate) fn demo_token(&self, ttl: Duration) -> Option<Token> {
        let (org, user) = demo::local();
        self.signer.as_ref().map(|signer| signer.token(&user, &org, ttl, self.clock.now_ms()))
    }

    /// Several tokens of a person may be in use at once: the one that lasts longest counts.
    async fn write(&self, principal: &Principal, claims: &Claims) -> Result<(), ApiError> {
        let key = (principal.org.clone(), principal.user.clone());
        let known = {
            let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            written.get(&key).is_some_and(|row| row.expires_at >= claims.expires_at && row.role == claims.role)
        };
        if known {
            return Ok(());
        }
        let expires_ms = claims.expires_at.saturating_mul(1_000);
        self.store.claim_membership(principal, claims.role.as_deref(), expires_ms).await?;
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.len() >= REMEMBERED {
            written.clear();
        }
        written.insert(key, Written { expires_at: claims.expires_at, role: claims.role.clone() });
        Ok(())
    }
}

/// The one bearer token of a request.
fn bearer(headers: &HeaderMap) -> Result<&str, ApiError> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Err(unauthenticated(Challenge::Missing, "send a token: \"Authorization: Bearer …\""));
    };
    let token = value.to_str().ok().and_then(|value| value.split_once(' ')).and_then(|(scheme, token)| {
        let token = token.trim();
        (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
    });
    match token {
        Some(token) if values.next().is_none() => Ok(token),
        _ => Err(unauthenticated(Challenge::InvalidToken, "the Authorization header is not one \"Bearer TOKEN\"")),
    }
}

fn unauthenticated(challenge: Challenge, detail: &str) -> ApiError {
    ApiError { challenge, ..ApiError::new(Code::Unauthenticated, detail) }
}

pub(crate) fn not_a_member() -> ApiError {
    ApiError::new(Code::NotAMember, "you are not a member of this organization; ask its administrator to add you")
}
