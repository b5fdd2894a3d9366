//! Accepts connections and shakes hands, many at once and none for long.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_rustls::TlsAcceptor;

use super::connections::{Admission, Full};
use super::stream::{RemoteStream, Transport};
use super::{Listeners, Remote, listen};
use crate::control::{Control, Topic};

/// Longest time for a handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Most handshakes at once; each is cheap to begin for a stranger and not for us.
const MAX_HANDSHAKES: usize = 64;
/// Most handshakes at once with one network, so that a few of them cannot keep out all others.
const MAX_HANDSHAKES_PER_NETWORK: usize = 8;
/// How often an address that could not be had is tried again.
const LISTEN_EVERY: Duration = Duration::from_secs(5);
/// Pause after a connection that could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);
/// Silence after which the system asks a peer for a sign of life, beneath TLS.
const TCP_KEEPALIVE: Duration = Duration::from_secs(60);
/// How often trouble of strangers is worth a line in the log.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// The connections that come in, ready to be served.
pub(crate) struct Incoming {
    remote: Arc<Remote>,
    control: Control,
    listeners: Vec<TcpListener>,
    /// Addresses that could not be had yet, and why.
    missing: Vec<(SocketAddr, io::Error)>,
    retry: Interval,
    /// Which listener is looked at first, so that a busy one does not starve the others.
    next: usize,
    handshakes: JoinSet<Option<RemoteStream>>,
    /// One clone of each for each handshake with that network.
    shaking: HashMap<IpAddr, Arc<()>>,
    trouble: Trouble,
}

impl Incoming {
    /// Accepts from these sockets.
    pub(crate) fn new(remote: Arc<Remote>, listeners: Listeners, control: Control) -> Self {
        let mut retry = tokio::time::interval_at(Instant::now() + LISTEN_EVERY, LISTEN_EVERY);
        retry.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let Listeners { open, missing } = listeners;
        let incoming = Self {
            remote,
            control,
            listeners: open,
            missing,
            retry,
            next: 0,
            handshakes: JoinSet::new(),
            shaking: HashMap::new(),
            trouble: Trouble::default(),
        };
        if !incoming.missing.is_empty() {
            incoming.tell_missing();
        }
        incoming
    }

    /// Tells where it does not listen although it should.
    fn tell_missing(&self) {
        let missing: Vec<_> =
            self.missing.iter().map(|(address, error)| format!("{address} ({error})")).collect();
        let warning = (!missing.is_empty()).then(|| {
            format!(
                "remote.listen: cannot listen on {} and will try again every {} s; free the port, or \
                 take an address of this machine and a port above 1023",
                missing.join(", "),
                LISTEN_EVERY.as_secs()
            )
        });
        self.control.standing_warning(Topic::Remote, warning);
    }

    fn try_missing(&mut self) {
        let before = self.missing.len();
        for (address, _error) in std::mem::take(&mut self.missing) {
            match listen(address) {
                Ok((listener, address)) => {
                    tracing::info!(%address, "remote clients are served here now");
                    self.remote.listens_on(address);
                    self.listeners.push(listener);
                }
                Err(error) => self.missing.push((address, error)),
            }
        }
        if self.missing.len() != before {
            self.tell_missing();
        }
    }

    /// The next connection that has shaken hands.
    pub(crate) async fn next(&mut self) -> RemoteStream {
        loop {
            tokio::select! {
                accepted = accept_any(&self.listeners, self.next) => {
                    self.next = self.next.wrapping_add(1);
                    match accepted {
                        Ok((tcp, address)) => self.begin(tcp, address),
                        Err(error) => {
                            tracing::warn!(%error, "a connection could not be accepted");
                            tokio::time::sleep(ACCEPT_PAUSE).await;
                        }
                    }
                }
                _ = self.retry.tick(), if !self.missing.is_empty() => self.try_missing(),
                Some(done) = self.handshakes.join_next() => {
                    match done {
                        Ok(Some(stream)) => return stream,
                        Ok(None) => {}
                        Err(error) => tracing::error!(%error, "a handshake broke off"),
                    }
                }
            }
        }
    }

