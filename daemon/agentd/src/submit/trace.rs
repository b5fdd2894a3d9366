//! One span for each message.

use std::task::{Context, Poll};

use agentd_engine::Submitted;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tonic::Status;
use tower::Service;
use tracing::Instrument as _;

use super::Incoming;

/// See the page.
#[derive(Debug, Clone)]
pub(super) struct Trace<S> {
    inner: S,
}

impl<S> Trace<S> {
    pub(super) fn around(inner: S) -> Self {
        Self { inner }
    }
}

impl<S> Service<Incoming> for Trace<S>
where
    S: Service<Incoming, Response = Submitted, Error = Status>,
    S::Future: Send + 'static,
{
    type Response = Submitted;
    type Error = Status;
    type Future = BoxFuture<'static, Result<Submitted, Status>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, incoming: Incoming) -> Self::Future {
        let author = incoming.request.author.as_ref();
        let span = tracing::info_span!(
            "submit",
            session_id = agentd_domain::cut_line(&incoming.request.session_id, 64),
            client_id = author.map(|author| agentd_domain::cut_line(&author.client_id, 64)),
        );
        self.inner
            .call(incoming)
            .map(|answer| {
                match &answer {
                    Ok(submitted) => tracing::debug!(
                        item_id = %submitted.item_id,
                        queue_position = submitted.queue_position,
                        duplicate = submitted.duplicate,
                        "message accepted"
                    ),
                    Err(status) => tracing::debug!(
                        code = ?status.code(),
                        reason = status.message(),
                        "message refused"
                    ),
                }
                answer
            })
            .instrument(span)
            .boxed()
    }
}
