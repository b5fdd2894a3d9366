//! Shows the sessions used most recently, then each change of any session.

use std::pin::Pin;

use agentd_engine::{SessionSummary, SessionWatch, WatchItem};
use agentd_proto::v1;
use futures_util::{Stream, stream};
use prost::Message as _;
use tonic::Status;
use v1::watch_sessions_response::Payload;

use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) type WatchStream =
    Pin<Box<dyn Stream<Item = Result<v1::WatchSessionsResponse, Status>> + Send>>;

const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 1000;
/// Most bytes of a snapshot, well below those of a message.
const MAX_SNAPSHOT_BYTES: usize = 2 * 1024 * 1024;

pub(super) fn handle(
    ctx: &Context,
    request: v1::WatchSessionsRequest,
) -> Result<WatchStream, Status> {
    let v1::WatchSessionsRequest { limit } = request;
    let limit = from_proto::limit("limit", limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let watch = ctx.engine.watch(limit).map_err(|error| status::from_command(&error))?;
    Ok(Box::pin(stream::unfold(Some(watch), |watch| async move { Some(message(watch?).await) })))
}

/// The next message of the stream, and the watch if it goes on.
async fn message(
    mut watch: SessionWatch,
) -> (Result<v1::WatchSessionsResponse, Status>, Option<SessionWatch>) {
    let payload = match watch.next().await {
        Ok(WatchItem::Snapshot { sessions, more }) => {
            Payload::Snapshot(snapshot(&sessions, more, MAX_SNAPSHOT_BYTES))
        }
        Ok(WatchItem::Changed(summary)) => Payload::Changed(to_proto::summary(&summary)),
        Ok(WatchItem::Deleted(id)) => Payload::DeletedSessionId(id.to_string()),
        Ok(WatchItem::Stopping) => return (Err(status::stopping()), None),
        Err(error) => return (Err(status::from_command(&error)), None),
    };
    (Ok(v1::WatchSessionsResponse { payload: Some(payload) }), Some(watch))
}

/// As many sessions as fit in `max_bytes`.
fn snapshot(sessions: &[SessionSummary], more: bool, max_bytes: usize) -> v1::SessionSnapshot {
    let mut bytes = 0;
    let fitting = sessions.iter().map(to_proto::summary).take_while(|summary| {
        bytes += summary.encoded_len();
        bytes <= max_bytes
    });
    let fitting: Vec<v1::SessionSummary> = fitting.collect();
    v1::SessionSnapshot { more: more || fitting.len() < sessions.len(), sessions: fitting }
}

#[cfg(test)]
mod tests {
    use agentd_domain::{Seq, SessionId, SessionRecord};

    use super::*;

    #[test]
    fn a_snapshot_holds_what_fits_and_says_that_there_is_more() {
        let summary = |number| SessionSummary {
            record: SessionRecord {
                title: "x".repeat(100),
                ..SessionRecord::new(SessionId::from_parts(1, number))
            },
            attached: 0,
            read: Seq::ZERO,
        };
        let sessions: Vec<SessionSummary> = (0..5).map(summary).collect();
        let all = snapshot(&sessions, false, usize::MAX);
        assert_eq!((all.sessions.len(), all.more), (5, false));
        let size = all.sessions[0].encoded_len();
        let some = snapshot(&sessions, false, 3 * size);
        assert_eq!((some.sessions.len(), some.more), (3, true));
        assert_eq!(some.sessions[..], all.sessions[..3]);
        assert!(snapshot(&sessions, true, usize::MAX).more);
    }
}
