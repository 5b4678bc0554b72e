//! `Host` and `Origin`: whom a browser thinks it talks to (against DNS rebinding).

use std::net::IpAddr;

use axum::http::{HeaderMap, header};
use url::Url;

/// The one `Host` of a request.
pub(crate) fn of(headers: &HeaderMap) -> Option<&str> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next()?.to_str().ok()?;
    hosts.next().is_none().then_some(host)
}

/// The name in `host`, without port and brackets; `None` if more than a port follows it.
fn name(host: &str) -> Option<&str> {
    let (name, rest) = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => host.find(':').map_or((host, ""), |colon| host.split_at(colon)),
    };
    let port = if rest.is_empty() { "" } else { rest.strip_prefix(':')? };
    port.bytes().all(|byte| byte.is_ascii_digit()).then_some(name)
}

/// `allowed` holds names, perhaps with a port, which then must fit too.
pub(crate) fn is_allowed(host: &str, allowed: &[String]) -> bool {
    let name = name(host);
    let is_name = |one: &str| name.is_some_and(|name| one.trim_matches(['[', ']']).eq_ignore_ascii_case(name));
    allowed.iter().any(|one| one.eq_ignore_ascii_case(host) || is_name(one))
}

/// `localhost`, `*.localhost`, 127.0.0.0/8 or ::1.
pub(crate) fn is_loopback(host: &str) -> bool {
    let Some(name) = name(host) else { return false };
    let lower = name.to_ascii_lowercase();
    lower == "localhost" || lower.ends_with(".localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Whether a request's `Origin` is absent or the server's own: the address it was asked at, or `server.public_url`.
pub(crate) fn is_own_origin(headers: &HeaderMap, host: &str, public_url: Option<&Url>) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else { return true };
    let Ok(origin) = origin.to_str() else { return false };
    let own = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    let is_public = public_url.is_some_and(|url| url.origin().ascii_serialization().eq_ignore_ascii_case(origin));
    origins.next().is_none() && (is_public || own.is_some_and(|own| own.eq_ignore_ascii_case(host)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_told_by_name_or_number() {
        for host in ["localhost", "LOCALHOST:8080", "app.localhost:1", "127.0.0.1", "127.9.9.9:80", "[::1]", "[::1]:8080"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["", "example.com", "localhost.example.com", "10.0.0.1", "[::2]:80", "127.0.0.1.example.com", "0.0.0.0:80"] {
            assert!(!is_loopback(host), "{host}");
        }
        for host in ["[::1].example.com", "[::1]example.com:80", "[::1", "127.0.0.1:example.com", "localhost:80:80", "::1"] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn allowed_names_fit_any_port_unless_they_name_one() {
        let allowed = ["desk.example.com".to_owned(), "[::1]".to_owned(), "a:81".to_owned()];
        for (host, expected) in [
            ("desk.example.com", true),
            ("DESK.example.com:443", true),
            ("[::1]:9", true),
            ("a:81", true),
            ("a:82", false),
            ("b", false),
            ("desk.example.com:x", false),
            ("[::1].example.com", false),
        ] {
            assert_eq!(is_allowed(host, &allowed), expected, "{host}");
        }
    }

    #[test]
    fn an_origin_is_ours_at_the_address_asked_or_the_public_one() {
        let public = Url::parse("https://desk.example.com/x").ok();
        for (origin, expected) in [
            ("http://127.0.0.1:8080", true),
            ("https://127.0.0.1:8080", true),
            ("https://desk.example.com", true),
            ("http://desk.example.com", false),
            ("http://127.0.0.1:8081", false),
            ("null", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ORIGIN, origin.parse().unwrap());
            assert_eq!(is_own_origin(&headers, "127.0.0.1:8080", public.as_ref()), expected, "{origin}");
        }
        assert!(is_own_origin(&HeaderMap::new(), "127.0.0.1:8080", None));
    }
}
