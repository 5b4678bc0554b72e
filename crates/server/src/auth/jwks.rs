//! `auth.jwks`: when the key set is read, and how long what was read counts.
//!
//! A set counts for ten minutes; then the next token waits for it to be read again. An unknown `kid` has it read once,
//! at most once a minute, whoever asks: tokens of nobody's cannot make us hammer the issuer. At any time at most one
//! reading is under way and all who need it wait for that one. While reading fails, what was read last counts for up
//! to an hour.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures::future::BoxFuture;
use tokio::{io::AsyncReadExt, sync::watch, time::Instant};
use tokio_util::task::AbortOnDropHandle;
use url::Url;

use super::{
    AuthError, TokenError,
    jwk::{Algorithm, KeySet, Signed},
};

/// Most bytes of a key set. Who fetches one reads no more.
pub const MAX_KEY_SET_BYTES: usize = 1024 * 1024;
/// A set read longer ago is read again before it is used.
const FRESH: Duration = Duration::from_secs(10 * 60);
/// A set read longer ago is not used at all.
const USABLE: Duration = Duration::from_secs(60 * 60);
/// Between two readings for an unknown `kid`.
const SEEK: Duration = Duration::from_secs(60);
/// After a reading that failed.
const PAUSE: Duration = Duration::from_secs(10);

/// Where the keys are. `Display` and `Debug` leave out a URL's query.
#[derive(Clone, PartialEq, Eq)]
pub enum KeySource {
    File(PathBuf),
    Url(Url),
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Url(url) => write!(f, "{}{}", url.origin().ascii_serialization(), url.path()),
        }
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeySource({self})")
    }
}

/// GETs a key set: the body of a 200, at most [`MAX_KEY_SET_BYTES`], within bounded time; else a lower-case fragment
/// without anything secret. Given by the composition root, as nothing here builds a client.
pub type FetchKeys = Arc<dyn Fn(Url) -> BoxFuture<'static, Result<Bytes, String>> + Send + Sync>;

/// The key set of one source.
pub(crate) struct Jwks {
    cache: Arc<Cache>,
    /// The last reading begun. Dropped with this, which ends it.
    reading: Mutex<Option<Reading>>,
}

struct Reading {
    /// Closes at the reading's end.
    end: End,
    _task: AbortOnDropHandle<()>,
}

#[derive(Clone)]
struct End(watch::Receiver<()>);

impl End {
    fn is_over(&self) -> bool {
        self.0.has_changed().is_err()
    }

    async fn wait(mut self) {
        while self.0.changed().await.is_ok() {}
    }
}

struct Cache {
    source: KeySource,
    fetch: FetchKeys,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: Option<Read>,
    /// When the last reading ended, if it failed.
    failed: Option<Instant>,
    /// When an unknown `kid` last had the set read.
    sought: Option<Instant>,
}

struct Read {
    keys: Arc<KeySet>,
    at: Instant,
}

impl State {
    fn within(&self, age: Duration) -> Option<Arc<KeySet>> {
        self.last.as_ref().filter(|read| read.at.elapsed() < age).map(|read| read.keys.clone())
    }

    fn may_read(&self) -> bool {
        self.failed.is_none_or(|at| at.elapsed() >= PAUSE)
    }
}

impl Jwks {
    /// Reads the set for the first time. A file must hold a usable key; a URL that cannot be fetched is tried again at
    /// the first token.
    pub(crate) async fn open(source: KeySource, fetch: FetchKeys) -> Result<Self, AuthError> {
        let cache = Arc::new(Cache { source, fetch, state: Mutex::default() });
        let keys = match (cache.read().await, &cache.source) {
            (Ok(keys), KeySource::File(_)) if keys.is_empty() => {
                return Err(cache.refused("it holds no key for RS256, ES256 or EdDSA".to_owned()));
            }
            (Err(reason), KeySource::File(_)) => return Err(cache.refused(reason)),
            (Ok(keys), _) => Some(keys),
            (Err(reason), KeySource::Url(_)) => {
                tracing::warn!(source = %cache.source, reason, "cannot read the keys of auth.jwks; the first token tries again");
                None
            }
        };
        if let Some(keys) = keys {
            cache.keep(keys);
        }
        Ok(Self { cache, reading: Mutex::default() })
    }

