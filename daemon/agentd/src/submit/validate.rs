//! From the message as it came to the message as it is meant.

use std::task::{Context, Poll};
use std::time::Duration;

use agentd_domain::Priority;
use agentd_engine::Submitted;
use futures_util::future::{Either, Ready, ready};
use tonic::Status;
use tower::Service;

use super::{Checked, Incoming};
use crate::grpc::decode_submission;

/// See the page.
#[derive(Debug, Clone)]
pub(super) struct Validate<S> {
    inner: S,
    default_ttl: Duration,
}

impl<S> Validate<S> {
    /// `default_ttl` goes to messages of low priority that name none; zero: they keep for ever. What
    /// users type never goes stale unless they say so.
    pub(super) fn around(inner: S, default_ttl: Duration) -> Self {
        Self { inner, default_ttl }
    }

    fn check(&self, incoming: Incoming) -> Result<Checked, Status> {
        let Incoming { request, patience } = incoming;
        let (session_id, mut submission) = decode_submission(request)?;
        if submission.priority == Priority::Low
            && submission.ttl.is_none()
            && !self.default_ttl.is_zero()
        {
            submission.ttl = Some(self.default_ttl);
        }
        Ok(Checked { session_id, submission, patience })
    }
}

impl<S> Service<Incoming> for Validate<S>
where
    S: Service<Checked, Response = Submitted, Error = Status>,
{
    type Response = Submitted;
    type Error = Status;
    type Future = Either<S::Future, Ready<Result<Submitted, Status>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, incoming: Incoming) -> Self::Future {
        match self.check(incoming) {
            Ok(checked) => Either::Left(self.inner.call(checked)),
            Err(status) => Either::Right(ready(Err(status))),
        }
    }
}
