//! The task that reads a session's stream and connects anew.

use agentd_proto::v1;
use agentd_proto::v1::attach_request::Position;
use agentd_proto::v1::attach_response::Payload;
use agentd_proto::v1::event_service_client::EventServiceClient;
use tokio::sync::mpsc::Sender;
use tonic::Streaming;

use super::{AttachEvent, AttachPosition, AttachTarget, Recovery};
use crate::connect::{Endpoint, MAX_MESSAGE_BYTES};
use crate::lasting::{Lasting, OPEN_TIMEOUT};
use crate::status_error::RpcError;

/// The client no longer listens.
struct Closed;

/// Runs until the client no longer listens or the daemon refuses for good.
pub(super) async fn run(
    endpoint: Endpoint,
    target: AttachTarget,
    recovery: Recovery,
    tx: Sender<AttachEvent>,
) {
    let resume = Resume { position: target.position, seen: 0 };
    let connection = Lasting::new(endpoint, recovery);
    let mut reader = Reader { connection, target, tx, resume };
    while let Ok(()) = Box::pin(reader.attempt()).await {}
}

struct Reader {
    connection: Lasting,
    target: AttachTarget,
    tx: Sender<AttachEvent>,
    resume: Resume,
}

impl Reader {
    /// Attaches once and reads to the end, then pauses.
    async fn attempt(&mut self) -> Result<(), Closed> {
        let ended = match self.attach().await {
            Ok(stream) => self.read(stream).await?,
            Err(error) => error,
        };
        if ended.ends_attachment() {
            self.send(AttachEvent::Failed(ended)).await?;
            return Err(Closed);
        }
        let loss = self.connection.lost(&ended);
        if loss.is_news {
            self.send(AttachEvent::Lost { error: ended }).await?;
        }
        tokio::select! {
            () = self.tx.closed() => Err(Closed),
            () = tokio::time::sleep(loss.pause) => Ok(()),
        }
    }

    async fn attach(&mut self) -> Result<Streaming<v1::AttachResponse>, RpcError> {
        let channel = self.connection.channel().await?;
        let mut service = EventServiceClient::new(channel)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let request = v1::AttachRequest {
            session_id: self.target.session_id.clone(),
            author: Some(self.target.identity.author()),
            position: self.resume.position(),
        };
        // A deadline of the call would also end the stream.
        match tokio::time::timeout(OPEN_TIMEOUT, service.attach(request)).await {
            Ok(opened) => Ok(opened?.into_inner()),
            Err(_) => Err(RpcError::no_answer()),
        }
    }

    /// Reads until the stream ends, and returns why it did.
    async fn read(
        &mut self,
        mut stream: Streaming<v1::AttachResponse>,
    ) -> Result<RpcError, Closed> {
        let mut first = true;
        loop {
            let message = if first {
                match tokio::time::timeout(OPEN_TIMEOUT, stream.message()).await {
                    Ok(message) => message,
                    Err(_) => return Ok(RpcError::no_answer()),
                }
            } else {
                stream.message().await
            };
            first = false;
            match message {
                Ok(Some(response)) => self.deliver(response).await?,
                Ok(None) => return Ok(RpcError::stream_ended()),
                Err(status) => return Ok(status.into()),
            }
        }
    }

    async fn deliver(&mut self, response: v1::AttachResponse) -> Result<(), Closed> {
        // A kind that this client does not know is skipped.
        let Some(payload) = response.payload else { return Ok(()) };
        match payload {
            Payload::Attached(attached) => {
                self.resume.attached(&attached);
                if self.connection.has_begun() {
                    self.send(AttachEvent::Restored).await?;
                }
                self.send(AttachEvent::Attached(attached)).await
            }
            Payload::Events(batch) => {
                for event in batch.events {
                    let seq = event.seq;
                    self.send(AttachEvent::Event(Box::new(event))).await?;
                    self.resume.saw(seq);
                }
                Ok(())
            }
            Payload::CaughtUp(caught_up) => {
                self.send(AttachEvent::CaughtUp { seq: caught_up.seq }).await
            }
            Payload::Lagged(lagged) => {
                self.send(AttachEvent::Lagged { resume_seq: lagged.resume_seq }).await
            }
        }
    }

    async fn send(&self, event: AttachEvent) -> Result<(), Closed> {
        self.tx.send(event).await.map_err(|_closed| Closed)
    }
}

/// Where the next stream has to start.
#[derive(Debug)]
struct Resume {
    position: AttachPosition,
    /// Newest durable event that was handed on; 0 when there is none.
    seen: u64,
}

impl Resume {
    fn position(&self) -> Option<Position> {
        match self.position {
            _ if self.seen > 0 => Some(Position::FromSeq(self.seen.saturating_add(1))),
            AttachPosition::ReadCursor => None,
            AttachPosition::FromSeq(seq) => Some(Position::FromSeq(seq)),
            AttachPosition::LastTurns(turns) => Some(Position::LastTurns(turns)),
            AttachPosition::OnlyNew => Some(Position::OnlyNew(true)),
        }
    }

    /// Holds on to the start that the daemon chose: asked again, it might choose a later one.
    fn attached(&mut self, attached: &v1::Attached) {
        if self.seen == 0 {
            self.position = AttachPosition::FromSeq(attached.from_seq);
        }
    }

    fn saw(&mut self, seq: u64) {
        self.seen = self.seen.max(seq);
    }
}
