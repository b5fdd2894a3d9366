//! Names to addresses, each of which is checked.

use std::fmt::Debug;
use std::io;
use std::net::IpAddr;

use async_trait::async_trait;

use super::Trust;
use super::address::refusal;

/// Most addresses of a name that are tried.
const MAX_ADDRESSES: usize = 16;

/// Finds the addresses of a name.
#[async_trait]
pub trait Lookup: Debug + Send + Sync + 'static {
    /// All that are known.
    ///
    /// # Errors
    /// Of the system; when there is no such name.
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// As the machine resolves names.
#[derive(Debug)]
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// Why a name has no address that may be asked.
#[derive(Debug, thiserror::Error)]
pub enum NoAddress {
    /// It leads to one that is not asked.
    #[error("the name leads to {0}")]
    Refused(&'static str),
    /// There is none.
    #[error(transparent)]
    Unknown(#[from] io::Error),
}

/// The addresses of a name that may be asked. Whoever connects to these and resolves no more cannot be
/// led elsewhere between check and connection.
///
/// # Errors
/// When there is none, or any of them is not public and the host is trusted no further.
pub async fn addresses(
    lookup: &dyn Lookup,
    host: &str,
    trust: Trust,
) -> Result<Vec<IpAddr>, NoAddress> {
    let mut addresses = lookup.lookup(host).await?;
    // One bad address spoils all: which of them is tried first is up to whoever answers.
    if trust == Trust::Public
        && let Some(what) = addresses.iter().find_map(|at| refusal(*at))
    {
        return Err(NoAddress::Refused(what));
    }
    if addresses.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address").into());
    }
    addresses.truncate(MAX_ADDRESSES);
    Ok(addresses)
}
