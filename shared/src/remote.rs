//! A daemon on another machine: its URL, who it must be, and what it asks for.
//!
//! Without TLS a token would travel in the clear, so `http://` is for loopback addresses alone.

mod error;
mod problem;
mod tls;
mod token;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tonic::transport::Uri;

pub use error::RemoteError;
pub use problem::{RemoteProblem, TlsProblem};
pub use token::{Credentials, MAX_TOKEN_BYTES, Token};

/// Port of a URL that names none.
pub const DEFAULT_PORT: u16 = 7443;

/// How a daemon on another machine is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteOptions {
    /// `https://host:port`.
    pub server: String,
    /// What calls carry; none is refused by the daemon with the remedy.
    pub token: Option<Token>,
    /// PEM file with the CA of the daemon's certificate; `None`: those that this system trusts.
    pub ca: Option<PathBuf>,
    /// PEM file with this client's certificate.
    pub client_cert: Option<PathBuf>,
    /// PEM file with its key, mode 0600.
    pub client_key: Option<PathBuf>,
    /// Name that the certificate must be for, when it is not the URL's, as in a tunnel.
    pub server_name: Option<String>,
}

/// Options that were checked, with their files read.
#[derive(Debug)]
pub struct Remote {
    options: RemoteOptions,
    /// Scheme and authority of requests.
    origin: Uri,
    host: String,
    port: u16,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    credentials: Credentials,
}

impl PartialEq for Remote {
    fn eq(&self, other: &Self) -> bool {
        self.options == other.options
    }
}

impl Eq for Remote {}

impl Remote {
    /// Checks options and reads their files.
    ///
    /// # Errors
    /// [`RemoteError`] names the option and what to do.
    pub fn new(options: RemoteOptions) -> Result<Self, RemoteError> {
        let url = |problem| RemoteError::Url { server: options.server.clone(), problem };
        let uri: Uri = options.server.parse().map_err(|_not_one| url("it is not a URL"))?;
        let is_tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(url("it does not begin with https://")),
        };
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(url("it has more than a host and a port"));
        }
        let authority = uri.authority().ok_or_else(|| url("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(url("it holds a user name; a token says who you are"));
        }
        let host = authority.host();
        let host = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
        if !is_tls && !is_loopback(host) {
            return Err(url("without TLS (http://) only this machine is reached"));
        }
        let port = match authority.as_str().rsplit_once(':') {
            Some((_, text)) if !text.contains(']') => {
                authority.port_u16().ok_or_else(|| url("its port is not one"))?
            }
            _ => DEFAULT_PORT,
        };
        let name = options.server_name.as_deref().unwrap_or(host);
        let tls = if is_tls {
            let parsed = ServerName::try_from(name.to_owned())
                .map_err(|_not_one| RemoteError::ServerName(name.to_owned()))?;
            Some((Arc::new(tls::client_config(&options)?), parsed))
        } else {
            None
        };
        // What a request is addressed to is whom the certificate is for.
        let scheme = if is_tls { "https" } else { "http" };
        let bracketed = if name.contains(':') { format!("[{name}]") } else { name.to_owned() };
        let origin = format!("{scheme}://{bracketed}:{port}");
        let origin = origin.parse().map_err(|_not_one| url("it is not a URL"))?;
        let credentials = Credentials::new(options.token.as_ref())?;
        Ok(Self { origin, host: host.to_owned(), port, tls, credentials, options })
    }

    /// The URL, as it was given.
    pub fn server(&self) -> &str {
        &self.options.server
    }

    pub(crate) fn origin(&self) -> &Uri {
        &self.origin
    }

    pub(crate) fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Connects, shakes hands, and waits for the daemon's first word: with TLS 1.3 it is only then known
    /// whether it takes our certificate.
    pub(crate) async fn open(&self) -> io::Result<Box<dyn Stream>> {
        let tcp = TcpStream::connect((self.host.as_str(), self.port)).await?;
        tcp.set_nodelay(true)?;
        match &self.tls {
            None => heard(tcp).await,
            Some((config, name)) => {
                let connector = TlsConnector::from(Arc::clone(config));
                heard(connector.connect(name.clone(), tcp).await?).await
            }
        }
    }
}

async fn heard<S: Stream + 'static>(stream: S) -> io::Result<Box<dyn Stream>> {
    let mut stream = BufReader::new(stream);
    // HTTP/2's server speaks without being asked.
    if stream.fill_buf().await?.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Box::new(stream))
}

/// What a connection is made of.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(server: &str) -> Result<Remote, RemoteError> {
        // A CA of one's own: what this system trusts does not matter here.
        Remote::new(RemoteOptions { server: server.to_owned(), ..Default::default() })
    }

    #[test]
    fn a_url_is_a_scheme_a_host_and_a_port() {
        let check = |server: &str, host: &str, port: u16, origin: &str| {
            let remote = remote(server).unwrap();
            assert_eq!((remote.host.as_str(), remote.port), (host, port), "{server}");
            assert_eq!(remote.origin.to_string(), origin, "{server}");
        };
        check("http://localhost:1", "localhost", 1, "http://localhost:1/");
        check("http://127.0.0.1", "127.0.0.1", 7443, "http://127.0.0.1:7443/");
        check("http://[::1]:80/", "::1", 80, "http://[::1]:80/");
        check("http://[::1]", "::1", 7443, "http://[::1]:7443/");
    }

    #[test]
    fn what_is_no_such_url_is_refused_with_the_reason() {
        let check = |server: &str, problem: &str| {
            let error = remote(server).unwrap_err();
            assert!(error.to_string().contains(problem), "{server}: {error}");
            assert!(!error.hint().is_empty());
        };
        check("", "not a URL");
        check("box.lan:7443", "begin with https://");
        check("ftp://box.lan", "begin with https://");
        check("https://box.lan/path", "more than a host");
        check("https://ann@box.lan", "user name");
        check("http://box.lan:7443", "without TLS");
        check("http://192.0.2.1:7443", "without TLS");
        check("http://localhost:99999", "port");
    }
}