    fn begin(&mut self, tcp: TcpStream, address: SocketAddr) {
        let remote = &self.remote;
        let admission = match remote.connections.admit(address) {
            Ok(admission) => admission,
            Err(Full::All) => {
                return self.trouble.tell(address, "remote.max_connections is reached");
            }
            Err(Full::Network) => {
                return self.trouble.tell(address, "remote.max_connections_per_ip is reached");
            }
        };
        if let Err(error) = prepare(&tcp) {
            return self.trouble.tell(address, &error.to_string());
        }
        let Some(tls) = &remote.tls else {
            self.handshakes
                .spawn(async { Some(RemoteStream::new(Transport::Plain(tcp), admission)) });
            return;
        };
        if self.handshakes.len() >= MAX_HANDSHAKES {
            return self.trouble.tell(address, "too many handshakes at once");
        }
        // Those of networks that have finished hold nothing any more.
        self.shaking.retain(|_network, shaking| Arc::strong_count(shaking) > 1);
        let shaking = self.shaking.entry(admission.peer().network).or_default();
        if Arc::strong_count(shaking) > MAX_HANDSHAKES_PER_NETWORK {
            return self.trouble.tell(address, "too many handshakes at once from there");
        }
        let shaking = Arc::clone(shaking);
        let acceptor = TlsAcceptor::from(Arc::clone(&tls.current().server));
        let shake_hands = shake_hands(acceptor, tcp, admission, self.trouble.clone());
        self.handshakes.spawn(async move {
            let done = shake_hands.await;
            drop(shaking);
            done
        });
    }
}

async fn shake_hands(
    acceptor: TlsAcceptor,
    tcp: TcpStream,
    admission: Admission,
    trouble: Trouble,
) -> Option<RemoteStream> {
    let address = admission.peer().address;
    match tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(tcp)).await {
        // A client that speaks no HTTP/2 has nothing to ask here.
        Ok(Ok(tls)) if tls.get_ref().1.alpn_protocol() != Some(b"h2") => {
            trouble.tell(address, "it does not offer HTTP/2");
            None
        }
        Ok(Ok(tls)) => Some(RemoteStream::new(Transport::Tls(Box::new(tls)), admission)),
        Ok(Err(error)) => {
            trouble.tell(address, &error.to_string());
            None
        }
        Err(_) => {
            trouble.tell(address, "the handshake takes too long");
            None
        }
    }
}

async fn accept_any(
    listeners: &[TcpListener],
    first: usize,
) -> io::Result<(TcpStream, SocketAddr)> {
    std::future::poll_fn(|cx| {
        for at in 0..listeners.len() {
            let listener = listeners.get((first.wrapping_add(at)) % listeners.len());
            if let Some(listener) = listener
                && let std::task::Poll::Ready(accepted) = listener.poll_accept(cx)
            {
                return std::task::Poll::Ready(accepted);
            }
        }
        std::task::Poll::Pending
    })
    .await
}

fn prepare(tcp: &TcpStream) -> io::Result<()> {
    tcp.set_nodelay(true)?;
    SockRef::from(tcp).set_tcp_keepalive(&TcpKeepalive::new().with_time(TCP_KEEPALIVE))
}

/// Tells of strangers' trouble once in a while: anybody can make as much of it as he likes.
#[derive(Debug, Clone, Default)]
struct Trouble(Arc<std::sync::Mutex<Told>>);

#[derive(Debug, Default)]
struct Told {
    at: Option<Instant>,
    untold: u64,
}

impl Trouble {
    fn tell(&self, peer: SocketAddr, problem: &str) {
        let mut told = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if told.at.is_some_and(|at| at.elapsed() < LOG_EVERY) {
            told.untold += 1;
            tracing::debug!(%peer, problem, "connection refused");
            return;
        }
        let more = std::mem::take(&mut told.untold);
        told.at = Some(Instant::now());
        drop(told);
        tracing::warn!(%peer, problem, more, "connection refused");
    }
}

#[cfg(test)]
mod tests;
