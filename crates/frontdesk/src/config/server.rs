//! `[server]`: where it listens and how it is reached.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use url::Url;

use super::{Place, reader::Reader};

#[derive(Debug, Clone)]
pub struct Server {
    /// 127.0.0.1:8080; port 0 lets the system choose.
    pub listen: SocketAddr,
    pub(super) listen_at: Place,
    /// The address people type, if a proxy stands before the server.
    pub public_url: Option<Url>,
    /// Names a request's `Host` may have; empty allows any.
    pub allowed_hosts: Vec<String>,
    /// Origins whose pages may call the API, as browsers write them, or `*`; empty none but our own.
    pub allowed_origins: Vec<String>,
}

impl Server {
    pub(super) fn read(from: &mut Reader<'_>) -> Self {
        let mut server = Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080),
            listen_at: Place::Configuration,
            public_url: None,
            allowed_hosts: from.list("allowed_hosts").map(|hosts| hosts.value).unwrap_or_default(),
            allowed_origins: origins(from),
        };
        if let Some(listen) = from.text("listen") {
            match parse(&listen.value) {
                Some(address) => server.listen = address,
                None => {
                    let message = format!(
                        "server.listen must be ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:0, not \"{}\"",
                        listen.value
                    );
                    from.problems.error(&listen.at, "invalid-value", message);
                }
            }
            server.listen_at = listen.at;
        }
        if let Some(public) = from.text("public_url") {
            match Url::parse(&public.value) {
                Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => server.public_url = Some(url),
                _ => from.problems.error(&public.at, "invalid-value", "server.public_url must be an http or https URL"),
            }
        }
        server
    }
}

/// An address; the name `localhost` counts as 127.0.0.1, no other name is looked up.
fn parse(text: &str) -> Option<SocketAddr> {
    let text = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    text.parse().ok()
}

/// Each exactly as a browser sends it, or nothing would ever match.
fn origins(from: &mut Reader<'_>) -> Vec<String> {
    let Some(list) = from.list("allowed_origins") else { return Vec::new() };
    for origin in &list.value {
        // A pattern of hosts would be a host's name to the parser, and to no browser.
        let parsed = Url::parse(origin).ok().filter(|url| matches!(url.scheme(), "http" | "https") && !origin.contains('*'));
        let exact = parsed.map(|url| url.origin().ascii_serialization());
        if origin != "*" && exact.as_ref() != Some(origin) {
            let message = format!(
                "server.allowed_origins must hold origins such as https://app.example.com, without a path, or \"*\"; not \"{origin}\""
            );
            from.problems.error_near(&list.at, "invalid-value", message, exact);
        }
    }
    list.value
}

/// Whether a URL's host is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let name = host.trim_matches(['[', ']']);
    name == "localhost" || name.ends_with(".localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
