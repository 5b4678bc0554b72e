use serde_json::json;

use super::*;
use crate::auth::test_keys::{JWKS, Pair, TOKENS, WEAK};

use Algorithm::{EdDsa, Es256, Rs256};

/// The key of the test set with this id, changed.
fn key(id: &str, change: impl FnOnce(&mut Value)) -> Value {
    let set: Value = serde_json::from_str(JWKS).unwrap();
    let mut key = set["keys"].as_array().unwrap().iter().find(|key| key["kid"] == id).unwrap().clone();
    change(&mut key);
    key
}

fn without(id: &str, member: &str) -> Value {
    key(id, |key| drop(key.as_object_mut().unwrap().remove(member)))
}

fn set(keys: &[Value]) -> KeySet {
    KeySet::parse(json!({"keys": keys}).to_string().as_bytes()).unwrap()
}

fn verify(set: &KeySet, algorithm: Algorithm, kid: Option<&str>, pair: Pair) -> Result<(), TokenError> {
    set.verify(algorithm, kid, Signed { text: b"header.payload", signature: &pair.sign(b"header.payload") })
}

#[test]
fn what_openssl_signed_is_accepted_and_nothing_near_it() {
    let set = KeySet::parse(JWKS.as_bytes()).unwrap();
    for ((kid, token), algorithm) in TOKENS.into_iter().zip([Rs256, Es256, EdDsa]) {
        let (text, signature) = token.trim().rsplit_once('.').unwrap();
        let mut signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let check = |text: &str, signature: &[u8]| set.verify(algorithm, Some(kid), Signed { text: text.as_bytes(), signature });
        assert_eq!(check(text, &signature), Ok(()), "{kid}");
        assert_eq!(check(&format!("{text}x"), &signature), Err(TokenError::Signature), "{kid}");
        assert_eq!(check(text, &[]), Err(TokenError::Signature), "{kid}");
        assert_eq!(check(text, &vec![0; signature.len()]), Err(TokenError::Signature), "{kid}");
        signature[10] ^= 1;
        assert_eq!(check(text, &signature), Err(TokenError::Signature), "{kid}");
    }
}

#[test]
fn a_key_is_used_with_its_own_algorithm_only() {
    let set = KeySet::parse(JWKS.as_bytes()).unwrap();
    for (algorithm, kid, pair, expected) in [
        (Rs256, Some("rsa-1"), Pair::Rsa, Ok(())),
        (Rs256, Some("ec-1"), Pair::Rsa, Err(TokenError::Algorithm)),
        (Rs256, Some("ec-1"), Pair::Ec, Err(TokenError::Algorithm)),
        (Es256, Some("rsa-1"), Pair::Ec, Err(TokenError::Algorithm)),
        (EdDsa, Some("ec-1"), Pair::Ec, Err(TokenError::Algorithm)),
        (Es256, Some("ec-1"), Pair::Rsa, Err(TokenError::Signature)),
        (EdDsa, Some("ed-1"), Pair::Ec, Err(TokenError::Signature)),
        (Rs256, Some("rsa-2"), Pair::Rsa, Err(TokenError::UnknownKey)),
        (Rs256, Some(""), Pair::Rsa, Err(TokenError::UnknownKey)),
        (Rs256, None, Pair::Rsa, Ok(())),
        (Es256, None, Pair::Rsa, Err(TokenError::Signature)),
    ] {
        assert_eq!(verify(&set, algorithm, kid, pair), expected, "{algorithm:?} {kid:?} {pair:?}");
    }
    for name in ["none", "None", "HS256", "RS512", "PS256", "rs256", "ES384", ""] {
        assert_eq!(Algorithm::named(name), None, "{name}");
    }
}

