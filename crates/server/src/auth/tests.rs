use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{OrgId, UserId};
use serde_json::{Value, json};

use super::{
    test_keys::{JWKS, Pair},
    token::{Checker, Hs256, Keys},
    *,
};

const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
const NOW: i64 = 1_796_000_000;

fn both(secret: &[u8], issuer: Option<&str>) -> (Signer, Checker) {
    let settings = AuthSettings { issuer: issuer.map(str::to_owned), ..AuthSettings::default() };
    let key = Hs256::new(secret).unwrap();
    (Signer::new(key.clone(), &settings), Checker::new(Keys::Hs256(key), &settings))
}

fn good() -> Value {
    json!({"sub": "ada", "org": "acme", "aud": "frontdesk", "iss": "idp", "exp": NOW + 60, "nbf": NOW, "name": "Ada"})
}

/// The good claims with one of them changed (or removed, by null).
fn with(key: &str, value: Value) -> Value {
    let mut claims = good();
    if value.is_null() {
        claims.as_object_mut().unwrap().remove(key);
    } else {
        claims[key] = value;
    }
    claims
}

#[tokio::test]
async fn each_claim_is_checked() {
    use TokenError::{Claim, Expired, NotYet};
    let (signer, checker) = both(SECRET, Some("idp"));
    for (key, value, expected) in [
        ("name", json!("Ada"), None),
        ("name", json!(5), None),
        ("aud", json!(["other", "frontdesk"]), None),
        ("aud", json!(["other"]), Some(Claim("aud"))),
        ("aud", json!("frontdesk2"), Some(Claim("aud"))),
        ("aud", json!(null), Some(Claim("aud"))),
        ("iss", json!("else"), Some(Claim("iss"))),
        ("iss", json!(null), Some(Claim("iss"))),
        ("sub", json!(null), Some(Claim("sub"))),
        ("sub", json!(""), Some(Claim("sub"))),
        ("sub", json!(7), Some(Claim("sub"))),
        ("sub", json!("x".repeat(200)), None),
        ("sub", json!("x".repeat(201)), Some(Claim("sub"))),
        ("sub", json!("a\u{0}"), Some(Claim("sub"))),
        ("org", json!(null), Some(Claim("org"))),
        ("org", json!("x".repeat(201)), Some(Claim("org"))),
        ("exp", json!(null), Some(Claim("exp"))),
        ("exp", json!("soon"), Some(Claim("exp"))),
        ("exp", json!(NOW - 4), None),
        ("exp", json!(NOW - 5), Some(Expired)),
        ("nbf", json!(NOW + 5), None),
        ("nbf", json!(NOW + 6), Some(NotYet)),
        ("nbf", json!(null), None),
    ] {
        let claims = with(key, value);
        let result = checker.check(&signer.sign(&claims), NOW * 1_000).await;
        assert_eq!(result.as_ref().err(), expected.as_ref(), "{claims}");
    }
}

#[tokio::test]
async fn optional_claims_are_taken_over_if_fit() {
    let (signer, checker) = both(SECRET, None);
    let mut claims = with("locale", json!("de-AT"));
    claims["zone"] = json!("a\nb");
    claims["roles"] = json!(["editor", "x"]);
    let read = checker.check(&signer.sign(&claims), NOW * 1_000).await.unwrap();
    assert_eq!(read.name.as_deref(), Some("Ada"));
    assert_eq!(read.locale.as_deref(), Some("de-AT"));
    assert_eq!(read.zone, None);
    assert_eq!(read.role.as_deref(), Some("editor"));
}

