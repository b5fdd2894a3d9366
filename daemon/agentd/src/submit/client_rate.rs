//! So many messages a second from one client, with bursts. A client is known by the id that it gives;
//! the limit is there for scripts that run wild, not against those who mean harm.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use agentd_engine::Submitted;
use agentd_llm::layers::TokioClock;
use futures_util::future::{Either, Ready, ready};
use governor::clock::Clock as _;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use tonic::Status;
use tower::Service;

use super::Checked;
use crate::config::SubmitConfig;
use crate::grpc::status;

/// Clients that are remembered. Those whose burst is whole again are forgotten when there are more.
const MAX_CLIENTS: usize = 10_000;

type Limiter = RateLimiter<String, HashMapStateStore<String>, TokioClock, NoOpMiddleware<Nanos>>;

/// What is known about the clients.
#[derive(Debug)]
pub(super) struct ClientRates {
    /// None: no limit.
    limiter: Option<Limiter>,
    clock: TokioClock,
    max_clients: usize,
}

impl ClientRates {
    pub(super) fn new(config: &SubmitConfig, clock: TokioClock) -> Self {
        let limiter = NonZeroU32::new(config.per_client_per_second).map(|rate| {
            let burst = NonZeroU32::new(config.per_client_burst).unwrap_or(rate);
            let quota = Quota::per_second(rate).allow_burst(burst);
            RateLimiter::hashmap_with_clock(quota, clock.clone())
        });
        Self { limiter, clock, max_clients: MAX_CLIENTS }
    }

    /// Lets a message pass, or says when to come back.
    fn check(&self, client_id: &String) -> Result<(), Duration> {
        const FULL: Duration = Duration::from_secs(1);
        let Some(limiter) = &self.limiter else { return Ok(()) };
        if limiter.len() >= self.max_clients {
            limiter.retain_recent();
            if limiter.len() >= self.max_clients {
                return Err(FULL);
            }
        }
        limiter.check_key(client_id).map_err(|early| early.wait_time_from(self.clock.now()))
    }
}

/// See the page.
#[derive(Debug, Clone)]
pub(super) struct ClientRate<S> {
    inner: S,
    rates: Arc<ClientRates>,
}

impl<S> ClientRate<S> {
    pub(super) fn around(inner: S, rates: Arc<ClientRates>) -> Self {
        Self { inner, rates }
    }
}

impl<S> Service<Checked> for ClientRate<S>
where
    S: Service<Checked, Response = Submitted, Error = Status>,
{
    type Response = Submitted;
    type Error = Status;
    type Future = Either<S::Future, Ready<Result<Submitted, Status>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, checked: Checked) -> Self::Future {
        match self.rates.check(&checked.submission.author.client_id) {
            Ok(()) => Either::Left(self.inner.call(checked)),
            Err(wait) => Either::Right(ready(Err(status::busy(
                "this client sends messages too fast",
                "slow down; submit.per_client_per_second says how fast it may be",
                Some(wait),
            )))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn clients_are_forgotten_once_they_are_quiet() {
        let config = SubmitConfig {
            per_client_per_second: 1,
            per_client_burst: 1,
            ..SubmitConfig::default()
        };
        let rates = ClientRates { max_clients: 2, ..ClientRates::new(&config, TokioClock::new()) };
        assert!(rates.check(&"a".to_owned()).is_ok());
        assert!(rates.check(&"b".to_owned()).is_ok());
        assert!(rates.check(&"c".to_owned()).is_err(), "two are remembered, no more");
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(rates.check(&"c".to_owned()).is_ok());
    }
}