    /// Checks a signature by the header's `alg` and `kid`.
    pub(crate) async fn verify(&self, alg: &str, kid: Option<&str>, signed: Signed<'_>) -> Result<(), TokenError> {
        // Before any reading: what no key set is for costs nothing.
        let algorithm = Algorithm::named(alg).ok_or(TokenError::Algorithm)?;
        match self.keys().await?.verify(algorithm, kid, signed) {
            Err(TokenError::UnknownKey) => {}
            checked => return checked,
        }
        let seeking = self.reading(|state| {
            let may = state.may_read() && state.sought.is_none_or(|at| at.elapsed() >= SEEK);
            if may {
                state.sought = Some(Instant::now());
            }
            may
        });
        if let Some(end) = seeking {
            end.wait().await;
        }
        // Also without a reading: another may have ended since.
        let newest = self.cache.state().within(USABLE);
        newest.ok_or(TokenError::NoKeys)?.verify(algorithm, kid, signed)
    }

    /// The set that counts now, read again if it is old.
    async fn keys(&self) -> Result<Arc<KeySet>, TokenError> {
        let (fresh, usable, is_failing) = {
            let state = self.cache.state();
            (state.within(FRESH), state.within(USABLE), state.failed.is_some())
        };
        if let Some(keys) = fresh {
            return Ok(keys);
        }
        let reading = self.reading(|state| state.within(FRESH).is_none() && state.may_read());
        match (reading, usable) {
            // Known to fail: nobody waits for another failure.
            (_, Some(keys)) if is_failing => return Ok(keys),
            (Some(end), _) => end.wait().await,
            (None, _) => {}
        }
        self.cache.state().within(USABLE).ok_or(TokenError::NoKeys)
    }

    /// The end of the reading under way, or of a new one if `needed` says so.
    fn reading(&self, needed: impl FnOnce(&mut State) -> bool) -> Option<End> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = reading.as_ref().filter(|reading| !reading.end.is_over()) {
            return Some(running.end.clone());
        }
        if !needed(&mut self.cache.state()) {
            return None;
        }
        let (running, end) = watch::channel(());
        let cache = self.cache.clone();
        // A task, so that the reading goes on when the request that began it is gone.
        let task = tokio::spawn(async move {
            cache.refresh().await;
            drop(running);
        });
        *reading = Some(Reading { end: End(end.clone()), _task: AbortOnDropHandle::new(task) });
        Some(End(end))
    }
}

impl fmt::Debug for Jwks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Jwks({})", self.cache.source)
    }
}

impl Cache {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn refresh(&self) {
        match self.read().await {
            Ok(keys) => self.keep(keys),
            Err(reason) => {
                tracing::warn!(source = %self.source, reason, "cannot read the keys of auth.jwks; what was read in the last hour counts");
                self.state().failed = Some(Instant::now());
            }
        }
    }

    /// A set without keys is an answer too: the issuer takes back all it gave.
    fn keep(&self, keys: KeySet) {
        if keys.is_empty() {
            tracing::warn!(source = %self.source, "auth.jwks holds no key for RS256, ES256 or EdDSA; no token is accepted");
        }
        let mut state = self.state();
        state.last = Some(Read { keys: Arc::new(keys), at: Instant::now() });
        state.failed = None;
    }

    async fn read(&self) -> Result<KeySet, String> {
        let text = match &self.source {
            KeySource::File(path) => file(path).await?.into(),
            KeySource::Url(url) => (self.fetch)(url.clone()).await?,
        };
        KeySet::parse(&text).map_err(|error| error.to_string())
    }

    fn refused(&self, reason: String) -> AuthError {
        AuthError::Keys { source_name: self.source.to_string(), reason }
    }
}

async fn file(path: &Path) -> Result<Vec<u8>, String> {
    // Opening a pipe would wait for who writes into it.
    let metadata = tokio::fs::metadata(path).await.map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a file".to_owned());
    }
    let file = tokio::fs::File::open(path).await.map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    file.take(MAX_KEY_SET_BYTES as u64 + 1).read_to_end(&mut text).await.map_err(|error| error.to_string())?;
    if text.len() > MAX_KEY_SET_BYTES {
        return Err(format!("it has more than {MAX_KEY_SET_BYTES} bytes"));
    }
    Ok(text)
}

#[cfg(test)]
#[path = "jwks/tests.rs"]
mod tests;