#[tokio::test]
async fn the_signature_and_its_algorithm_are_the_keys() {
    let (signer, checker) = both(SECRET, None);
    let token = signer.sign(&good());
    let [header, payload, signature]: [&str; 3] = token.split('.').collect::<Vec<_>>().try_into().unwrap();
    let encoded = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let none = encoded(r#"{"alg":"none"}"#);
    let rs = encoded(r#"{"alg":"RS256"}"#);
    let crit = encoded(r#"{"alg":"HS256","crit":["exp"]}"#);
    let other = encoded(&with("sub", json!("eve")).to_string());
    for (token, expected) in [
        (token.clone(), None),
        (format!("{none}.{payload}."), Some(TokenError::Algorithm)),
        (format!("{none}.{payload}.{signature}"), Some(TokenError::Algorithm)),
        (format!("{rs}.{payload}.{signature}"), Some(TokenError::Algorithm)),
        (format!("{crit}.{payload}.{signature}"), Some(TokenError::Malformed)),
        (format!("{header}.{other}.{signature}"), Some(TokenError::Signature)),
        (format!("{header}.{payload}."), Some(TokenError::Signature)),
        (format!("{header}.{payload}.{signature}="), Some(TokenError::Malformed)),
        (format!("{header}.{payload}.{signature}.x"), Some(TokenError::Malformed)),
        (format!("{header}.{payload}"), Some(TokenError::Malformed)),
        ("fdk_1234".to_owned(), Some(TokenError::Malformed)),
        ("x".repeat(9_000), Some(TokenError::Malformed)),
        (both(b"another-secret-another-secret-00", None).0.sign(&good()), Some(TokenError::Signature)),
    ] {
        assert_eq!(checker.check(&token, NOW * 1_000).await.err(), expected, "{token}");
    }
}

#[tokio::test]
async fn a_token_of_ours_is_accepted_until_it_ends() {
    let (signer, checker) = both(SECRET, Some("idp"));
    let (user, org) = (UserId::parse("ada").unwrap(), OrgId::parse("acme").unwrap());
    let token = signer.token(&user, &org, Duration::from_secs(60), NOW * 1_000 + 999);
    assert_eq!(token.expires_at, NOW + 60);
    let claims = checker.check(&token.text, (NOW + 64) * 1_000).await.unwrap();
    assert_eq!((claims.user, claims.org, claims.expires_at), (user, org, NOW + 60));
    assert_eq!(checker.check(&token.text, (NOW + 65) * 1_000).await, Err(TokenError::Expired));
}

#[test]
fn secrets_are_long_and_never_shown() {
    assert!(matches!(Hs256::new(&SECRET[..31]), Err(AuthError::ShortSecret { bytes: 31 })));
    let settings = AuthSettings { mode: AuthMode::Secret(Secret::new("hush-hush")), ..AuthSettings::default() };
    assert!(!format!("{settings:?} {:?}", both(SECRET, None)).contains("hush"));
}

#[tokio::test]
async fn with_a_key_set_no_token_chooses_how_it_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    std::fs::write(&path, JWKS).unwrap();
    let fetch: FetchKeys = std::sync::Arc::new(|_| Box::pin(async { Err("a file is not fetched".to_owned()) }));
    let settings = AuthSettings { issuer: Some("idp".to_owned()), ..AuthSettings::default() };
    let keys = jwks::Jwks::open(KeySource::File(path), fetch).await.unwrap();
    let checker = Checker::new(Keys::Jwks(keys), &settings);
    // The public key as a secret, as it may be known to everybody.
    let set: Value = serde_json::from_str(JWKS).unwrap();
    let modulus = URL_SAFE_NO_PAD.decode(set["keys"][0]["n"].as_str().unwrap()).unwrap();
    let (rs, ec) = (json!({"alg": "RS256", "kid": "rsa-1"}), json!({"alg": "ES256", "kid": "ec-1"}));
    let good = good();
    let token = Pair::Rsa.token(&rs, &good);
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (_, payload) = signed.split_once('.').unwrap();
    let none = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","kid":"rsa-1"}"#);
    for (token, expected) in [
        (token.clone(), None),
        (Pair::Ec.token(&ec, &good), None),
        (Pair::Ed25519.token(&json!({"alg": "EdDSA"}), &good), None),
        (both(SECRET, None).0.sign(&good), Some(TokenError::Algorithm)),
        (both(&modulus, None).0.sign(&good), Some(TokenError::Algorithm)),
        (format!("{none}.{payload}."), Some(TokenError::Algorithm)),
        (format!("{none}.{payload}.{signature}"), Some(TokenError::Algorithm)),
        (Pair::Rsa.token(&json!({"alg": "RS256", "kid": "ec-1"}), &good), Some(TokenError::Algorithm)),
        (Pair::Ec.token(&json!({"alg": "RS256", "kid": "ec-1"}), &good), Some(TokenError::Algorithm)),
        (Pair::Ec.token(&rs, &good), Some(TokenError::Signature)),
        (Pair::Rsa.token(&json!({"alg": "RS256", "kid": "other"}), &good), Some(TokenError::UnknownKey)),
        (Pair::Rsa.token(&json!({"alg": "RS256", "kid": 1}), &good), Some(TokenError::Malformed)),
        (
            Pair::Rsa.token(&json!({"alg": "RS256", "kid": "rsa-1", "crit": ["b64"], "b64": false}), &good),
            Some(TokenError::Malformed),
        ),
        // A key that comes with the token is nobody's.
        (Pair::Ec.token(&json!({"alg": "ES256", "jwk": set["keys"][1]}), &good), None),
        (Pair::Ec.token(&json!({"alg": "EdDSA", "jwk": set["keys"][1]}), &good), Some(TokenError::Signature)),
        (Pair::Rsa.token(&rs, &with("exp", json!(NOW - 5))), Some(TokenError::Expired)),
        (Pair::Rsa.token(&rs, &with("nbf", json!(NOW + 6))), Some(TokenError::NotYet)),
        (Pair::Rsa.token(&rs, &with("aud", json!("other"))), Some(TokenError::Claim("aud"))),
        (Pair::Rsa.token(&rs, &with("iss", json!("else"))), Some(TokenError::Claim("iss"))),
        (Pair::Rsa.token(&rs, &with("org", Value::Null)), Some(TokenError::Claim("org"))),
        (Pair::Rsa.token(&rs, &with("sub", Value::Null)), Some(TokenError::Claim("sub"))),
    ] {
        assert_eq!(checker.check(&token, NOW * 1_000).await.err(), expected, "{token}");
    }
}
