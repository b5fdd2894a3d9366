//! Failed attempts to come in, counted by where they come from.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Failures after which a network is not listened to for the rest of the window.
const MAX_FAILURES: u32 = 10;
/// How long failures count.
const WINDOW: Duration = Duration::from_secs(60);
/// Most networks that are remembered; past it the oldest are forgotten.
const MAX_NETWORKS: usize = 4096;

/// Counts failures. What it limits is work and log lines: guessing a token is hopeless anyway.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    failures: Mutex<HashMap<IpAddr, Failures>>,
}

#[derive(Debug, Clone, Copy)]
struct Failures {
    since: Instant,
    count: u32,
}

impl Throttle {
    /// How long this network still has to wait; none when it may try.
    pub(crate) fn must_wait(&self, network: IpAddr) -> Option<Duration> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let found = failures.get(&network).filter(|found| found.count >= MAX_FAILURES)?;
        WINDOW.checked_sub(found.since.elapsed()).filter(|left| !left.is_zero())
    }

    /// Counts a failure. True for the first one of a window, which is worth a line in the log.
    pub(crate) fn failed(&self, network: IpAddr) -> bool {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= MAX_NETWORKS && !failures.contains_key(&network) {
            failures.retain(|_, found| found.since.elapsed() < WINDOW);
            let oldest = failures.iter().min_by_key(|(_, found)| found.since).map(|(ip, _)| *ip);
            if failures.len() >= MAX_NETWORKS
                && let Some(oldest) = oldest
            {
                failures.remove(&oldest);
            }
        }
        let new = Failures { since: Instant::now(), count: 0 };
        let found = failures.entry(network).or_insert(new);
        if found.since.elapsed() >= WINDOW {
            *found = new;
        }
        found.count = found.count.saturating_add(1);
        found.count == 1
    }
}

/// Whom limits count as one: an IPv4 address, or an IPv6 /64, of which one customer has all addresses.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn ten_failures_close_the_door_for_the_rest_of_the_minute() {
        let throttle = Throttle::default();
        for n in 0..MAX_FAILURES {
            assert_eq!(throttle.must_wait(ip("192.0.2.1")), None, "after {n}");
            assert_eq!(throttle.failed(ip("192.0.2.1")), n == 0);
        }
        assert_eq!(throttle.must_wait(ip("192.0.2.1")), Some(WINDOW));
        assert_eq!(throttle.must_wait(ip("192.0.2.2")), None, "others are not concerned");
        tokio::time::advance(WINDOW).await;
        assert_eq!(throttle.must_wait(ip("192.0.2.1")), None);
        assert!(throttle.failed(ip("192.0.2.1")), "a new window, a new line in the log");
    }

    #[tokio::test(start_paused = true)]
    async fn the_memory_for_failures_is_bounded() {
        let throttle = Throttle::default();
        for n in 0..u32::try_from(MAX_NETWORKS).unwrap() + 100 {
            throttle.failed(IpAddr::V4(n.into()));
        }
        assert_eq!(throttle.failures.lock().unwrap().len(), MAX_NETWORKS);
    }

    #[test]
    fn addresses_of_one_customer_are_one_network() {
        let check = |one: &str, other: &str, same: bool| {
            assert_eq!(network_of(ip(one)) == network_of(ip(other)), same, "{one} {other}");
        };
        check("192.0.2.1", "192.0.2.2", false);
        check("::ffff:192.0.2.1", "192.0.2.1", true);
        check("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true);
        check("2001:db8:0:1::1", "2001:db8:0:2::1", false);
    }
}
