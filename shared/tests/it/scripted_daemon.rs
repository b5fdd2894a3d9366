//! A daemon whose `Attach` plays one script after the other and records what was asked.

use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use agentd_proto::v1::attach_response::Payload;
use agentd_proto::v1::event_service_server::{EventService, EventServiceServer};
use agentd_proto::v1::{self, AttachRequest, AttachResponse};
use tokio::net::UnixListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_stream::wrappers::{ReceiverStream, UnixListenerStream};
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Response, Status};

/// What one call of `Attach` does.
#[derive(Debug, Clone)]
pub(crate) enum Script {
    /// Refuses.
    Refuse(Status),
    /// Sends, then breaks the stream off.
    Break(Vec<Payload>),
    /// Sends, then ends the stream with this status.
    End(Vec<Payload>, Status),
    /// Sends, then leaves the stream open.
    Stay(Vec<Payload>),
}

/// Keeps a stream open.
type Open = mpsc::Sender<Result<AttachResponse, Status>>;

#[derive(Debug, Clone, Default)]
pub(crate) struct ScriptedDaemon {
    scripts: Arc<Mutex<Vec<Script>>>,
    requests: Arc<Mutex<Vec<AttachRequest>>>,
    deadlines: Arc<Mutex<Vec<Option<String>>>>,
    open: Arc<Mutex<Vec<Open>>>,
}

impl ScriptedDaemon {
    pub(crate) fn new(scripts: Vec<Script>) -> Self {
        let daemon = Self::default();
        *daemon.scripts.lock().unwrap() = scripts;
        daemon
    }

    /// Listens until the returned set is dropped.
    pub(crate) fn listen(&self, socket: &Path) -> JoinSet<()> {
        let incoming = UnixListenerStream::new(UnixListener::bind(socket).unwrap());
        let service = EventServiceServer::new(self.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let server = tonic::transport::Server::builder().add_service(service);
            server.serve_with_incoming(incoming).await.unwrap();
        });
        tasks
    }

    pub(crate) fn requests(&self) -> Vec<AttachRequest> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn deadlines(&self) -> Vec<Option<String>> {
        self.deadlines.lock().unwrap().clone()
    }
}

#[tonic::async_trait]
impl EventService for ScriptedDaemon {
    type AttachStream = Pin<Box<dyn Stream<Item = Result<AttachResponse, Status>> + Send>>;

    async fn attach(
        &self,
        request: Request<AttachRequest>,
    ) -> Result<Response<Self::AttachStream>, Status> {
        self.requests.lock().unwrap().push(request.into_inner());
        let script = {
            let mut scripts = self.scripts.lock().unwrap();
            if scripts.is_empty() { Script::Stay(Vec::new()) } else { scripts.remove(0) }
        };
        let send = |payloads: Vec<Payload>| {
            tokio_stream::iter(payloads)
                .map(|payload| Ok(AttachResponse { payload: Some(payload) }))
        };
        match script {
            Script::Refuse(status) => Err(status),
            Script::Break(payloads) => {
                let end = tokio_stream::iter([Err(Status::unavailable("shutting down"))]);
                Ok(Response::new(Box::pin(send(payloads).chain(end))))
            }
            Script::End(payloads, status) => {
                let end = tokio_stream::iter([Err(status)]);
                Ok(Response::new(Box::pin(send(payloads).chain(end))))
            }
            Script::Stay(payloads) => {
                let (tx, open) = mpsc::channel(1);
                self.open.lock().unwrap().push(tx);
                let stream = send(payloads).chain(ReceiverStream::new(open));
                Ok(Response::new(Box::pin(stream)))
            }
        }
    }

    async fn list_events(
        &self,
        request: Request<v1::ListEventsRequest>,
    ) -> Result<Response<v1::ListEventsResponse>, Status> {
        let deadline = request.metadata().get("grpc-timeout");
        let deadline = deadline.map(|value| value.to_str().unwrap().to_owned());
        self.deadlines.lock().unwrap().push(deadline);
        Ok(Response::new(v1::ListEventsResponse::default()))
    }

    async fn set_read_cursor(
        &self,
        _request: Request<v1::SetReadCursorRequest>,
    ) -> Result<Response<v1::SetReadCursorResponse>, Status> {
        Err(Status::unimplemented("not scripted"))
    }
}
