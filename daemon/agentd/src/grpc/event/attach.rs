//! Replays a log from a position, then follows the session live.

use std::pin::Pin;
use std::sync::Arc;

use agentd_domain::{Clock, ErrorKind, Seq};
use agentd_engine::{AttachPosition, Attachment, AttachmentItem, StreamEnd};
use agentd_proto::v1;
use futures_util::{Stream, stream};
use tonic::Status;
use v1::attach_request::Position;
use v1::attach_response::Payload;

use crate::grpc::{Context, from_proto, status, to_proto};

type AttachStream = Pin<Box<dyn Stream<Item = Result<v1::AttachResponse, Status>> + Send>>;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::AttachRequest,
) -> Result<AttachStream, Status> {
    let v1::AttachRequest { session_id, author, position } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let author = from_proto::author("author", author.as_ref())?;
    let position = match position {
        Some(Position::FromSeq(seq)) => AttachPosition::From(Seq(seq)),
        Some(Position::LastTurns(turns)) => AttachPosition::LastTurns(turns),
        Some(Position::OnlyNew(true)) => AttachPosition::OnlyNew,
        None | Some(Position::OnlyNew(false)) => AttachPosition::Cursor,
    };
    let attachment = ctx
        .engine
        .attach(id, author, position)
        .await
        .map_err(|error| status::from_command(&error))?;
    let attached = v1::Attached {
        from_seq: attachment.from.0,
        head_seq: attachment.head.0,
        cursor_seq: attachment.cursor.0,
        digest: attachment.digest.clone(),
        participants: attachment.participants.iter().map(to_proto::participant).collect(),
    };
    let state = StreamState {
        attachment,
        clock: Arc::clone(&ctx.clock),
        attached: Some(attached),
        held: None,
        over: false,
    };
    Ok(Box::pin(stream::unfold(state, |mut state| async move {
        let message = state.next().await?;
        Some((message, state))
    })))
}

struct StreamState {
    attachment: Attachment,
    clock: Arc<dyn Clock>,
    attached: Option<v1::Attached>,
    /// An item that did not fit the message before.
    held: Option<AttachmentItem>,
    over: bool,
}

impl StreamState {
    /// The next message; none after the last.
    async fn next(&mut self) -> Option<Result<v1::AttachResponse, Status>> {
        if self.over {
            return None;
        }
        if let Some(attached) = self.attached.take() {
            return Some(Ok(response(Payload::Attached(attached))));
        }
        let item = match self.held.take() {
            Some(item) => Ok(item),
            None => self.attachment.next().await,
        };
        let item = match item {
            Ok(item) => item,
            Err(error) => {
                self.over = true;
                return Some(Err(status::from_command(&error)));
            }
        };
        let at_ms = self.clock.now().0;
        let mut events = Vec::new();
        match self.sort(item, &mut events, at_ms) {
            Some(message) => return Some(message),
            None => {
                // What waits already shares the message.
                while let Some(item) = self.attachment.next_ready() {
                    if matches!(
                        item,
                        AttachmentItem::Events(_)
                            | AttachmentItem::Delta(_)
                            | AttachmentItem::Presence(_)
                    ) {
                        // Of these kinds none makes a message of its own.
                        let _none = self.sort(item, &mut events, at_ms);
                    } else {
                        self.held = Some(item);
                        break;
                    }
                }
            }
        }
        Some(Ok(response(Payload::Events(v1::EventBatch { events }))))
    }

    /// Adds an item to `events`, or makes the message that it is by itself.
    fn sort(
        &mut self,
        item: AttachmentItem,
        events: &mut Vec<v1::Event>,
        at_ms: i64,
    ) -> Option<Result<v1::AttachResponse, Status>> {
        match item {
            AttachmentItem::Events(new) => {
                events.extend(new.iter().map(|event| to_proto::event(event)));
                None
            }
            AttachmentItem::Delta(delta) => {
                events.push(to_proto::delta(&delta, at_ms));
                None
            }
            AttachmentItem::Presence(participants) => {
                events.push(to_proto::presence(&participants, at_ms));
                None
            }
            AttachmentItem::CaughtUp(seq) => {
                Some(Ok(response(Payload::CaughtUp(v1::CaughtUp { seq: seq.0 }))))
            }
            AttachmentItem::Lagged(seq) => {
                Some(Ok(response(Payload::Lagged(v1::Lagged { resume_seq: seq.0 }))))
            }
            AttachmentItem::End(end) => {
                self.over = true;
                Some(Err(ended(end)))
            }
        }
    }
}

fn response(payload: Payload) -> v1::AttachResponse {
    v1::AttachResponse { payload: Some(payload) }
}

fn ended(end: StreamEnd) -> Status {
    match end {
        StreamEnd::Stopping => status::stopping(),
        StreamEnd::Deleted => status::error(
            ErrorKind::NotFound,
            "the session was deleted",
            "`agentctl sessions list` shows the sessions there are",
            Some("session_id"),
        ),
        StreamEnd::Failed => status::error(
            ErrorKind::Unavailable,
            "the session broke off because of a fault in agentd",
            "attach again; the log has the details",
            None,
        ),
    }
}
