//! Clients on other machines: TCP with TLS, bounded connections, tokens.
//!
//! `Remote` owns the listening sockets and what is served with. Each connection is admitted
//! (`connections`), shakes hands in a task of its own (`acceptor`), and becomes a `stream` that
//! ends itself when it is idle or its token is gone. Who may call what is checked per call, in
//! `grpc/gate.rs`.

mod acceptor;
mod connections;
mod error;
mod housekeeping;
mod stream;
mod tls;
mod tls_files;
mod validity;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

use crate::access::{Throttle, Tokens};
use crate::config::RemoteConfig;
use crate::environment::Environment;

pub use error::RemoteError;
pub use tls_files::{TlsFiles, TlsFilesError, make_tls_files};

pub(crate) use acceptor::Incoming;
pub(crate) use connections::{CallGuard, Connections, Limits, Peer};
pub(crate) use housekeeping::keep_house;
pub(crate) use stream::{Gauge, RemotePeer};
pub(crate) use tls::Tls;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 128;

/// What is shared by everything that serves remote clients.
#[derive(Debug)]
pub(crate) struct Remote {
    /// Who may come in.
    pub(crate) tokens: Arc<Tokens>,
    /// Who is in.
    pub(crate) connections: Arc<Connections>,
    /// The certificate; none on a loopback address that may do without.
    pub(crate) tls: Option<Arc<Tls>>,
    /// Who failed to come in.
    pub(crate) throttle: Throttle,
    /// Somebody is to be served.
    pub(crate) is_wanted: bool,
    /// Where it listens by now.
    addresses: Mutex<Vec<SocketAddr>>,
}

/// The sockets, until they are served.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    pub(crate) open: Vec<TcpListener>,
    /// Addresses that could not be had yet, and why.
    pub(crate) missing: Vec<(SocketAddr, io::Error)>,
}

impl Remote {
    /// Listens where the configuration says. No address is good: then there is nobody to serve. An
    /// address that cannot be had now may be later: a network may come up after the daemon, and a port
    /// become free.
    ///
    /// # Errors
    /// When the configuration is wrong, or a file of TLS cannot be used.
    pub(crate) fn open(
        config: &RemoteConfig,
        tokens: Arc<Tokens>,
        env: &Environment,
    ) -> Result<(Arc<Self>, Listeners), RemoteError> {
        let (wanted, tls) = check(config, env)?;
        let mut listeners = Listeners::default();
        let mut addresses = Vec::new();
        for address in &wanted {
            match listen(*address) {
                Ok((listener, address)) => {
                    addresses.push(address);
                    listeners.open.push(listener);
                }
                Err(error) => listeners.missing.push((*address, error)),
            }
        }
        let limits = Limits {
            connections: config.max_connections as usize,
            per_network: config.max_connections_per_ip as usize,
            idle: Duration::from_millis(config.idle_timeout_ms),
        };
        let remote = Self {
            tokens,
            connections: Arc::new(Connections::new(limits)),
            tls: tls.map(Arc::new),
            throttle: Throttle::default(),
            is_wanted: !wanted.is_empty(),
            addresses: Mutex::new(addresses),
        };
        Ok((Arc::new(remote), listeners))
    }

    /// Where it listens by now.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Another address could be had.
    fn listens_on(&self, address: SocketAddr) {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner).push(address);
    }
}

/// Looks whether remote clients could be served so. Gives the addresses to listen on and what to
/// encrypt with.
///
/// # Errors
/// When the configuration is wrong, or a file of TLS cannot be used.
pub(crate) fn check(
    config: &RemoteConfig,
    env: &Environment,
) -> Result<(Vec<SocketAddr>, Option<Tls>), RemoteError> {
    // Without an address nothing is served, and files that are not needed are not looked at.
    let is_wanted = config.has_tls() && !config.listen.is_empty();
    let tls = is_wanted.then(|| Tls::load(config, env)).transpose()?;
    let mut addresses = Vec::new();
    for text in &config.listen {
        let address: SocketAddr =
            text.parse().map_err(|_not_one| RemoteError::Address(text.clone()))?;
        // The configuration was checked for it; this is the lock on the door itself.
        if tls.is_none() && !(config.insecure_loopback && address.ip().is_loopback()) {
            return Err(RemoteError::NoTls(address));
        }
        addresses.push(address);
    }
    Ok((addresses, tls))
}

fn listen(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        // `[::]` and `0.0.0.0` can then stand side by side, whatever the system's default.
        socket.set_only_v6(true)?;
    }
    // A restart must not wait for connections of the daemon before.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    let listener = TcpListener::from_std(socket.into())?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}
