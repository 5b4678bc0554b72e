use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{OrgId, UserId};
use serde_json::{Value, json};

use super::{token::Keys, *};

const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
const NOW: i64 = 1_796_000_000;

fn signer(secret: &[u8], issuer: Option<&str>) -> Signer {
    let settings = AuthSettings { issuer: issuer.map(str::to_owned), ..AuthSettings::default() };
    Signer::new(Keys::hs256(secret).unwrap(), &settings)
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

#[test]
fn each_claim_is_checked() {
    use TokenError::{Claim, Expired, NotYet};
    let signer = signer(SECRET, Some("idp"));
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
        let result = signer.check(&signer.sign(&claims), NOW * 1_000);
        assert_eq!(result.as_ref().err(), expected.as_ref(), "{claims}");
    }
}

#[test]
fn optional_claims_are_taken_over_if_fit() {
    let signer = signer(SECRET, None);
    let mut claims = with("locale", json!("de-AT"));
    claims["zone"] = json!("a\nb");
    claims["roles"] = json!(["editor", "x"]);
    let read = signer.check(&signer.sign(&claims), NOW * 1_000).unwrap();
    assert_eq!(read.name.as_deref(), Some("Ada"));
    assert_eq!(read.locale.as_deref(), Some("de-AT"));
    assert_eq!(read.zone, None);
    assert_eq!(read.role.as_deref(), Some("editor"));
}

#[test]
fn the_signature_and_its_algorithm_are_the_keys() {
    let signer = signer(SECRET, None);
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
        (self::signer(b"another-secret-another-secret-00", None).sign(&good()), Some(TokenError::Signature)),
    ] {
        assert_eq!(signer.check(&token, NOW * 1_000).err(), expected, "{token}");
    }
}

#[test]
fn a_token_of_ours_is_accepted_until_it_ends() {
    let signer = signer(SECRET, Some("idp"));
    let (user, org) = (UserId::parse("ada").unwrap(), OrgId::parse("acme").unwrap());
    let token = signer.token(&user, &org, Duration::from_secs(60), NOW * 1_000 + 999);
    assert_eq!(token.expires_at, NOW + 60);
    let claims = signer.check(&token.text, (NOW + 64) * 1_000).unwrap();
    assert_eq!((claims.user, claims.org, claims.expires_at), (user, org, NOW + 60));
    assert_eq!(signer.check(&token.text, (NOW + 65) * 1_000), Err(TokenError::Expired));
}

#[test]
fn secrets_are_long_and_never_shown() {
    assert!(matches!(Keys::hs256(&SECRET[..31]), Err(AuthError::ShortSecret { bytes: 31 })));
    let settings = AuthSettings { mode: AuthMode::Secret(Secret::new("hush-hush")), ..AuthSettings::default() };
    assert!(!format!("{settings:?} {:?}", signer(SECRET, None)).contains("hush"));
}
