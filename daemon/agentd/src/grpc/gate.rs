//! The gate for remote calls: a good token whose scope is enough, before any handler.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentd_domain::ErrorKind;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{Service, http};
use tower::Layer;

use super::caller::{RemoteCaller, on_behalf};
use super::scopes::scope_of;
use super::status;
use crate::access::{Grant, Refusal};
use crate::remote::{CallGuard, Peer, Remote, RemotePeer};

/// Where tokens come from, for hints.
const HINT: &str = "make a token on the daemon's machine with `agentctl token create NAME` and give it with --token-file, AGENTD_TOKEN or a context";

/// Puts the gate before services.
#[derive(Debug, Clone)]
pub(crate) struct GateLayer(Arc<Remote>);

impl GateLayer {
    /// A gate that believes these tokens.
    pub(crate) fn new(remote: Arc<Remote>) -> Self {
        Self(remote)
    }
}

impl<S> Layer<S> for GateLayer {
    type Service = Gate<S>;

    fn layer(&self, inner: S) -> Gate<S> {
        Gate { inner, remote: Arc::clone(&self.0) }
    }
}

/// A service behind the gate.
#[derive(Debug, Clone)]
pub(crate) struct Gate<S> {
    inner: S,
    remote: Arc<Remote>,
}

type Response = http::Response<Body>;
type Handling = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

impl<S> Service<http::Request<Body>> for Gate<S>
where
    S: Service<http::Request<Body>, Response = Response, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Handling;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Handling {
        match admit(&self.remote, &request) {
            Ok((caller, guard)) => {
                // No handler has any use for it, so none can let it out.
                request.headers_mut().remove(http::header::AUTHORIZATION);
                let handling = self.inner.call(request);
                Box::pin(async move {
                    let answer = on_behalf(caller, handling).await?;
                    Ok(answer.map(|body| Body::new(Guarded { body, _guard: guard })))
                })
            }
            Err(refusal) => {
                let refusal = (*refusal).into_http();
                Box::pin(async move { Ok(refusal) })
            }
        }
    }
}

/// Lets a call in or says why not.
fn admit(
    remote: &Remote,
    request: &http::Request<Body>,
) -> Result<(RemoteCaller, CallGuard), Box<Status>> {
    let Some(RemotePeer(peer)) = request.extensions().get::<RemotePeer>() else {
        return Err(Box::new(status::internal("finding out who calls")));
    };
    check_place(remote, request)?;
    let Grant { token_id, name, scope } = authenticate(remote, peer, request)?;
    let path = request.uri().path();
    let Some(needed) = scope_of(path) else {
        return Err(Box::new(Status::unimplemented("there is no such method")));
    };
    if scope < needed {
        let message = format!(
            "the token '{name}' has the scope {}; this needs {}",
            scope.name(),
            needed.name()
        );
        let hint = format!(
            "make one with `agentctl token create NAME --scope {}` on the daemon's machine",
            needed.name()
        );
        return Err(Box::new(status::error(ErrorKind::Denied, &message, &hint, None)));
    }
    Ok((RemoteCaller { token: name, scope }, peer.begin_call(&token_id)))
}

/// Refuses what a web page could send, and requests that were meant for another host: with a foreign
/// name, a page can make a browser talk to an address that it could not otherwise reach.
fn check_place(remote: &Remote, request: &http::Request<Body>) -> Result<(), Box<Status>> {
    let denied = |message: &str, hint: &str| {
        Err(Box::new(status::error(ErrorKind::Denied, message, hint, None)))
    };
    if request.headers().contains_key(http::header::ORIGIN) {
        return denied(
            "requests of web pages are not served",
            "use agentctl, or another gRPC client that sends no Origin header",
        );
    }
    let authority = request.uri().authority().map(http::uri::Authority::host);
    let host = request.headers().get(http::header::HOST).map(|host| host.to_str().unwrap_or("?"));
    let host = host
        .map(|host| host.parse::<http::uri::Authority>().map(|parsed| parsed.host().to_owned()));
    let hosts = authority.map(str::to_owned).into_iter().chain(match host {
        Some(Ok(host)) => Some(host),
        Some(Err(_not_one)) => Some("?".to_owned()),
        None => None,
    });
    let hosts: Vec<String> = hosts.collect();
    if hosts.is_empty() || !hosts.iter().all(|host| is_own_host(remote, host)) {
        return denied(
            "this request is meant for another host",
            "connect by a name or address that the daemon's certificate is for",
        );
    }
    Ok(())
}

fn is_own_host(remote: &Remote, host: &str) -> bool {
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    match &remote.tls {
        Some(tls) => tls.current().is_for(host),
        // Without TLS it listens on a loopback address alone.
        None => {
            host.eq_ignore_ascii_case("localhost")
                || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

/// Finds out whose token the call shows.
fn authenticate(
    remote: &Remote,
    peer: &Peer,
    request: &http::Request<Body>,
) -> Result<Grant, Box<Status>> {
    // Who has shown a good token on this connection is not shut out by what others do.
    if !peer.is_proven()
        && let Some(wait) = remote.throttle.must_wait(peer.network)
    {
        return Err(Box::new(status::wait(
            "too many failed attempts from there",
            "wait, and check the token",
            wait,
        )));
    }
    let shown = request.headers().get_all(http::header::AUTHORIZATION);
    let mut shown = shown.iter();
    let token = match (shown.next(), shown.next()) {
        (Some(value), None) => value.to_str().ok().and_then(bearer),
        _ => None,
    };
    let problem = match token.map(|token| remote.tokens.check(token)) {
        Some(Ok(grant)) => return Ok(grant),
        Some(Err(refusal @ (Refusal::Unknown | Refusal::Expired))) => refusal.to_string(),
        None => "this needs a token".to_owned(),
    };
    if remote.throttle.failed(peer.network) {
        tracing::warn!(peer = %peer.address, problem, "a remote client was refused");
    }
    Err(Box::new(status::unauthenticated(&problem, HINT)))
}

/// The token of `Bearer <token>`; the scheme is in any case (RFC 7235, section 2.1).
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// An answer that counts as a call until its last byte.
struct Guarded {
    body: Body,
    _guard: CallGuard,
}

impl tonic::codegen::Body for Guarded {
    type Data = tonic::codegen::Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Self::Data>, Status>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests;
