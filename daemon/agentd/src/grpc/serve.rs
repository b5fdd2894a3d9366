//! The services on their two ways in: the socket, where the peer's user id decides, and TCP, where a
//! token does.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use agentd_proto::v1;
use futures_util::stream;
use tokio_util::sync::CancellationToken;
use tonic::service::{InterceptorLayer, Routes};
use tonic::transport::Server;

use super::gate::GateLayer;
use super::{Context, Peers, Service};
use crate::listener::Door;
use crate::remote::{Incoming, Listeners};

/// Bytes of one stream that may be on their way: a burst of a fast model.
const STREAM_WINDOW: u32 = 1024 * 1024;
/// Bytes of one connection that may be on their way to the daemon.
const CONNECTION_WINDOW: u32 = 16 * 1024 * 1024;
/// The same for a connection from elsewhere, of which there may be many.
const REMOTE_CONNECTION_WINDOW: u32 = 4 * 1024 * 1024;
/// Requests of one connection that are worked on at once.
const REQUESTS_PER_CONNECTION: usize = 256;
/// Streams of one connection from elsewhere that are open at once.
const REMOTE_STREAMS_PER_CONNECTION: u32 = 64;
/// Largest message in either direction, in bytes.
const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;
/// Most bytes of a request's headers.
const MAX_HEADER_BYTES: u32 = 16 * 1024;

/// All services.
#[derive(Debug, Clone)]
pub(crate) struct Services {
    ctx: Arc<Context>,
    routes: Routes,
}

/// Bounds the messages of a service.
macro_rules! bounded {
    ($server:expr) => {
        $server
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    };
}

impl Services {
    /// Puts the services together.
    pub(crate) async fn new(ctx: Arc<Context>) -> Self {
        use v1::access_service_server::AccessServiceServer;
        use v1::admin_service_server::AdminServiceServer;
        use v1::approval_service_server::ApprovalServiceServer;
        use v1::context_service_server::ContextServiceServer;
        use v1::diagnostics_service_server::DiagnosticsServiceServer;
        use v1::event_service_server::EventServiceServer;
        use v1::goal_service_server::GoalServiceServer;
        use v1::memory_service_server::MemoryServiceServer;
        use v1::model_service_server::ModelServiceServer;
        use v1::permission_service_server::PermissionServiceServer;
        use v1::sandbox_service_server::SandboxServiceServer;
        use v1::search_service_server::SearchServiceServer;
        use v1::session_service_server::SessionServiceServer;
        use v1::tool_service_server::ToolServiceServer;
        use v1::turn_service_server::TurnServiceServer;
        use v1::usage_service_server::UsageServiceServer;

        let service = Service::new(Arc::clone(&ctx));
        let (health, health_service) = tonic_health::server::health_reporter();
        health.set_serving::<SessionServiceServer<Service>>().await;
        let mut routes = Routes::default()
            .add_service(bounded!(SessionServiceServer::new(service.clone())))
            .add_service(bounded!(TurnServiceServer::new(service.clone())))
            .add_service(bounded!(ApprovalServiceServer::new(service.clone())))
            .add_service(bounded!(PermissionServiceServer::new(service.clone())))
            .add_service(bounded!(ContextServiceServer::new(service.clone())))
            .add_service(bounded!(GoalServiceServer::new(service.clone())))
            .add_service(bounded!(ToolServiceServer::new(service.clone())))
            .add_service(bounded!(EventServiceServer::new(service.clone())))
            .add_service(bounded!(DiagnosticsServiceServer::new(service.clone())))
            .add_service(bounded!(MemoryServiceServer::new(service.clone())))
            .add_service(bounded!(ModelServiceServer::new(service.clone())))
            .add_service(bounded!(AccessServiceServer::new(service.clone())))
            .add_service(bounded!(SandboxServiceServer::new(service.clone())))
            .add_service(bounded!(SearchServiceServer::new(service.clone())))
            .add_service(bounded!(UsageServiceServer::new(service.clone())))
            .add_service(bounded!(AdminServiceServer::new(service)))
            .add_service(health_service);
        let reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(agentd_proto::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .build_v1();
        match reflection {
            Ok(reflection) => routes = routes.add_service(reflection),
            Err(error) => tracing::error!(%error, "no reflection service"),
        }
        Self { ctx, routes: routes.prepare() }
    }
}

/// Serves the socket until `accepting` is cancelled and all connections have ended.
pub(crate) async fn serve_local(
    services: Services,
    door: Door,
    peers: Peers,
    keepalive: Duration,
    accepting: CancellationToken,
) {
    let connections = services.ctx.local_connections.clone();
    let incoming = stream::unfold(door, move |mut door| {
        let connections = connections.clone();
        async move { Some((door.accept().await.map(|io| connections.count(io)), door)) }
    });
    let served = Server::builder()
        .http2_keepalive_interval(Some(keepalive))
        .http2_keepalive_timeout(Some(keepalive))
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .concurrency_limit_per_connection(REQUESTS_PER_CONNECTION)
        .layer(InterceptorLayer::new(move |request| peers.check(request)))
        .add_routes(services.routes)
        .serve_with_incoming_shutdown(incoming, accepting.cancelled_owned())
        .await;
    if let Err(error) = served {
        tracing::error!(%error, "the server broke off");
    }
}

/// Serves clients on other machines until `accepting` is cancelled and all connections have ended.
pub(crate) async fn serve_remote(
    services: Services,
    listeners: Listeners,
    keepalive: Duration,
    accepting: CancellationToken,
) {
    let remote = Arc::clone(&services.ctx.remote);
    let control = services.ctx.control.clone();
    let incoming = Incoming::new(Arc::clone(&remote), listeners, control);
    let incoming = stream::unfold(incoming, |mut incoming| async move {
        let stream = incoming.next().await;
        Some((Ok::<_, Infallible>(stream), incoming))
    });
    // HTTP/1.1 is not spoken: a request in it is an invalid preface, and the connection ends.
    let served = Server::builder()
        .http2_keepalive_interval(Some(keepalive))
        .http2_keepalive_timeout(Some(keepalive))
        .http2_max_header_list_size(MAX_HEADER_BYTES)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(REMOTE_CONNECTION_WINDOW)
        .max_concurrent_streams(REMOTE_STREAMS_PER_CONNECTION)
        .concurrency_limit_per_connection(REQUESTS_PER_CONNECTION)
        .layer(GateLayer::new(remote))
        .add_routes(services.routes)
        .serve_with_incoming_shutdown(incoming, accepting.cancelled_owned())
        .await;
    if let Err(error) = served {
        tracing::error!(%error, "the server for remote clients broke off");
    }
}
