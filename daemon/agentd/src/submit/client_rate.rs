//! So many messages a second from one client, with bursts. A client is known by the id that it gives;
//! the limit is there for scripts that run wild, not against those who mean harm.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use agentd_engine::Submitted;
use agentd_llm::layers::TokioClock;
use futures_util::future::{Either, Ready, ready};
use governor::clock::Clock as _;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::time::Instant;
use tonic::Status;
use tower::Service;

use super::Checked;
use crate::config::SubmitConfig;
use crate::grpc::status;

/// Clients that are remembered. When there are more, those that were quiet longest are forgotten.
const MAX_CLIENTS: usize = 10_000;

type Limiter = RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<Nanos>>;

#[derive(Debug)]
struct Client {
    limiter: Limiter,
    /// When it last sent something, or tried to.
    seen: Instant,
}

/// What is known about the clients.
#[derive(Debug)]
pub(super) struct ClientRates {
    /// None: no limit.
    quota: Option<Quota>,
    clients: Mutex<HashMap<String, Client>>,
    clock: TokioClock,
    max_clients: usize,
}

impl ClientRates {
    pub(super) fn new(config: &SubmitConfig, clock: TokioClock) -> Self {
        let quota = NonZeroU32::new(config.per_client_per_second).map(|rate| {
            let burst = NonZeroU32::new(config.per_client_burst).unwrap_or(rate);
            Quota::per_second(rate).allow_burst(burst)
        });
        Self { quota, clients: Mutex::default(), clock, max_clients: MAX_CLIENTS }
    }

    /// Lets a message pass, or says when to come back.
    fn check(&self, client_id: &str) -> Result<(), Duration> {
        let Some(quota) = self.quota else { return Ok(()) };
        // Nothing that can panic runs under this lock.
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if !clients.contains_key(client_id) && clients.len() >= self.max_clients {
            forget_quiet(&mut clients, quota);
        }
        let seen = Instant::now();
        let client = clients.entry(client_id.to_owned()).or_insert_with(|| Client {
            limiter: RateLimiter::direct_with_clock(quota, self.clock.clone()),
            seen,
        });
        client.seen = seen;
        client.limiter.check().map_err(|early| early.wait_time_from(self.clock.now()))
    }
}

/// Forgets the clients whose burst is whole again, or else the one that was quiet longest: whoever runs
/// wild is never the quiet one.
fn forget_quiet(clients: &mut HashMap<String, Client>, quota: Quota) {
    let whole_after = quota.burst_size_replenished_in();
    let before = clients.len();
    clients.retain(|_, client| client.seen.elapsed() < whole_after);
    if clients.len() == before {
        let quietest = clients.iter().min_by_key(|(_, client)| client.seen);
        if let Some(id) = quietest.map(|(id, _)| id.clone()) {
            clients.remove(&id);
        }
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
    async fn the_quietest_client_is_forgotten_for_a_new_one_and_the_others_stay_limited() {
        let config = SubmitConfig {
            per_client_per_second: 1,
            per_client_burst: 1,
            ..SubmitConfig::default()
        };
        let rates = ClientRates { max_clients: 2, ..ClientRates::new(&config, TokioClock::new()) };
        assert_eq!(rates.check("a"), Ok(()));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(rates.check("b"), Ok(()));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(rates.check("c"), Ok(()), "a new client is not refused for the others");
        assert!(rates.check("b").is_err() && rates.check("c").is_err(), "they are known");
        assert_eq!(rates.clients.lock().unwrap().len(), 2, "two are remembered, no more");
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(rates.check("d"), Ok(()));
        assert_eq!(rates.clients.lock().unwrap().len(), 1, "the others' bursts are whole again");
    }
}
