//! Who is connected from elsewhere: counted, bounded, and closed when its token is no more.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::access::network_of;

/// A connection that has shown no good token is closed after this time.
const UNPROVEN: Duration = Duration::from_secs(30);

/// How many connections there may be, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Most at once.
    pub(crate) connections: usize,
    /// Most at once from one network; see [`network_of`].
    pub(crate) per_network: usize,
    /// Longest time without a call.
    pub(crate) idle: Duration,
}

/// Why a connection is not admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// There are too many.
    All,
    /// There are too many from there.
    Network,
}

/// The open connections.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: Limits,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    last_id: u64,
    peers: HashMap<u64, Arc<Peer>>,
    per_network: HashMap<IpAddr, usize>,
}

/// The other end of a connection.
#[derive(Debug)]
pub(crate) struct Peer {
    /// From where.
    pub(crate) address: SocketAddr,
    /// For whom limits count it.
    pub(crate) network: IpAddr,
    /// Cancelled when the connection has to end.
    pub(crate) end: CancellationToken,
    idle: Duration,
    state: Mutex<PeerState>,
}

#[derive(Debug)]
struct PeerState {
    calls: usize,
    since: Instant,
    /// Ids of the tokens that calls of this connection showed.
    tokens: Vec<String>,
}

/// A place among the connections, until it is dropped.
#[derive(Debug)]
pub(crate) struct Admission {
    connections: Arc<Connections>,
    id: u64,
    peer: Arc<Peer>,
}

impl Connections {
    /// No connections.
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, open: Mutex::default() }
    }

    /// Takes a connection in.
    ///
    /// # Errors
    /// When there are too many.
    pub(crate) fn admit(self: &Arc<Self>, address: SocketAddr) -> Result<Admission, Full> {
        let network = network_of(address.ip());
        let mut open = self.open();
        if open.peers.len() >= self.limits.connections {
            return Err(Full::All);
        }
        let count = open.per_network.entry(network).or_default();
        if *count >= self.limits.per_network {
            return Err(Full::Network);
        }
        *count += 1;
        open.last_id += 1;
        let id = open.last_id;
        let peer = Arc::new(Peer {
            address,
            network,
            end: CancellationToken::new(),
            idle: self.limits.idle,
            state: Mutex::new(PeerState { calls: 0, since: Instant::now(), tokens: Vec::new() }),
        });
        open.peers.insert(id, Arc::clone(&peer));
        Ok(Admission { connections: Arc::clone(self), id, peer })
    }

    /// How many there are, with those that shake hands.
    pub(crate) fn count(&self) -> usize {
        self.open().peers.len()
    }

    /// Closes the connections of tokens that are not good any more.
    pub(crate) fn close_where(&self, is_good: impl Fn(&str) -> bool) {
        let peers: Vec<Arc<Peer>> = self.open().peers.values().cloned().collect();
        for peer in peers {
            if !peer.state().tokens.iter().all(|token| is_good(token)) {
                tracing::info!(peer = %peer.address, "connection closed: its token is not good any more");
                peer.end.cancel();
            }
        }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admission {
    /// The other end.
    pub(crate) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut open = self.connections.open();
        open.peers.remove(&self.id);
        let network = self.peer.network;
        if let Some(count) = open.per_network.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                open.per_network.remove(&network);
            }
        }
    }
}

/// A call that is being answered, until it is dropped.
#[derive(Debug)]
pub(crate) struct CallGuard(Arc<Peer>);

impl Peer {
    /// Notes that a call with this token begins.
    pub(crate) fn begin_call(self: &Arc<Self>, token: &str) -> CallGuard {
        let mut state = self.state();
        state.calls += 1;
        if !state.tokens.iter().any(|known| known == token) {
            state.tokens.push(token.to_owned());
        }
        drop(state);
        CallGuard(Arc::clone(self))
    }

    /// True when a call of this connection showed a good token.
    pub(crate) fn is_proven(&self) -> bool {
        !self.state().tokens.is_empty()
    }

    /// When this connection will have been idle for too long, if nothing happens until then.
    pub(crate) fn idle_until(&self) -> Instant {
        let state = self.state();
        let idle = if state.tokens.is_empty() { self.idle.min(UNPROVEN) } else { self.idle };
        let since = if state.calls > 0 { Instant::now() } else { state.since };
        since + idle
    }

    fn state(&self) -> std::sync::MutexGuard<'_, PeerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.calls -= 1;
        state.since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(connections: usize, per_network: usize) -> Arc<Connections> {
        let idle = Duration::from_secs(600);
        Arc::new(Connections::new(Limits { connections, per_network, idle }))
    }

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn there_are_no_more_than_allowed_and_places_come_free() {
        let connections = limits(3, 2);
        let one = connections.admit(at("192.0.2.1:1")).unwrap();
        let two = connections.admit(at("192.0.2.1:2")).unwrap();
        assert_eq!(connections.admit(at("192.0.2.1:3")).unwrap_err(), Full::Network);
        let other = connections.admit(at("192.0.2.2:1")).unwrap();
        assert_eq!(connections.admit(at("192.0.2.3:1")).unwrap_err(), Full::All);
        assert_eq!(connections.count(), 3);
        drop((one, two, other));
        assert_eq!(connections.count(), 0);
        assert!(connections.open().per_network.is_empty());
        connections.admit(at("192.0.2.1:3")).unwrap();
    }

    #[test]
    fn only_connections_of_a_bad_token_are_closed() {
        let connections = limits(9, 9);
        let (good, bad) =
            (connections.admit(at("[::1]:1")).unwrap(), connections.admit(at("[::1]:2")).unwrap());
        let unproven = connections.admit(at("[::1]:3")).unwrap();
        drop(good.peer().begin_call("good"));
        drop(bad.peer().begin_call("bad"));
        connections.close_where(|token| token == "good");
        assert!(bad.peer().end.is_cancelled());
        assert!(!good.peer().end.is_cancelled() && !unproven.peer().end.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_has_no_call_grows_idle() {
        let connections = limits(1, 1);
        let admission = connections.admit(at("[::1]:1")).unwrap();
        let peer = admission.peer();
        assert_eq!(peer.idle_until(), Instant::now() + UNPROVEN);
        let call = peer.begin_call("token");
        tokio::time::advance(Duration::from_secs(3_600)).await;
        assert_eq!(peer.idle_until(), Instant::now() + Duration::from_secs(600));
        drop(call);
        let ended = Instant::now();
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(peer.idle_until(), ended + Duration::from_secs(600));
    }
}
