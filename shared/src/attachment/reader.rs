//! The task that reads a session's stream and connects anew.

use std::time::Duration;

use agentd_proto::v1;
use agentd_proto::v1::attach_request::Position;
use agentd_proto::v1::attach_response::Payload;
use agentd_proto::v1::event_service_client::EventServiceClient;
use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use tokio::sync::mpsc::Sender;
use tonic::Streaming;

use super::{AttachEvent, AttachPosition, AttachTarget, Recovery};
use crate::connect::{ConnectError, Endpoint, MAX_MESSAGE_BYTES, connect};
use crate::start::ensure_running;
use crate::status_error::RpcError;

/// Longest wait for the daemon to open a stream and say that it is attached.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause after the first failure; it doubles, with jitter.
const MIN_PAUSE: Duration = Duration::from_millis(100);
/// Longest pause: people wait for it.
const MAX_PAUSE: Duration = Duration::from_secs(2);
/// Longest pause that the daemon may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

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
    let mut reader =
        Reader { endpoint, target, recovery, tx, resume, outage: None, told: None, stopped: false };
    while let Ok(()) = Box::pin(reader.attempt()).await {}
}

struct Reader {
    endpoint: Endpoint,
    target: AttachTarget,
    recovery: Recovery,
    tx: Sender<AttachEvent>,
    resume: Resume,
    /// Pauses between attempts while the connection is lost.
    outage: Option<ExponentialBackoff>,
    /// Why the connection is lost, as the client was told.
    told: Option<RpcError>,
    /// Somebody has stopped the daemon. Whoever did that does not want us to start it again.
    stopped: bool,
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
        self.stopped |= ended.is_stopping();
        let asked = ended.retry_after.unwrap_or_default().min(MAX_RETRY_AFTER);
        self.outage.get_or_insert_with(|| pauses().build());
        // Once for each loss, and again when there is a reason that waiting may not cure.
        let is_news = match &self.told {
            None => true,
            Some(told) => !ended.is_outage() && told.message != ended.message,
        };
        if is_news {
            self.told = Some(ended.clone());
            self.send(AttachEvent::Lost { error: ended }).await?;
        }
        let pause = self.outage.as_mut().and_then(Iterator::next).unwrap_or(MAX_PAUSE);
        tokio::select! {
            () = self.tx.closed() => Err(Closed),
            () = tokio::time::sleep(pause.max(asked)) => Ok(()),
        }
    }

    async fn attach(&mut self) -> Result<Streaming<v1::AttachResponse>, RpcError> {
        let channel = match (connect(&self.endpoint).await, &self.recovery) {
            (Err(ConnectError::NotRunning { .. }), Recovery::Restart { paths, options })
                if !self.stopped =>
            {
                self.endpoint =
                    ensure_running(paths, options).await.map_err(|error| RpcError::from(&error))?;
                connect(&self.endpoint).await?
            }
            (connected, _) => connected?,
        };
        let mut service = EventServiceClient::new(channel)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let request = v1::AttachRequest {
            session_id: self.target.session_id.clone(),
            author: Some(self.target.identity.author()),
            position: self.resume.position(),
        };
        // A deadline of the call would also end the stream.
        match tokio::time::timeout(ATTACH_TIMEOUT, service.attach(request)).await {
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
                match tokio::time::timeout(ATTACH_TIMEOUT, stream.message()).await {
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
                self.told = None;
                self.stopped = false;
                if self.outage.take().is_some() {
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

fn pauses() -> ExponentialBuilder {
    ExponentialBuilder::new()
        .with_min_delay(MIN_PAUSE)
        .with_max_delay(MAX_PAUSE)
        .without_max_times()
        .with_jitter()
}
