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
}

impl Server {
    pub(super) fn read(from: &mut Reader<'_>) -> Self {
        let mut server = Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080),
            listen_at: Place::Configuration,
            public_url: None,
            allowed_hosts: from.list("allowed_hosts").map(|hosts| hosts.value).unwrap_or_default(),
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
        from.later("allowed_origins");
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
