//! Waits for the engine as long as the client does, and no longer than is configured.

use std::task::{Context, Poll};
use std::time::Duration;

use agentd_engine::Submitted;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tonic::Status;
use tower::Service;

use super::Checked;
use crate::grpc::status;

/// See the page.
#[derive(Debug, Clone)]
pub(super) struct Deadline<S> {
    inner: S,
    longest: Duration,
}

impl<S> Deadline<S> {
    pub(super) fn around(inner: S, longest: Duration) -> Self {
        Self { inner, longest }
    }
}

impl<S> Service<Checked> for Deadline<S>
where
    S: Service<Checked, Response = Submitted, Error = Status>,
    S::Future: Send + 'static,
{
    type Response = Submitted;
    type Error = Status;
    type Future = BoxFuture<'static, Result<Submitted, Status>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, checked: Checked) -> Self::Future {
        let longest = checked.patience.map_or(self.longest, |patience| patience.min(self.longest));
        let accepted = self.inner.call(checked);
        async move {
            match tokio::time::timeout(longest, accepted).await {
                Ok(accepted) => accepted,
                Err(_too_slow) => Err(status::too_slow(longest)),
            }
        }
        .boxed()
    }
}
