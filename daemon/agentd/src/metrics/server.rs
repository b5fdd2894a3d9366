//! Hands the figures out over HTTP, on a loopback address only: they tell what models are used for.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HOST, ORIGIN};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Gauges;

/// Connections at once; further ones wait in the backlog.
const CONNECTIONS: usize = 8;
/// Longest time of a connection, from its first byte to its last.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pause after a connection that could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);
/// What OpenMetrics calls itself.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Why the figures are not handed out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MetricsError {
    /// Everybody could read them.
    #[error("metrics.listen {0} is not a loopback address")]
    NotLoopback(SocketAddr),
    /// The system refused.
    #[error("cannot listen on metrics.listen {address}")]
    Io {
        /// Where.
        address: SocketAddr,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

/// Hands out figures until it is dropped.
#[derive(Debug)]
pub(crate) struct MetricsServer {
    listener: TcpListener,
    gauges: Arc<Gauges>,
}

impl MetricsServer {
    /// Listens; connections are served by [`Self::serve`].
    pub(crate) async fn bind(address: SocketAddr, gauges: Gauges) -> Result<Self, MetricsError> {
        if !address.ip().is_loopback() {
            return Err(MetricsError::NotLoopback(address));
        }
        let listener = TcpListener::bind(address)
            .await
            .map_err(|source| MetricsError::Io { address, source })?;
        Ok(Self { listener, gauges: Arc::new(gauges) })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the future is dropped, which also ends its connections.
    pub(crate) async fn serve(self) {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let mut connections = JoinSet::new();
        loop {
            // Never closed.
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            match self.listener.accept().await {
                Ok((stream, _peer)) => {
                    let gauges = Arc::clone(&self.gauges);
                    connections.spawn(async move {
                        let _place = place;
                        // A slow reader's loss.
                        let _too_slow = timeout(PATIENCE, connection(stream, gauges)).await;
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection for metrics could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
            while connections.try_join_next().is_some() {}
        }
    }
}

async fn connection(stream: TcpStream, gauges: Arc<Gauges>) {
    let service = service_fn(move |request| {
        let gauges = Arc::clone(&gauges);
        async move { Ok::<_, Infallible>(answer(&request, &gauges).await) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(16 * 1024)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection for metrics broke off");
    }
}

async fn answer(request: &Request<Incoming>, gauges: &Gauges) -> Response<Full<Bytes>> {
    if is_from_a_web_page(request) {
        return plain(
            StatusCode::FORBIDDEN,
            "ask as 127.0.0.1 or localhost, not from a web page\n",
        );
    }
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/metrics") => {
            let mut response = Response::new(Full::from(gauges.encode().await));
            response
                .headers_mut()
                .insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(OPEN_METRICS));
            response
        }
        (_, "/metrics") => plain(StatusCode::METHOD_NOT_ALLOWED, "use GET\n"),
        _ => plain(StatusCode::NOT_FOUND, "see /metrics\n"),
    }
}

/// A page in a browser may reach loopback addresses, under a name of its own that leads here.
fn is_from_a_web_page(request: &Request<Incoming>) -> bool {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _port)| name);
    let is_ours = matches!(name, "localhost" | "[::1]")
        || name.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    !is_ours || request.headers().contains_key(ORIGIN)
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response
}
