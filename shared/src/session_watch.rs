//! All sessions as they change: the stream of `WatchSessions`, through restarts of the daemon.
//!
//! A task of its own reads the stream and connects anew with growing pauses when it breaks. Each new
//! connection begins with a snapshot, so that nothing has to be remembered: a
//! [`SessionBoard`](crate::SessionBoard) that applies what comes shows what there is.

use agentd_proto::v1;
use agentd_proto::v1::session_service_client::SessionServiceClient;
use agentd_proto::v1::watch_sessions_response::Payload;
use tokio::sync::mpsc::{self, Sender};
use tokio::task::JoinSet;
use tonic::Streaming;

use crate::attachment::Recovery;
use crate::connect::{Endpoint, MAX_MESSAGE_BYTES};
use crate::lasting::{Lasting, OPEN_TIMEOUT};
use crate::status_error::RpcError;

/// Changes that wait for the client. When it is full the daemon's stream stands still, and the daemon
/// merges what comes.
const CAPACITY: usize = 64;

/// What a client that watches all sessions gets to know.
#[derive(Debug, Clone, PartialEq)]
pub enum WatchEvent {
    /// The sessions used most recently. It replaces all that came before, and comes first on each
    /// connection.
    Snapshot(v1::SessionSnapshot),
    /// A session as it is now.
    Changed(Box<v1::SessionSummary>),
    /// A session that is gone.
    Deleted {
        /// ULID of the session.
        session_id: String,
    },
    /// The connection is gone and is being made anew. Comes once for each loss, and again when an
    /// attempt fails for a reason of its own.
    Lost {
        /// Why.
        error: RpcError,
    },
    /// The connection is back; a snapshot follows.
    Restored,
    /// The daemon refuses, and would again. Nothing follows.
    Failed(RpcError),
}

/// Opens streams of all sessions.
#[derive(Debug)]
pub struct SessionWatch;

impl SessionWatch {
    /// Watches all sessions; a snapshot has at most `limit` of them, where 0 leaves the number to the
    /// daemon. Call it inside a tokio runtime.
    pub fn open(endpoint: Endpoint, limit: u32, recovery: Recovery) -> SessionWatchStream {
        let (tx, events) = mpsc::channel(CAPACITY);
        let mut tasks = JoinSet::new();
        let connection = Lasting::new(endpoint, recovery);
        let mut reader = Reader { connection, limit, tx };
        tasks.spawn(async move { while let Ok(()) = Box::pin(reader.attempt()).await {} });
        SessionWatchStream { events, _reader: tasks }
    }
}

/// The changes of all sessions. Dropping it ends the watching.
#[derive(Debug)]
pub struct SessionWatchStream {
    events: mpsc::Receiver<WatchEvent>,
    /// Aborts the task when it is dropped.
    _reader: JoinSet<()>,
}

impl SessionWatchStream {
    /// Returns the next event, or `None` after [`WatchEvent::Failed`].
    ///
    /// # Cancel safety
    /// Safe: an event that was not returned stays.
    pub async fn next(&mut self) -> Option<WatchEvent> {
        self.events.recv().await
    }

    /// Returns an event that is there already, for drawing many at once.
    pub fn try_next(&mut self) -> Option<WatchEvent> {
        self.events.try_recv().ok()
    }
}

/// The client no longer listens.
struct Closed;

struct Reader {
    connection: Lasting,
    limit: u32,
    tx: Sender<WatchEvent>,
}

impl Reader {
    /// Watches once to the end of the stream, then pauses.
    async fn attempt(&mut self) -> Result<(), Closed> {
        let ended = match self.watch().await {
            Ok(stream) => self.read(stream).await?,
            Err(error) => error,
        };
        if ended.ends_attachment() {
            self.send(WatchEvent::Failed(ended)).await?;
            return Err(Closed);
        }
        let loss = self.connection.lost(&ended);
        if loss.is_news {
            self.send(WatchEvent::Lost { error: ended }).await?;
        }
        tokio::select! {
            () = self.tx.closed() => Err(Closed),
            () = tokio::time::sleep(loss.pause) => Ok(()),
        }
    }

    async fn watch(&mut self) -> Result<Streaming<v1::WatchSessionsResponse>, RpcError> {
        let channel = self.connection.channel().await?;
        let mut service =
            SessionServiceClient::new(channel).max_decoding_message_size(MAX_MESSAGE_BYTES);
        let request = v1::WatchSessionsRequest { limit: self.limit };
        // A deadline of the call would also end the stream.
        match tokio::time::timeout(OPEN_TIMEOUT, service.watch_sessions(request)).await {
            Ok(opened) => Ok(opened?.into_inner()),
            Err(_) => Err(RpcError::no_answer()),
        }
    }

    /// Reads until the stream ends, and returns why it did.
    async fn read(
        &mut self,
        mut stream: Streaming<v1::WatchSessionsResponse>,
    ) -> Result<RpcError, Closed> {
        let mut next = tokio::time::timeout(OPEN_TIMEOUT, stream.message()).await;
        loop {
            let Ok(message) = next else { return Ok(RpcError::no_answer()) };
            match message {
                Ok(Some(response)) => self.deliver(response).await?,
                Ok(None) => return Ok(RpcError::stream_ended()),
                Err(status) => return Ok(status.into()),
            }
            next = Ok(stream.message().await);
        }
    }

    async fn deliver(&mut self, response: v1::WatchSessionsResponse) -> Result<(), Closed> {
        // A kind that this client does not know is skipped.
        let Some(payload) = response.payload else { return Ok(()) };
        match payload {
            Payload::Snapshot(snapshot) => {
                if self.connection.has_begun() {
                    self.send(WatchEvent::Restored).await?;
                }
                self.send(WatchEvent::Snapshot(snapshot)).await
            }
            Payload::Changed(summary) => self.send(WatchEvent::Changed(Box::new(summary))).await,
            Payload::DeletedSessionId(session_id) => {
                self.send(WatchEvent::Deleted { session_id }).await
            }
        }
    }

    async fn send(&self, event: WatchEvent) -> Result<(), Closed> {
        self.tx.send(event).await.map_err(|_closed| Closed)
    }
}
