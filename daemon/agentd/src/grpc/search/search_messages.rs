//! Finds what was said.

use agentd_domain::{HistoryAnswer, HistoryHit, HistoryQuery, Speaker, TimestampMs};
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::status::bad_field;
use crate::grpc::{Context, from_proto, status};

const DEFAULT_LIMIT: u32 = 10;
const MAX_LIMIT: u32 = 100;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::SearchMessagesRequest,
) -> Result<v1::SearchMessagesResponse, Status> {
    let query = read(request, ctx.clock.now())?;
    let answer = ctx.engine.search_history(query).await;
    let answer = answer.map_err(|error| status::from_command(&error))?;
    let HistoryAnswer { hits, more, extent } = answer;
    let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(v1::SearchMessagesResponse {
        messages: hits.into_iter().map(found).collect(),
        truncated: more,
        sessions: small(extent.sessions),
        sessions_unread: small(extent.sessions_unread),
        sessions_damaged: small(extent.sessions_damaged),
        messages_searched: extent.messages as u64,
        messages_left_out: extent.messages_left_out,
    })
}

fn read(request: v1::SearchMessagesRequest, now: TimestampMs) -> Result<HistoryQuery, Status> {
    let v1::SearchMessagesRequest { question, session_id, since_ms, by, limit } = request;
    let session = match session_id.as_str() {
        "" => None,
        id => Some(from_proto::id("session_id", id)?),
    };
    if since_ms < 0 || since_ms > now.0 {
        let problem = if since_ms < 0 { "it is negative" } else { "it is in the future" };
        return Err(bad_field("since_ms", problem, "give a time that has passed, or 0 for ever"));
    }
    if limit > MAX_LIMIT {
        let problem = format!("{limit} is more than {MAX_LIMIT}");
        return Err(bad_field("limit", &problem, "ask for fewer messages, or say more of them"));
    }
    let by = match v1::Speaker::try_from(by) {
        Ok(v1::Speaker::Unspecified) => None,
        Ok(v1::Speaker::User) => Some(Speaker::User),
        Ok(v1::Speaker::Assistant) => Some(Speaker::Assistant),
        Err(_unknown) => {
            let problem = format!("{by} is nobody who speaks");
            return Err(bad_field("by", &problem, "use SPEAKER_USER or SPEAKER_ASSISTANT"));
        }
    };
    let most = if limit == 0 { DEFAULT_LIMIT } else { limit };
    Ok(HistoryQuery {
        question,
        session,
        since: (since_ms > 0).then_some(TimestampMs(since_ms)),
        by,
        most: usize::try_from(most).unwrap_or(usize::MAX),
        without_turn_of: None,
    })
}

fn found(hit: HistoryHit) -> v1::FoundMessage {
    let HistoryHit { session_id, title, seq, at, by, name, snippet, score } = hit;
    let by = match by {
        Speaker::User => v1::Speaker::User,
        Speaker::Assistant => v1::Speaker::Assistant,
    };
    v1::FoundMessage {
        session_id: session_id.to_string(),
        title,
        seq: seq.0,
        at_ms: at.0,
        by: by.into(),
        author_name: name,
        snippet,
        score,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_filter_is_refused_by_its_name_with_a_remedy() {
        let refused = |field: &str, change: fn(&mut v1::SearchMessagesRequest)| {
            let mut request =
                v1::SearchMessagesRequest { question: "x".to_owned(), ..Default::default() };
            change(&mut request);
            let status = read(request, TimestampMs(1_000)).expect_err(field);
            assert_eq!(status.code(), tonic::Code::InvalidArgument, "{field}");
            assert!(status.message().starts_with(field), "{status:?}");
        };
        refused("session_id", |it| it.session_id = "no id".to_owned());
        refused("since_ms", |it| it.since_ms = -1);
        refused("since_ms", |it| it.since_ms = 1_001);
        refused("limit", |it| it.limit = 101);
        refused("by", |it| it.by = 7);
        let request = v1::SearchMessagesRequest { since_ms: 1_000, by: 2, ..Default::default() };
        let query = read(request, TimestampMs(1_000)).unwrap();
        assert_eq!((query.most, query.by), (10, Some(Speaker::Assistant)));
    }
}
