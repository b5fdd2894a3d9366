//! Accepts a user message durably.

use std::time::Duration;

use agentd_domain::SessionId;
use agentd_engine::Submission;
use agentd_proto::v1;
use tonic::{Request, Status};

use crate::grpc::{Context, from_proto, status, to_proto};
use crate::submit::Incoming;

/// Longest time that a message may wait: a year.
const MAX_TTL_MS: u64 = 365 * 24 * 3600 * 1000;

pub(super) async fn handle(
    ctx: &Context,
    request: Request<v1::SubmitMessageRequest>,
) -> Result<v1::SubmitMessageResponse, Status> {
    let patience = request
        .metadata()
        .get("grpc-timeout")
        .and_then(|value| value.to_str().ok())
        .and_then(grpc_timeout);
    let incoming = Incoming { request: request.into_inner(), patience };
    let submitted = ctx.submit.submit(incoming).await?;
    Ok(v1::SubmitMessageResponse {
        item_id: submitted.item_id.to_string(),
        seq: submitted.seq.0,
        queue_position: to_proto::small(submitted.queue_position),
        duplicate: submitted.duplicate,
    })
}

/// Reads a message and checks what can be checked without its session.
///
/// # Errors
/// INVALID_ARGUMENT on the field.
pub(crate) fn decode_submission(
    request: v1::SubmitMessageRequest,
) -> Result<(SessionId, Submission), Status> {
    let v1::SubmitMessageRequest {
        session_id,
        client_message_id,
        text,
        delivery,
        author,
        priority,
        ttl_ms,
        unattended,
    } = request;
    let id = from_proto::id("session_id", &session_id)?;
    if ttl_ms > MAX_TTL_MS {
        let problem = format!("{ttl_ms} is longer than a year");
        return Err(status::bad_field("ttl_ms", &problem, "give at most 31536000000, or 0"));
    }
    let submission = Submission {
        client_message_id: from_proto::id("client_message_id", &client_message_id)?,
        text,
        delivery: from_proto::delivery("delivery", delivery)?,
        author: from_proto::author("author", author.as_ref())?,
        priority: from_proto::priority("priority", priority)?,
        unattended,
        ttl: (ttl_ms > 0).then(|| Duration::from_millis(ttl_ms)),
    };
    Ok((id, submission))
}

/// Reads the header by which a gRPC client says how long it will wait: up to eight digits and a unit.
/// What is not such a header says nothing.
fn grpc_timeout(header: &str) -> Option<Duration> {
    let (digits, unit) = header.split_at_checked(header.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(number * 3600)),
        "M" => Some(Duration::from_secs(number * 60)),
        "S" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_millis(number)),
        "u" => Some(Duration::from_micros(number)),
        "n" => Some(Duration::from_nanos(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_a_client_will_wait_is_read_in_all_units() {
        let check = |header: &str, expect: Option<Duration>| {
            assert_eq!(grpc_timeout(header), expect, "{header:?}");
        };
        check("2H", Some(Duration::from_secs(7200)));
        check("3M", Some(Duration::from_secs(180)));
        check("4S", Some(Duration::from_secs(4)));
        check("5m", Some(Duration::from_millis(5)));
        check("6u", Some(Duration::from_micros(6)));
        check("99999999n", Some(Duration::from_nanos(99_999_999)));
        for wrong in ["", "S", "5", "5x", "-5S", "123456789S", "5秒"] {
            check(wrong, None);
        }
    }
}
