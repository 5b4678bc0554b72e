//! Names to addresses, filtered: the addresses checked are the ones connected to, so a name cannot change in between.

use std::{fmt, net::SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::{Reach, is_public};

/// The name has no address.
#[derive(Debug)]
pub(crate) struct Unresolved;

/// The name has addresses, none of which may be reached.
#[derive(Debug)]
pub(crate) struct Blocked;

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name has no address")
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the address may not be reached")
    }
}

impl std::error::Error for Unresolved {}
impl std::error::Error for Blocked {}

/// The system's resolver behind the filter of a [`Reach`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resolver(pub(crate) Reach);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.0;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await.map_err(|_| Unresolved)?;
            let addresses = allowed(reach, found)?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// One private address among public ones makes the name suspect, but not the public ones: those are kept.
fn allowed(
    reach: Reach,
    found: impl Iterator<Item = SocketAddr>,
) -> Result<Vec<SocketAddr>, Box<dyn std::error::Error + Send + Sync>> {
    let mut any = false;
    let kept: Vec<_> =
        found.inspect(|_| any = true).filter(|address| reach == Reach::Anywhere || is_public(address.ip())).collect();
    match (kept.is_empty(), any) {
        (false, _) => Ok(kept),
        (true, true) => Err(Blocked.into()),
        (true, false) => Err(Unresolved.into()),
    }
}
