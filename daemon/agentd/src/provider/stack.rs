//! Puts the layers of `agentd_llm::layers` around a provider, with the limits that are configured.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentd_llm::layers::{Circuit, Endpoint, EndpointLimits, EndpointState, RetryPolicy};

use crate::config::ProviderConfig;

/// The endpoints that this daemon asks. Their limits hold over all sessions; two that are configured
/// with different limits are two, also at one address.
#[derive(Debug, Default)]
pub(super) struct Endpoints {
    known: Mutex<Vec<Known>>,
}

#[derive(Debug)]
struct Known {
    base_url: String,
    limits: EndpointLimits,
    endpoint: Arc<Endpoint>,
}

impl Endpoints {
    /// The endpoint there. A change of its limits makes a new one; requests under way stay with the
    /// old one.
    pub(super) fn at(&self, base_url: &str, config: &ProviderConfig) -> Arc<Endpoint> {
        let limits = limits(config);
        let mut known = self.lock();
        let is_it = |known: &&Known| known.base_url == base_url && known.limits == limits;
        if let Some(known) = known.iter().find(is_it) {
            return Arc::clone(&known.endpoint);
        }
        let endpoint = Arc::new(Endpoint::new(base_url, &limits));
        known.push(Known {
            base_url: base_url.to_owned(),
            limits,
            endpoint: Arc::clone(&endpoint),
        });
        endpoint
    }

    /// What they are doing, for `status`.
    pub(super) fn states(&self) -> Vec<EndpointState> {
        self.lock().iter().map(|known| known.endpoint.state()).collect()
    }

    /// Forgets those that do nothing and that nothing is known about, after a change of configuration.
    pub(super) fn forget_idle(&self) {
        self.lock().retain(|known| {
            let EndpointState { base_url: _, circuit, requests, waiting } = known.endpoint.state();
            circuit != Circuit::Closed || requests > 0 || waiting > 0
        });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Known>> {
        // Nothing that can panic runs under this lock.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An endpoint with these limits that shares its state with no other.
pub(super) fn own_endpoint(base_url: &str, config: &ProviderConfig) -> Arc<Endpoint> {
    Arc::new(Endpoint::new(base_url, &limits(config)))
}

fn limits(config: &ProviderConfig) -> EndpointLimits {
    EndpointLimits {
        max_concurrent: usize::try_from(config.max_concurrent_requests).unwrap_or(usize::MAX),
        requests_per_minute: config.requests_per_minute,
        longest_pause: Duration::from_millis(config.retry_max_ms),
        breaker_failures: config.breaker_failures,
        breaker_pause: Duration::from_millis(config.breaker_pause_ms),
        ..EndpointLimits::default()
    }
}

/// How often a request is tried.
pub(super) fn retry(config: &ProviderConfig) -> RetryPolicy {
    RetryPolicy {
        max_attempts: config.max_attempts,
        base: Duration::from_millis(config.retry_base_ms),
        max: Duration::from_millis(config.retry_max_ms),
    }
}
