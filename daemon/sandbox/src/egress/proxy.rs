//! The HTTP proxy of one run: CONNECT for what is encrypted, absolute URLs for what is not.

mod answer;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentd_domain::cut_line;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use self::answer::Connection;
use super::Grant;
use super::resolve::{Lookup, SystemLookup};

/// Connections of a program at the same time; further ones wait.
const MAX_CONNECTIONS: usize = 64;

/// Longest head of a request in bytes.
const MAX_HEAD: usize = 16 * 1024;

/// Longest wait for the head of a request, and for the connection to become a tunnel.
const HEAD_PATIENCE: Duration = Duration::from_secs(20);

/// Between two tries when no connection can be taken, such as for want of descriptors.
const TAKE_AGAIN: Duration = Duration::from_millis(100);

/// Hosts that were refused and are remembered, and how much of each, in characters.
const MAX_REFUSED: usize = 20;
const MAX_NAME: usize = 100;

/// The proxy of a run. When it is dropped, its port and all connections are closed.
#[derive(Debug)]
pub(crate) struct Egress {
    proxy: Arc<Proxy>,
    _serving: JoinSet<()>,
}

impl Egress {
    /// Serves what connects to the port.
    ///
    /// # Errors
    /// When it is no port that can be served.
    pub(crate) fn serve(port: std::net::TcpListener, grant: Grant) -> io::Result<Self> {
        Self::with(port, grant, Arc::new(SystemLookup))
    }

    fn with(
        port: std::net::TcpListener,
        grant: Grant,
        lookup: Arc<dyn Lookup>,
    ) -> io::Result<Self> {
        port.set_nonblocking(true)?;
        let port = TcpListener::from_std(port)?;
        let proxy = Arc::new(Proxy { grant, lookup, refused: Mutex::default() });
        let mut serving = JoinSet::new();
        serving.spawn(serve(port, Arc::clone(&proxy)));
        Ok(Self { proxy, _serving: serving })
    }

    /// Hosts that the program asked for in vain, by name.
    pub(crate) fn refused(&self) -> Vec<String> {
        self.proxy.refused().iter().cloned().collect()
    }
}

#[derive(Debug)]
struct Proxy {
    grant: Grant,
    lookup: Arc<dyn Lookup>,
    refused: Mutex<BTreeSet<String>>,
}

impl Proxy {
    fn note_refused(&self, host: &str) {
        let mut refused = self.refused();
        if refused.len() < MAX_REFUSED {
            refused.insert(cut_line(host, MAX_NAME));
        }
    }

    fn refused(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(port: TcpListener, proxy: Arc<Proxy>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    // It is never closed.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        match port.accept().await {
            Ok((stream, _inside)) => {
                let proxy = Arc::clone(&proxy);
                connections.spawn(async move {
                    attend(stream, proxy).await;
                    drop(place);
                });
            }
            Err(_passing) => sleep(TAKE_AGAIN).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

/// Answers on one connection until it ends.
async fn attend(stream: TcpStream, proxy: Arc<Proxy>) {
    let connection = Arc::new(Connection::of(proxy));
    let answering = Arc::clone(&connection);
    let service = service_fn(move |request| {
        let connection = Arc::clone(&answering);
        async move { Ok::<_, Infallible>(connection.answer(request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    let Some((upgrade, mut far)) = connection.take_tunnel().filter(|_| served.is_ok()) else {
        return;
    };
    if let Ok(Ok(near)) = timeout(HEAD_PATIENCE, upgrade).await {
        // How it ends is between the two.
        let _ended = copy_bidirectional(&mut TokioIo::new(near), &mut far).await;
    }
}
