//! Time is paused: it moves only where a test moves it.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicUsize, Ordering},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;
use tokio::{sync::Semaphore, time::advance};

use super::*;
use crate::auth::test_keys::{JWKS, TOKENS};

/// An issuer that gives its answers one after the other, the last for ever.
struct Issuer {
    answers: Mutex<VecDeque<Result<String, String>>>,
    asked: AtomicUsize,
    /// A permit for each answer.
    may_answer: Semaphore,
}

impl Issuer {
    fn new(answers: &[Result<&str, &str>]) -> Arc<Self> {
        let answers = answers.iter().map(|answer| answer.map(str::to_owned).map_err(str::to_owned)).collect();
        Arc::new(Self { answers: Mutex::new(answers), asked: AtomicUsize::new(0), may_answer: Semaphore::new(1_000) })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn fetch(self: &Arc<Self>) -> FetchKeys {
        let issuer = self.clone();
        Arc::new(move |_| {
            let issuer = issuer.clone();
            Box::pin(async move {
                issuer.asked.fetch_add(1, Ordering::SeqCst);
                issuer.may_answer.acquire().await.unwrap().forget();
                let mut answers = issuer.answers.lock().unwrap();
                let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
                answer.unwrap().map(Bytes::from)
            })
        })
    }

    async fn open(self: &Arc<Self>) -> Arc<Jwks> {
        let url = Url::parse("https://issuer.example/keys?secret").unwrap();
        Arc::new(Jwks::open(KeySource::Url(url), self.fetch()).await.unwrap())
    }
}

/// The test set without one key.
fn without(kid: &str) -> String {
    let mut set: Value = serde_json::from_str(JWKS).unwrap();
    set["keys"].as_array_mut().unwrap().retain(|key| key["kid"] != kid);
    set.to_string()
}

/// Checks the RS256 token as one that names this key.
async fn check(jwks: &Jwks, kid: &str) -> Result<(), TokenError> {
    let (text, signature) = TOKENS[0].1.trim().rsplit_once('.').unwrap();
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    jwks.verify("RS256", Some(kid), Signed { text: text.as_bytes(), signature: &signature }).await
}

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn a_set_counts_for_ten_minutes() {
    let old = without("rsa-1");
    let issuer = Issuer::new(&[Ok(JWKS), Ok(JWKS), Ok(&old)]);
    let jwks = issuer.open().await;
    for _ in 0..5 {
        assert_eq!(check(&jwks, "rsa-1").await, Ok(()));
    }
    advance(FRESH - Duration::from_millis(1)).await;
    assert_eq!((check(&jwks, "rsa-1").await, issuer.asked()), (Ok(()), 1));
    advance(Duration::from_millis(1)).await;
    assert_eq!((check(&jwks, "rsa-1").await, issuer.asked()), (Ok(()), 2));
    advance(FRESH).await;
    // A key that was taken back; the one more reading is for its kid, now unknown.
    assert_eq!((check(&jwks, "rsa-1").await, issuer.asked()), (Err(TokenError::UnknownKey), 4));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_kid_has_the_set_read_once_a_minute() {
    let old = without("rsa-1");
    let issuer = Issuer::new(&[Ok(&old), Ok(&old), Ok(JWKS)]);
    let jwks = issuer.open().await;
    for kid in ["rsa-1", "garbage", "more", ""] {
        assert_eq!(check(&jwks, kid).await, Err(TokenError::UnknownKey));
    }
    assert_eq!(issuer.asked(), 2);
    advance(MINUTE).await;
    assert_eq!((check(&jwks, "rsa-1").await, issuer.asked()), (Ok(()), 3));
    assert_eq!((check(&jwks, "garbage").await, issuer.asked()), (Err(TokenError::UnknownKey), 3));
    // What no key set is for is not looked for at all.
    advance(MINUTE).await;
    for alg in ["none", "HS256", "RS512"] {
        let signed = Signed { text: b"x", signature: b"" };
        assert_eq!(jwks.verify(alg, Some("new"), signed).await, Err(TokenError::Algorithm));
    }
    assert_eq!(issuer.asked(), 3);
}

#[tokio::test(start_paused = true)]
async fn all_who_need_it_wait_for_one_reading() {
    let old = without("rsa-1");
    let issuer = Issuer::new(&[Ok(&old), Ok(JWKS)]);
    let jwks = issuer.open().await;
    issuer.may_answer.forget_permits(1_000);
    let waiting: Vec<_> = (0..20)
        .map(|_| {
            let jwks = jwks.clone();
            tokio::spawn(async move { check(&jwks, "rsa-1").await })
        })
        .collect();
    let gone = tokio::spawn({
        let jwks = jwks.clone();
        async move { check(&jwks, "rsa-1").await }
    });
    while issuer.asked() < 2 {
        tokio::task::yield_now().await;
    }
    gone.abort();
    issuer.may_answer.add_permits(1);
    for check in waiting {
        assert_eq!(check.await.unwrap(), Ok(()));
    }
    assert_eq!(issuer.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_reading_goes_on_without_the_request_that_began_it() {
    let old = without("rsa-1");
    let issuer = Issuer::new(&[Ok(&old), Ok(JWKS)]);
    let jwks = issuer.open().await;
    issuer.may_answer.forget_permits(1_000);
    let gone = tokio::spawn({
        let jwks = jwks.clone();
        async move { check(&jwks, "rsa-1").await }
    });
    while issuer.asked() < 2 {
        tokio::task::yield_now().await;
    }
    gone.abort();
    assert!(gone.await.unwrap_err().is_cancelled());
    issuer.may_answer.add_permits(1);
    assert_eq!((check(&jwks, "rsa-1").await, issuer.asked()), (Ok(()), 2));
}

#[tokio::test(start_paused = true)]
async fn while_reading_fails_the_last_set_counts_for_an_hour() {
    let issuer = Issuer::new(&[Ok(JWKS), Err("down")]);
    let jwks = issuer.open().await;
    advance(FRESH).await;
    assert_eq!((check(&jwks, "rsa-1").await, issuer.asked()), (Ok(()), 2));
    assert_eq!((check(&jwks, "rsa-1").await, issuer.asked()), (Ok(()), 2));
    advance(PAUSE).await;
    // Tried again beside the request, not before it.
    assert_eq!(check(&jwks, "rsa-1").await, Ok(()));
    while issuer.asked() < 3 {
        tokio::task::yield_now().await;
    }
    advance(USABLE - FRESH - PAUSE - Duration::from_millis(1)).await;
    assert_eq!(check(&jwks, "rsa-1").await, Ok(()));
    advance(Duration::from_millis(1)).await;
    assert_eq!(check(&jwks, "rsa-1").await, Err(TokenError::NoKeys));
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_comes_back_is_heard() {
    let issuer = Issuer::new(&[Ok(JWKS), Err("down"), Ok(JWKS)]);
    let jwks = issuer.open().await;
    advance(FRESH).await;
    assert_eq!(check(&jwks, "rsa-1").await, Ok(()));
    advance(PAUSE).await;
    assert_eq!(check(&jwks, "rsa-1").await, Ok(()));
    while jwks.cache.state().failed.is_some() {
        tokio::task::yield_now().await;
    }
    advance(FRESH - Duration::from_millis(1)).await;
    assert_eq!((check(&jwks, "rsa-1").await, issuer.asked()), (Ok(()), 3));
}

#[tokio::test(start_paused = true)]
async fn a_url_without_keys_is_tried_at_the_first_token_then_seldom() {
    let issuer = Issuer::new(&[Err("down"), Ok("<html>"), Ok(JWKS)]);
    let jwks = issuer.open().await;
    assert_eq!((check(&jwks, "rsa-1").await, issuer.asked()), (Err(TokenError::NoKeys), 2));
    assert_eq!((check(&jwks, "rsa-1").await, issuer.asked()), (Err(TokenError::NoKeys), 2));
    advance(PAUSE).await;
    assert_eq!((check(&jwks, "rsa-1").await, issuer.asked()), (Ok(()), 3));
}

#[tokio::test]
async fn a_file_must_be_usable_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    let open = async || {
        let nobody: FetchKeys = Arc::new(|_| Box::pin(async { Err("a file is not fetched".to_owned()) }));
        Jwks::open(KeySource::File(path.clone()), nobody).await.map_err(|error| error.to_string())
    };
    let said = open().await.unwrap_err();
    assert!(said.starts_with("cannot read the keys of auth.jwks, ") && said.contains("No such file"), "{said}");
    for (text, reason) in [
        ("<html>".to_owned(), "it is not a JSON Web Key Set"),
        ("{\"keys\": []}".to_owned(), "it holds no key for RS256, ES256 or EdDSA"),
        (" ".repeat(MAX_KEY_SET_BYTES + 1), "it has more than 1048576 bytes"),
    ] {
        std::fs::write(&path, text).unwrap();
        let said = open().await.unwrap_err();
        assert!(said.contains(reason), "{said}");
    }
    std::fs::write(&path, without("rsa-1")).unwrap();
    let jwks = open().await.unwrap();
    std::fs::write(&path, JWKS).unwrap();
    assert_eq!(check(&jwks, "rsa-1").await, Ok(()));
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(open().await.unwrap_err().contains("it is not a file"));
}

#[test]
fn a_query_is_never_shown() {
    let source = KeySource::Url(Url::parse("https://issuer.example:8443/keys?secret").unwrap());
    assert_eq!(format!("{source} {source:?}"), "https://issuer.example:8443/keys KeySource(https://issuer.example:8443/keys)");
}
