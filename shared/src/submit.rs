//! Sends a message so that a retry can never make two of it.

use std::time::Duration;

use agentd_proto::v1;

use crate::ErrorKind;
use crate::client::Client;
use crate::client_ids::new_ulid;
use crate::connector::Connector;
use crate::status_error::RpcError;

/// Pauses between attempts while the daemon is away or busy. Their sum is the longest wait.
const PAUSES_MS: [u64; 6] = [100, 200, 500, 1_000, 2_000, 4_000];

/// A message that is on its way.
#[derive(Debug)]
pub struct Outgoing {
    request: v1::SubmitMessageRequest,
}

impl Outgoing {
    /// Gives a message the id by which the daemon recognises a retry. Somebody is there to answer what
    /// its turn asks, unless [`Self::unattended`] says otherwise.
    pub fn new(author: v1::Author, session_id: &str, text: &str, delivery: v1::Delivery) -> Self {
        Self {
            request: v1::SubmitMessageRequest {
                priority: 0,
                ttl_ms: 0,
                unattended: false,
                session_id: session_id.to_owned(),
                client_message_id: new_ulid(),
                text: text.to_owned(),
                delivery: delivery.into(),
                author: Some(author),
            },
        }
    }

    /// A message that is written already, with its id.
    pub fn of(request: v1::SubmitMessageRequest) -> Self {
        Self { request }
    }

    /// Says how important it is, and when it is too late to begin.
    #[must_use]
    pub fn ranked(mut self, priority: v1::Priority, ttl: Option<Duration>) -> Self {
        self.request.priority = priority.into();
        let ttl_ms = ttl.map_or(0, |ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
        self.request.ttl_ms = ttl_ms;
        self
    }

    /// Says that nobody is there to answer what its turn asks.
    #[must_use]
    pub fn unattended(mut self) -> Self {
        self.request.unattended = true;
        self
    }

    /// The id by which our own message is known in the stream.
    pub fn client_message_id(&self) -> &str {
        &self.request.client_message_id
    }

    /// Sends it, again and again for some seconds while the daemon is away or says that it is busy.
    ///
    /// # Errors
    /// What the last attempt failed with.
    pub async fn send(
        &self,
        connector: &Connector,
        client: &Client,
    ) -> Result<v1::SubmitMessageResponse, RpcError> {
        let mut pauses = Pauses::default();
        loop {
            let error = match client.turn().submit_message(self.request.clone()).await {
                Ok(response) => return Ok(response.into_inner()),
                Err(status) => RpcError::from(status),
            };
            let Some(pause) = pauses.after(&error) else { return Err(error) };
            tokio::time::sleep(pause).await;
            if error.is_outage() {
                connector.revive().await;
            }
        }
    }
}

/// How an accepted message waits; `None` when it does not, or its turn is about to begin.
pub fn waits(delivery: v1::Delivery, before: u32) -> Option<String> {
    match (before, delivery) {
        (0, _) | (_, v1::Delivery::Interrupt) => None,
        (_, v1::Delivery::Steer) => Some("for the running turn".to_owned()),
        (before, v1::Delivery::Queue | v1::Delivery::Unspecified) => {
            Some(format!("queued, {before} before it"))
        }
    }
}

/// The pauses of one message.
#[derive(Debug)]
struct Pauses {
    steps: std::array::IntoIter<u64, { PAUSES_MS.len() }>,
    left: Duration,
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            steps: PAUSES_MS.into_iter(),
            left: Duration::from_millis(PAUSES_MS.into_iter().sum()),
        }
    }
}

impl Pauses {
    /// How long to wait after an error; `None` when it is final, or the wait would be too long.
    fn after(&mut self, error: &RpcError) -> Option<Duration> {
        let is_busy = error.kind() == ErrorKind::Busy && error.retry_after.is_some();
        if !is_busy && !error.is_outage() {
            return None;
        }
        let step = Duration::from_millis(self.steps.next()?);
        let pause = step.max(error.retry_after.unwrap_or_default());
        self.left = self.left.checked_sub(pause)?;
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use tonic::{Code, Status};

    use super::*;

    fn error(code: Code, retry_after_ms: Option<u64>) -> RpcError {
        let retry_after = retry_after_ms.map(Duration::from_millis);
        RpcError { retry_after, ..RpcError::from(Status::new(code, "")) }
    }

    #[test]
    fn only_what_has_to_wait_is_said_to() {
        let check = |delivery: v1::Delivery, before: u32, expect: Option<&str>| {
            assert_eq!(waits(delivery, before).as_deref(), expect, "{delivery:?} {before}");
        };
        check(v1::Delivery::Queue, 0, None);
        check(v1::Delivery::Queue, 2, Some("queued, 2 before it"));
        check(v1::Delivery::Steer, 1, Some("for the running turn"));
        check(v1::Delivery::Interrupt, 1, None);
    }

    /// Milliseconds of all pauses for an error that does not go away.
    fn pauses(error: &RpcError) -> Vec<u128> {
        let mut pauses = Pauses::default();
        std::iter::from_fn(|| pauses.after(error)).map(|pause| pause.as_millis()).collect()
    }

    #[test]
    fn an_absent_and_a_busy_daemon_are_asked_again_within_the_same_time() {
        let check = |code: Code, retry_after_ms: Option<u64>, expect: &[u128]| {
            let error = error(code, retry_after_ms);
            assert_eq!(pauses(&error), expect, "{error:?}");
        };
        check(Code::Unavailable, None, &[100, 200, 500, 1_000, 2_000, 4_000]);
        check(Code::ResourceExhausted, Some(500), &[500, 500, 500, 1_000, 2_000]);
        check(Code::ResourceExhausted, Some(60_000), &[]);
        check(Code::ResourceExhausted, None, &[]);
        // Half a minute has passed already.
        check(Code::DeadlineExceeded, None, &[]);
        check(Code::InvalidArgument, Some(500), &[]);
    }
}
