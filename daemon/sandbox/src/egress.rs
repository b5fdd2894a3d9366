//! The way of a program to the hosts that it was granted, and to nothing else.
//!
//! Such a program runs in a network of its own with nothing in it but itself. Its supervisor opens a
//! port on loopback there and hands it to the daemon (`port`), which answers on it as an HTTP proxy
//! (`proxy`): the port is none of this machine's, nothing else can reach it, and it goes with the run.
//! Names are resolved by the daemon, and what it connects to is checked as an address (`resolve`).

pub(crate) mod address;
mod grant;
pub(crate) mod port;
mod proxy;
pub(crate) mod resolve;

pub use grant::{AllowList, Grant};
pub(crate) use proxy::Egress;

/// What a program may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Network {
    /// Nothing.
    #[default]
    None,
    /// These hosts, over HTTP, and whatever goes through the CONNECT of a proxy.
    Hosts(Grant),
    /// All that this machine reaches, itself too.
    All,
}

/// How far a host is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// As any host of the Internet: its addresses must be public.
    Public,
    /// The owner named it: it may be anywhere.
    Named,
}
