//! The services of the daemon on one connection for commands.

use std::time::Duration;

use agentd_proto::v1::access_service_client::AccessServiceClient;
use agentd_proto::v1::admin_service_client::AdminServiceClient;
use agentd_proto::v1::approval_service_client::ApprovalServiceClient;
use agentd_proto::v1::context_service_client::ContextServiceClient;
use agentd_proto::v1::diagnostics_service_client::DiagnosticsServiceClient;
use agentd_proto::v1::event_service_client::EventServiceClient;
use agentd_proto::v1::goal_service_client::GoalServiceClient;
use agentd_proto::v1::memory_service_client::MemoryServiceClient;
use agentd_proto::v1::model_service_client::ModelServiceClient;
use agentd_proto::v1::permission_service_client::PermissionServiceClient;
use agentd_proto::v1::sandbox_service_client::SandboxServiceClient;
use agentd_proto::v1::search_service_client::SearchServiceClient;
use agentd_proto::v1::session_service_client::SessionServiceClient;
use agentd_proto::v1::tool_service_client::ToolServiceClient;
use agentd_proto::v1::turn_service_client::TurnServiceClient;
use agentd_proto::v1::usage_service_client::UsageServiceClient;
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::connect::{ConnectError, DaemonChannel, Endpoint, MAX_MESSAGE_BYTES, connect};
use crate::status_error::RpcError;

/// Longest time that a command may take unless [`with_deadline`] says otherwise.
pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(30);

/// A channel whose calls have a deadline.
pub type CommandChannel = InterceptedService<DaemonChannel, Deadline>;

/// The services of a daemon. Clones share one connection, which is made anew when it breaks.
///
/// Streams do not belong here: an unread stream uses up its connection's flow-control window and
/// then holds up every command. [`Client::open_stream_channel`] makes a connection for one.
#[derive(Debug, Clone)]
pub struct Client {
    endpoint: Endpoint,
    commands: CommandChannel,
}

impl Client {
    /// Connects to the daemon.
    ///
    /// # Errors
    /// [`ConnectError`] as [`connect`] says.
    pub async fn connect(endpoint: &Endpoint) -> Result<Self, ConnectError> {
        let channel = connect(endpoint).await?;
        let commands = InterceptedService::new(channel, Deadline);
        Ok(Self { endpoint: endpoint.clone(), commands })
    }

    /// Waits until the daemon answers, at most `patience`. A connection alone proves nothing: the
    /// system takes it for a daemon that starts, that ends, or that has been stopped.
    ///
    /// # Errors
    /// [`ConnectError::Stopping`] when the daemon closes the connection or says that it does not
    /// serve, [`ConnectError::Timeout`] when it is silent.
    pub async fn check_serving(&self, patience: Duration) -> Result<(), ConnectError> {
        let socket = || self.endpoint.socket().to_path_buf();
        let request = with_deadline(HealthCheckRequest::default(), patience);
        let mut health = HealthClient::new(self.commands.clone());
        let answer = match tokio::time::timeout(patience, health.check(request)).await {
            Ok(answer) => answer.map(tonic::Response::into_inner).map_err(RpcError::from),
            Err(_) => return Err(ConnectError::Timeout { socket: socket() }),
        };
        match answer {
            Ok(answer) if answer.status() == ServingStatus::NotServing => {
                Err(ConnectError::Stopping { socket: socket() })
            }
            Err(error) if error.code == Code::Unavailable => {
                Err(ConnectError::Stopping { socket: socket() })
            }
            Err(error) if error.code == Code::DeadlineExceeded => {
                Err(ConnectError::Timeout { socket: socket() })
            }
            // Whoever refuses is there; the next call tells why it does.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Where the daemon listens.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sessions.
    pub fn session(&self) -> SessionServiceClient<CommandChannel> {
        SessionServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// Calls that wait until somebody says whether they may run.
    pub fn approval(&self) -> ApprovalServiceClient<CommandChannel> {
        ApprovalServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// Rules about what agents may do by themselves.
    pub fn permission(&self) -> PermissionServiceClient<CommandChannel> {
        PermissionServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// What was said in all sessions.
    pub fn search(&self) -> SearchServiceClient<CommandChannel> {
        SearchServiceClient::new(self.commands.clone())
    }

    /// Goals beyond one session.
    pub fn goal(&self) -> GoalServiceClient<CommandChannel> {
        GoalServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// What a session's requests are made of.
    pub fn context(&self) -> ContextServiceClient<CommandChannel> {
        ContextServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// Tools, calls by hand and changes of files.
    pub fn tool(&self) -> ToolServiceClient<CommandChannel> {
        ToolServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// Turns.
    pub fn turn(&self) -> TurnServiceClient<CommandChannel> {
        TurnServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// Pages of logs and read cursors. `Attach` goes through [`crate::Attachment`].
    pub fn event(&self) -> EventServiceClient<CommandChannel> {
        EventServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// What is remembered.
    pub fn memory(&self) -> MemoryServiceClient<CommandChannel> {
        MemoryServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// Models.
    pub fn model(&self) -> ModelServiceClient<CommandChannel> {
        ModelServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// The daemon itself.
    pub fn admin(&self) -> AdminServiceClient<CommandChannel> {
        AdminServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// Seeing inside. `TailLogs` needs a connection of its own.
    pub fn diagnostics(&self) -> DiagnosticsServiceClient<CommandChannel> {
        DiagnosticsServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// What shuts in programs. `TestSandbox` needs a connection of its own.
    pub fn sandbox(&self) -> SandboxServiceClient<CommandChannel> {
        SandboxServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// Tokens of remote clients.
    pub fn access(&self) -> AccessServiceClient<CommandChannel> {
        AccessServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// What requests used and cost.
    pub fn usage(&self) -> UsageServiceClient<CommandChannel> {
        UsageServiceClient::new(self.commands.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }

    /// Opens a connection of its own for one stream.
    ///
    /// # Errors
    /// [`ConnectError`] as [`connect`] says.
    pub async fn open_stream_channel(&self) -> Result<DaemonChannel, ConnectError> {
        connect(&self.endpoint).await
    }
}

/// Gives a command a deadline other than [`DEFAULT_DEADLINE`].
pub fn with_deadline<T>(message: T, deadline: Duration) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(deadline);
    request
}

/// Adds [`DEFAULT_DEADLINE`] to calls that have none.
#[derive(Debug, Clone, Copy)]
pub struct Deadline;

impl Interceptor for Deadline {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if !request.metadata().contains_key("grpc-timeout") {
            request.set_timeout(DEFAULT_DEADLINE);
        }
        Ok(request)
    }
}
