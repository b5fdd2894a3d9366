//! Names to addresses, each of which is checked.

use std::fmt::Debug;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::super::address;
use super::super::target::Trust;

/// Most addresses of a name that are tried.
const MAX_ADDRESSES: usize = 16;

/// Finds the addresses of a name.
#[async_trait]
pub(super) trait Lookup: Debug + Send + Sync + 'static {
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// As the machine resolves names.
#[derive(Debug)]
pub(super) struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// A name leads to an address that is not asked.
#[derive(Debug, thiserror::Error)]
#[error("the name leads to {what}")]
pub(super) struct RefusedAddress {
    pub(super) host: String,
    pub(super) what: &'static str,
}

/// Gives the client only addresses that may be asked. It connects to these and resolves no more, so
/// that a name cannot lead elsewhere between check and connection.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) lookup: Arc<dyn Lookup>,
    pub(super) trust: Trust,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (lookup, trust) = (Arc::clone(&self.lookup), self.trust);
        Box::pin(async move {
            let host = name.as_str();
            let addresses = lookup.lookup(host).await?;
            // One bad address spoils all: which of them is tried first is up to whoever answers.
            if trust == Trust::Public
                && let Some(what) = addresses.iter().find_map(|at| address::refusal(*at))
            {
                return Err(RefusedAddress { host: host.to_owned(), what }.into());
            }
            if addresses.is_empty() {
                return Err(
                    io::Error::new(io::ErrorKind::NotFound, "the name has no address").into()
                );
            }
            let addresses =
                addresses.into_iter().take(MAX_ADDRESSES).map(|at| SocketAddr::new(at, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}
