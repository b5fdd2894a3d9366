//! A daemon that serves remote clients on loopback, and what they need to come in.

use std::net::SocketAddr;
use std::sync::Arc;

use agentd::remote::{TlsFiles, make_tls_files};
use agentd_engine::SystemClock;
use agentd_proto::v1;
use agentd_shared::{
    AttachPosition, Client, ConnectError, Endpoint, Remote, RemoteOptions, RpcError, Token,
};
use agentd_testkit::{Daemon, DaemonBuilder, Driver, Home};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub(crate) struct World {
    pub(crate) daemon: Daemon,
    pub(crate) files: TlsFiles,
    pub(crate) address: SocketAddr,
}

/// Certificates in a home, for `localhost`, loopback addresses and a client called `ann`.
pub(crate) fn tls_files(home: &Home) -> TlsFiles {
    let paths = home.paths();
    agentd_shared::ensure_private_dir(&paths.config_dir).unwrap();
    make_tls_files(&paths.tls_dir(), &[], &["ann".to_owned()], &SystemClock).unwrap()
}

pub(crate) fn with_tls(home: &mut Home, files: &TlsFiles) {
    home.set("remote.listen", vec!["127.0.0.1:0"]);
    home.set("remote.tls_cert", files.cert.to_str().unwrap());
    home.set("remote.tls_key", files.key.to_str().unwrap());
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::start_with(|builder, _| builder).await
    }

    pub(crate) async fn start_with(
        configure: impl FnOnce(DaemonBuilder, &TlsFiles) -> DaemonBuilder,
    ) -> Self {
        let mut home = Home::new();
        let files = tls_files(&home);
        with_tls(&mut home, &files);
        let builder = configure(Daemon::builder().home(&home), &files);
        let daemon = builder.start().await;
        let address = address_of(&daemon).await;
        Self { daemon, files, address }
    }

    pub(crate) async fn token(&self, name: &str, scope: v1::TokenScope) -> (String, String) {
        make_token(&self.daemon, name, scope, 0).await
    }

    pub(crate) fn options(&self, token: &str) -> RemoteOptions {
        RemoteOptions {
            server: format!("https://{}", self.address),
            token: Some(Token::new(token).unwrap()),
            ca: Some(self.files.ca.clone()),
            ..Default::default()
        }
    }

    pub(crate) fn endpoint(&self, token: &str) -> Endpoint {
        Endpoint::remote(Remote::new(self.options(token)).unwrap())
    }

    pub(crate) async fn client(&self, token: &str) -> Client {
        Client::connect(&self.endpoint(token)).await.unwrap()
    }

    /// A client with a new token that may talk.
    pub(crate) async fn chat_client(&self, name: &str) -> Client {
        let (_, secret) = self.token(name, v1::TokenScope::Chat).await;
        self.client(&secret).await
    }

    pub(crate) async fn attach(&self, token: &str, name: &str, session_id: &str) -> Driver {
        Driver::attach(&self.endpoint(token), name, session_id, AttachPosition::FromSeq(1)).await
    }

    /// A connection of TLS and nothing else.
    pub(crate) async fn raw_tls(&self, alpn: &[&[u8]]) -> std::io::Result<TlsStream<TcpStream>> {
        raw_tls(&self.files, self.address, alpn).await
    }
}

pub(crate) async fn raw_tls(
    files: &TlsFiles,
    address: SocketAddr,
    alpn: &[&[u8]],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(&files.ca).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    let tcp = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, tcp).await
}

pub(crate) async fn address_of(daemon: &Daemon) -> SocketAddr {
    let client = daemon.client().await;
    let status = client.admin().get_status(v1::GetStatusRequest {}).await.unwrap().into_inner();
    status.listen_addresses[0].parse().unwrap()
}

/// The id and the text of a new token.
pub(crate) async fn make_token(
    daemon: &Daemon,
    name: &str,
    scope: v1::TokenScope,
    ttl_ms: u64,
) -> (String, String) {
    let request = v1::CreateTokenRequest { name: name.to_owned(), scope: scope.into(), ttl_ms };
    let client = daemon.client().await;
    let made = client.access().create_token(request).await.unwrap().into_inner();
    (made.token.unwrap().token_id, made.secret)
}

pub(crate) async fn revoke(daemon: &Daemon, token_id: &str) {
    let request = v1::RevokeTokenRequest { token_id: token_id.to_owned() };
    daemon.client().await.access().revoke_token(request).await.unwrap();
}

/// The simplest call that needs no more than a good token.
pub(crate) async fn list(client: &Client) -> Result<v1::ListSessionsResponse, tonic::Status> {
    let request = v1::ListSessionsRequest::default();
    client.session().list_sessions(request).await.map(tonic::Response::into_inner)
}

pub(crate) async fn refused(endpoint: &Endpoint) -> (ConnectError, RpcError) {
    let error = Client::connect(endpoint).await.unwrap_err();
    let rpc = RpcError::from(&error);
    (error, rpc)
}
