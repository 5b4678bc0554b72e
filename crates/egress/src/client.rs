//! The client: two connection pools behind one door.

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::time::{Instant, timeout_at};
use url::Host;

use crate::{EgressError, Request, Response, is_public, resolve::Resolver};

/// How long name lookup, TCP and TLS may take together.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Unused connections close before most servers would close them, so that a request seldom meets a dying one.
const POOL_IDLE: Duration = Duration::from_secs(20);
const POOL_PER_HOST: usize = 64;

/// Which addresses may be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Loopback and private networks too: for addresses that an operator configured.
    Anywhere,
    /// The public internet only: for addresses that came from a person, a model or a page.
    PublicOnly,
}

/// Sends requests. Cheap to make and to clone: connections and TLS roots come with the first request that needs them
/// (reading the system's roots costs 5 to 10 ms of CPU time once; plain `http` never reads them).
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    reach: Reach,
    plain: OnceLock<reqwest::Client>,
    secure: OnceLock<Result<reqwest::Client, EgressError>>,
}

impl Client {
    pub fn new(reach: Reach) -> Self {
        Self { inner: Arc::new(Inner { reach, plain: OnceLock::new(), secure: OnceLock::new() }) }
    }

    pub fn reach(&self) -> Reach {
        self.inner.reach
    }

    /// Sends one request, once (again only if the connection says that it was never looked at, as HTTP/2 can). Any status
    /// is a response, redirects too. Dropping the future closes the connection.
    pub async fn send(&self, request: Request) -> Result<Response, EgressError> {
        let deadline = Instant::now() + request.timeout;
        let host = request.host();
        self.check(&request, &host)?;
        let client = match request.url.scheme() {
            "http" => self.inner.plain()?,
            "https" => self.inner.secure(&host)?,
            _ => return Err(EgressError::Request("only http and https URLs can be reached")),
        };
        let mut outgoing = client.request(request.method, request.url).headers(request.headers);
        if let Some(body) = request.body {
            outgoing = outgoing.body(body);
        }
        let sent = Box::pin(timeout_at(deadline, outgoing.send())).await;
        match sent {
            Ok(Ok(inner)) => Ok(Response { inner, host, deadline }),
            Ok(Err(error)) => Err(EgressError::from_reqwest(&host, &error)),
            Err(_) => Err(EgressError::Timeout { host }),
        }
    }

    /// Hosts written as addresses never meet the resolver, so they are checked here. The URL parser has already turned
    /// forms such as `0x7f.1` and `2130706433` into plain addresses.
    fn check(&self, request: &Request, host: &str) -> Result<(), EgressError> {
        let address = match request.url.host() {
            Some(Host::Ipv4(v4)) => IpAddr::V4(v4),
            Some(Host::Ipv6(v6)) => IpAddr::V6(v6),
            Some(Host::Domain(_)) => return Ok(()),
            None => return Err(EgressError::Request("the URL has no host")),
        };
        if self.inner.reach == Reach::PublicOnly && !is_public(address) {
            return Err(EgressError::Blocked { host: host.to_owned() });
        }
        Ok(())
    }
}

impl Inner {
    /// For `http` URLs. As no redirect is followed it never needs a TLS root, and works where the system has none.
    fn plain(&self) -> Result<&reqwest::Client, EgressError> {
        if let Some(client) = self.plain.get() {
            return Ok(client);
        }
        let client = builder(self.reach)
            .tls_certs_only([])
            .build()
            .map_err(|_| EgressError::Request("the HTTP client cannot be built"))?;
        Ok(self.plain.get_or_init(|| client))
    }

    fn secure(&self, host: &str) -> Result<&reqwest::Client, EgressError> {
        self.secure
            .get_or_init(|| {
                builder(self.reach)
                    .https_only(true)
                    .build()
                    .map_err(|_| EgressError::Tls { host: host.to_owned(), reason: "the system's certificates cannot be read" })
            })
            .as_ref()
            .map_err(Clone::clone)
    }
}

fn builder(reach: Reach) -> reqwest::ClientBuilder {
    // An error says that the process has a provider already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("frontdesk/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .no_proxy()
        .gzip(true)
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(POOL_IDLE)
        .pool_max_idle_per_host(POOL_PER_HOST)
        .tcp_nodelay(true)
        .dns_resolver(Resolver(reach))
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Client({:?})", self.inner.reach)
    }
}
