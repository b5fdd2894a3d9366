//! Names to addresses for the client, each of which is checked.

use std::net::SocketAddr;
use std::sync::Arc;

pub(super) use agentd_sandbox::{Lookup, SystemLookup};
use agentd_sandbox::{NoAddress, addresses};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::super::target::Trust;

/// A name leads to an address that is not asked.
#[derive(Debug, thiserror::Error)]
#[error("the name leads to {what}")]
pub(super) struct RefusedAddress {
    pub(super) host: String,
    pub(super) what: &'static str,
}

/// Gives the client only addresses that may be asked. It connects to these and resolves no more.
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
            match addresses(&*lookup, host, trust).await {
                Ok(found) => {
                    let found = found.into_iter().map(|at| SocketAddr::new(at, 0));
                    Ok(Box::new(found) as Addrs)
                }
                Err(NoAddress::Refused(what)) => {
                    Err(RefusedAddress { host: host.to_owned(), what }.into())
                }
                Err(NoAddress::Unknown(error)) => Err(error.into()),
            }
        })
    }
}
