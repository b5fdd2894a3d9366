//! What a request to the proxy is answered with.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::upgrade::{OnUpgrade, on};
use hyper::{Method, Request, Response, StatusCode, Uri, Version, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::super::Trust;
use super::super::address::refusal;
use super::super::resolve::{NoAddress, addresses};
use super::{MAX_HEAD, Proxy};

/// Longest look-up of a name, and longest wait for a connection.
const CONNECT_PATIENCE: Duration = Duration::from_secs(15);

/// Longest wait for the head of an answer.
const ANSWER_PATIENCE: Duration = Duration::from_secs(120);

/// Headers that are between two neighbours (RFC 9110, 7.6.1), and `Expect`, which the proxy has
/// answered itself.
const OF_HOPS: [&str; 9] = [
    "connection",
    "expect",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

pub(super) type Answer = Response<Either<Incoming, Full<Bytes>>>;

/// One connection of a program.
#[derive(Debug)]
pub(super) struct Connection {
    proxy: Arc<Proxy>,
    /// Carry what goes to and from servers.
    carriers: Mutex<JoinSet<()>>,
    /// What the connection becomes once the answer to a CONNECT has left.
    tunnel: Mutex<Option<(OnUpgrade, TcpStream)>>,
}

/// A request is not carried out.
struct Refusal {
    status: StatusCode,
    why: String,
}

impl Refusal {
    fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self { status, why: why.into() }
    }
}

impl Connection {
    pub(super) fn of(proxy: Arc<Proxy>) -> Self {
        Self { proxy, carriers: Mutex::default(), tunnel: Mutex::default() }
    }

    pub(super) fn take_tunnel(&self) -> Option<(OnUpgrade, TcpStream)> {
        self.tunnel.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Answer {
        let answered = if request.method() == Method::CONNECT {
            self.tunnel(request).await
        } else {
            self.forward(request).await
        };
        answered.unwrap_or_else(|Refusal { status, why }| {
            let mut answer = plain(format!("agentd: {why}\n"));
            *answer.status_mut() = status;
            answer
        })
    }

    async fn tunnel(&self, mut request: Request<Incoming>) -> Result<Answer, Refusal> {
        let asked = request.uri().authority().and_then(|at| Some((at.host(), at.port_u16()?)));
        let (host, port) = asked.ok_or_else(|| {
            Refusal::new(StatusCode::BAD_REQUEST, "CONNECT takes a host and a port")
        })?;
        let stream = self.proxy.connect(&canonical(host), port).await?;
        let tunnel = (on(&mut request), stream);
        *self.tunnel.lock().unwrap_or_else(PoisonError::into_inner) = Some(tunnel);
        Ok(plain(String::new()))
    }

    async fn forward(&self, mut request: Request<Incoming>) -> Result<Answer, Refusal> {
        let absolute = request.uri().authority().filter(|_| is_http(request.uri())).cloned();
        let authority = absolute.ok_or_else(|| {
            let why = "this is a proxy: it takes CONNECT, and absolute URLs of http";
            Refusal::new(StatusCode::BAD_REQUEST, why)
        })?;
        let host = canonical(authority.host());
        let port = authority.port_u16();
        let stream = self.proxy.connect(&host, port.unwrap_or(80)).await?;
        let broken = |error: hyper::Error| {
            Refusal::new(StatusCode::BAD_GATEWAY, format!("'{host}' broke off: {}", cause(&error)))
        };
        let shaken = http1::Builder::new()
            .max_buf_size(MAX_HEAD)
            .handshake::<_, Incoming>(TokioIo::new(stream))
            .await;
        let (mut sender, carrier) = shaken.map_err(broken)?;
        {
            let mut carriers = self.carriers.lock().unwrap_or_else(PoisonError::into_inner);
            while carriers.try_join_next().is_some() {}
            carriers.spawn(async move {
                // Its end ends the body of the answer, where it is told.
                let _ended = carrier.await;
            });
        }
        // The server is told the host that was granted, whatever the program has written there.
        let named = port.map_or_else(|| host.clone(), |port| format!("{host}:{port}"));
        let named = HeaderValue::try_from(named)
            .map_err(|_not_a_host| Refusal::new(StatusCode::BAD_REQUEST, "it names no host"))?;
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        *request.uri_mut() = Uri::try_from(path)
            .map_err(|_not_a_path| Refusal::new(StatusCode::BAD_REQUEST, "it names no path"))?;
        *request.version_mut() = Version::HTTP_11;
        remove_hops(request.headers_mut());
        request.headers_mut().insert(header::HOST, named);
        let answer = timeout(ANSWER_PATIENCE, sender.send_request(request)).await;
        let mut answer = answer
            .map_err(|_late| {
                Refusal::new(StatusCode::GATEWAY_TIMEOUT, format!("'{host}' does not answer"))
            })?
            .map_err(broken)?;
        remove_hops(answer.headers_mut());
        Ok(answer.map(Either::Left))
    }
}

impl Proxy {
    /// Connects to a host that was granted, by an address that was checked.
    async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, Refusal> {
        let Some(trust) = self.grant.trust(host, port) else {
            self.note_refused(host);
            let granted = self.grant.hosts().unwrap_or_default().join(", ");
            return Err(Refusal::new(
                StatusCode::FORBIDDEN,
                format!(
                    "the host '{host}' is not granted, only: {granted}. Run it again with '{host}' \
                     in the argument network, which asks for it."
                ),
            ));
        };
        // Addresses of version 6 stand in brackets in URLs only.
        let name = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let looked_up = timeout(CONNECT_PATIENCE, addresses(&*self.lookup, name, trust)).await;
        let late = || {
            Refusal::new(StatusCode::GATEWAY_TIMEOUT, format!("'{host}' cannot be reached in time"))
        };
        let found = looked_up.map_err(|_late| late())?.map_err(|error| match error {
            NoAddress::Refused(what) => self.not_public(host, what),
            NoAddress::Unknown(error) => Refusal::new(
                StatusCode::BAD_GATEWAY,
                format!("'{host}' has no address that is known: {error}"),
            ),
        })?;
        let mut last = None;
        let trying = async {
            for address in found {
                match TcpStream::connect(SocketAddr::new(address, port)).await {
                    Ok(stream) => return Some(stream),
                    Err(error) => last = Some(error),
                }
            }
            None
        };
        let Some(stream) = timeout(CONNECT_PATIENCE, trying).await.map_err(|_late| late())? else {
            let why = last.map(|error| error.to_string()).unwrap_or_default();
            let why = format!("'{host}' port {port} cannot be reached: {why}");
            return Err(Refusal::new(StatusCode::BAD_GATEWAY, why));
        };
        // The address of the connection itself: nothing that was resolved counts more.
        let peer = stream.peer_addr().map_err(|_gone| late())?;
        match refusal(peer.ip()) {
            Some(what) if trust == Trust::Public => Err(self.not_public(host, what)),
            Some(_) | None => Ok(stream),
        }
    }

    fn not_public(&self, host: &str, what: &str) -> Refusal {
        self.note_refused(host);
        Refusal::new(
            StatusCode::FORBIDDEN,
            format!(
                "the host '{host}' is, or leads to, {what}; programs reach public hosts only. The \
                 owner of this daemon can name others in sandbox.allow_hosts."
            ),
        )
    }
}

fn plain(text: String) -> Answer {
    Response::new(Either::Right(Full::new(Bytes::from(text))))
}

fn is_http(uri: &Uri) -> bool {
    uri.scheme_str().is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"))
}

/// As hosts are compared.
fn canonical(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

/// Removes what is not for whoever comes next.
fn remove_hops(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in OF_HOPS {
        headers.remove(name);
    }
}

fn cause(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