#[test]
fn a_token_without_kid_needs_exactly_one_key_of_its_algorithm() {
    let two = [without("rsa-1", "kid"), key("rsa-1", |_| ())];
    assert_eq!(verify(&set(&two[..1]), Rs256, None, Pair::Rsa), Ok(()));
    assert_eq!(verify(&set(&two[1..]), Rs256, None, Pair::Rsa), Ok(()));
    assert_eq!(verify(&set(&two), Rs256, None, Pair::Rsa), Err(TokenError::Ambiguous));
    assert_eq!(verify(&set(&two), Rs256, Some("rsa-1"), Pair::Rsa), Ok(()));
    assert_eq!(verify(&set(&two), Es256, None, Pair::Ec), Err(TokenError::Ambiguous));
    assert_eq!(verify(&set(&two[..1]), Rs256, Some("rsa-1"), Pair::Rsa), Err(TokenError::UnknownKey));
    assert_eq!(verify(&set(&[]), Rs256, None, Pair::Rsa), Err(TokenError::Ambiguous));
}

#[test]
fn keys_for_something_else_and_faulty_ones_are_passed_over() {
    let with = |id: &str, member: &str, value: Value| key(id, |key| key[member] = value);
    for (key, is_used) in [
        (with("rsa-1", "use", json!("sig")), true),
        (with("rsa-1", "use", json!("enc")), false),
        (with("rsa-1", "use", Value::Null), true),
        (with("rsa-1", "key_ops", json!(["verify"])), true),
        (with("rsa-1", "key_ops", json!(["encrypt", "wrapKey"])), false),
        (with("rsa-1", "key_ops", json!([])), false),
        (with("rsa-1", "alg", json!("RS512")), false),
        (with("rsa-1", "alg", json!("ES256")), false),
        (with("ec-1", "alg", json!("RS256")), false),
        (without("ed-1", "alg"), true),
        (with("rsa-1", "kty", json!("oct")), false),
        (json!({"kty": "oct", "k": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY", "alg": "HS256"}), false),
        (with("rsa-1", "d", json!("AQAB")), false),
        (with("rsa-1", "kid", json!(7)), false),
        (with("rsa-1", "n", json!("not base64!")), false),
        (without("rsa-1", "e"), false),
        (with("ec-1", "crv", json!("P-384")), false),
        (with("ec-1", "crv", json!("secp256k1")), false),
        (with("ec-1", "x", json!("AQAB")), false),
        (with("ed-1", "crv", json!("X25519")), false),
        (with("ed-1", "x", json!("AQAB")), false),
        (json!("text"), false),
        (json!({}), false),
    ] {
        assert_eq!(set(std::slice::from_ref(&key)).is_empty(), !is_used, "{key}");
    }
}

#[test]
fn an_rsa_key_is_long_enough_or_not_used() {
    assert!(KeySet::parse(WEAK.as_bytes()).unwrap().is_empty());
    // Zeros in front make it no longer.
    let padded = |id: &str, text: &str| {
        let n = URL_SAFE_NO_PAD.decode(text).unwrap();
        key(id, |key| key["n"] = json!(URL_SAFE_NO_PAD.encode([vec![0; 128], n].concat())))
    };
    let weak: Value = serde_json::from_str(WEAK).unwrap();
    assert!(set(&[padded("rsa-1", weak["keys"][0]["n"].as_str().unwrap())]).is_empty());
    let good = key("rsa-1", |_| ());
    assert_eq!(verify(&set(&[padded("rsa-1", good["n"].as_str().unwrap())]), Rs256, Some("rsa-1"), Pair::Rsa), Ok(()));
}

#[test]
fn a_set_is_an_object_of_at_most_a_hundred_keys() {
    let many = |count: usize| json!({"keys": vec![json!({}); count]}).to_string();
    assert_eq!(KeySet::parse(many(100).as_bytes()), Ok(KeySet::default()));
    assert_eq!(KeySet::parse(many(101).as_bytes()), Err(KeySetError::TooMany));
    for text in ["", "[]", "{}", "{\"keys\": {}}", "{\"keys\": []", "<html>"] {
        assert_eq!(KeySet::parse(text.as_bytes()), Err(KeySetError::Malformed), "{text}");
    }
}
