//! The one place that makes an HTTP client.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::{Client, Url, redirect};

use crate::LlmError;

/// How long a request may take at each stage. There is no limit for a whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Name resolution, TCP and TLS.
    pub connect: Duration,
    /// From sending the request to the first byte of the answer's body.
    pub first_byte: Duration,
    /// The longest silence after that.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(60),
        }
    }
}

/// Where a client may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// This machine in plain HTTP: no proxy is asked, and no root certificates are loaded, which
    /// takes longer than anything else in making a client.
    Loopback,
    /// This machine over TLS: no proxy is asked.
    LoopbackTls,
    /// Anywhere, through the proxy of the environment if there is one.
    Anywhere,
}

impl Reach {
    /// What a base URL needs.
    pub fn of(base_url: &Url) -> Self {
        let is_loopback = base_url.host_str().is_some_and(|host| {
            let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
            address.map_or(host == "localhost" || host.ends_with(".localhost"), |address| {
                address.is_loopback()
            })
        });
        match (is_loopback, base_url.scheme()) {
            (true, "http") => Self::Loopback,
            (true, _) => Self::LoopbackTls,
            (false, _) => Self::Anywhere,
        }
    }
}

/// Makes a client with a connection pool.
///
/// It follows no redirects, because a redirect could take the key to another host.
///
/// # Errors
/// [`LlmError::Connect`] when TLS cannot be set up, such as without root certificates.
pub fn http_client(timeouts: &Timeouts, reach: Reach) -> Result<Client, LlmError> {
    // An error only says that a provider is installed already.
    drop(rustls::crypto::ring::default_provider().install_default());
    let builder = Client::builder()
        .user_agent(concat!("agentd/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .connect_timeout(timeouts.connect)
        .referer(false);
    let builder = match reach {
        Reach::Loopback => builder.no_proxy().tls_certs_only([]),
        Reach::LoopbackTls => builder.no_proxy(),
        Reach::Anywhere => builder,
    };
    builder.build().map_err(|error| LlmError::Connect {
        base_url: String::new(),
        detail: format!("the HTTP client cannot be set up: {}", causes(&error)),
    })
}

/// What it comes down to: the innermost cause, which is what the system or the peer said. The layers
/// around it name only themselves.
pub(crate) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}

/// Says where the fault is when a request came to a proxy and not to the endpoint.
pub(crate) fn with_proxy(said: String) -> String {
    if said.starts_with("tunnel error") {
        format!("the proxy that the environment names does not lead there: {said}")
    } else {
        said
    }
}

/// An error with its causes in one line, without the URL, which may hold a key.
pub(crate) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        // Wrappers often repeat their cause.
        if !texts.iter().any(|seen| seen.contains(&text)) {
            texts.push(text);
        }
        next = error.source();
    }
    texts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_proxy_that_does_not_let_through_is_named() {
        let proxy = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", proxy.local_addr().expect("an address"));
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = Client::builder()
            .proxy(reqwest::Proxy::all(url).expect("a URL"))
            .tls_certs_only([])
            .build()
            .expect("a client");
        let refuses = async {
            use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
            let (mut stream, _) = proxy.accept().await.expect("a connection");
            assert!(stream.read(&mut [0; 1024]).await.expect("a request") > 0);
            stream.write_all(b"HTTP/1.1 502 No\r\n\r\n").await.expect("an answer");
        };
        let asks = client.get("https://example.test/").send();
        let (answer, ()) = tokio::join!(asks, refuses);
        let said = with_proxy(innermost(&answer.expect_err("an error")));
        assert!(said.starts_with("the proxy that the environment names"), "{said}");
        assert_eq!(with_proxy("refused".to_owned()), "refused");
    }

    #[test]
    fn loopback_addresses_never_go_through_a_proxy() {
        let check = |url: &str, expect: Reach| {
            assert_eq!(Reach::of(&url.parse().expect("a URL")), expect, "{url}");
        };
        check("http://127.0.0.1:11434/v1", Reach::Loopback);
        check("http://127.9.9.9/v1", Reach::Loopback);
        check("http://localhost:8080/v1", Reach::Loopback);
        check("http://[::1]:8080/v1", Reach::Loopback);
        check("https://localhost/v1", Reach::LoopbackTls);
        check("https://api.openai.com/v1", Reach::Anywhere);
        check("https://localhost.example.com/v1", Reach::Anywhere);
        check("http://192.168.1.2/v1", Reach::Anywhere);
    }
}
