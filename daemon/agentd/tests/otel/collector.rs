//! A collector in this process: it keeps what it gets, or never answers.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use agentd::config::OtelConfig;
use agentd::{Environment, Traces};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::metadata::MetadataMap;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::trace::Trace;

/// A collector that listens on this machine until it is dropped.
#[derive(Debug)]
pub(crate) struct Collector {
    address: SocketAddr,
    inbox: Arc<Inbox>,
    _server: JoinSet<()>,
}

#[derive(Debug)]
struct Inbox {
    requests: Mutex<Vec<(MetadataMap, ExportTraceServiceRequest)>>,
    /// One for each request that came.
    came: Semaphore,
    does: Does,
}

/// What a collector does with each request.
#[derive(Debug, Clone, Copy)]
enum Does {
    Take,
    Refuse,
    Hang,
}

#[tonic::async_trait]
impl TraceService for Inbox {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let (headers, _extensions, request) = request.into_parts();
        self.requests.lock().unwrap().push((headers, request));
        self.came.add_permits(1);
        match self.does {
            Does::Take => Ok(Response::new(ExportTraceServiceResponse::default())),
            Does::Refuse => Err(Status::resource_exhausted("no room here")),
            Does::Hang => std::future::pending().await,
        }
    }
}

impl Collector {
    /// One that takes everything.
    pub(crate) async fn start() -> Self {
        Self::serve(Server::builder(), Does::Take).await
    }

    /// One that takes requests and never answers.
    pub(crate) async fn that_hangs() -> Self {
        Self::serve(Server::builder(), Does::Hang).await
    }

    /// One that refuses them.
    pub(crate) async fn that_refuses() -> Self {
        Self::serve(Server::builder(), Does::Refuse).await
    }

    /// One behind TLS.
    pub(crate) async fn with_tls(certificate_pem: &str, key_pem: &str) -> Self {
        let tls = ServerTlsConfig::new().identity(Identity::from_pem(certificate_pem, key_pem));
        Self::serve(Server::builder().tls_config(tls).unwrap(), Does::Take).await
    }

    async fn serve(mut server: Server, does: Does) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let inbox = Arc::new(Inbox { requests: Mutex::default(), came: Semaphore::new(0), does });
        let service = TraceServiceServer::from_arc(Arc::clone(&inbox));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let incoming = TcpListenerStream::new(listener);
            server.add_service(service).serve_with_incoming(incoming).await.unwrap();
        });
        Self { address, inbox, _server: tasks }
    }

    /// Its URL without TLS.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its port.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Waits until a request has come.
    pub(crate) async fn wait_for_request(&self) {
        let came = tokio::time::timeout(agentd_testkit::PATIENCE, self.inbox.came.acquire());
        came.await.expect("a request comes in time").unwrap().forget();
    }

    /// What came, with the headers.
    pub(crate) fn requests(&self) -> Vec<(MetadataMap, ExportTraceServiceRequest)> {
        self.inbox.requests.lock().unwrap().clone()
    }

    /// The traces, in the order in which their roots began.
    pub(crate) fn traces(&self) -> Vec<Trace> {
        Trace::all(self.requests().into_iter().map(|(_headers, request)| request))
    }
}

/// Exports what this thread traces, as the configuration says.
pub(crate) fn export(config: &OtelConfig, env: &[(&str, &str)]) -> (Traces, DefaultGuard) {
    let env: Environment =
        env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let traces = Traces::of(config, &env);
    let layer = traces.layer().unwrap_or_else(|| panic!("nothing is exported: {traces:?}"));
    let guard = tracing_subscriber::registry().with(layer).set_default();
    (traces, guard)
}

/// Exports all traces to this URL.
pub(crate) fn export_to(url: &str) -> (Traces, DefaultGuard) {
    export(&OtelConfig { endpoint: url.to_owned(), ..OtelConfig::default() }, &[])
}
