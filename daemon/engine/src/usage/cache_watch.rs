//! Sees from what providers count that their cache stopped working for a session.
//!
//! The request before is the beginning of the next one, so a provider that caches can serve it from its
//! cache. When it did so and then does not for several requests in a row, something changes the
//! beginning of the requests, or they come to another server. Either costs money and time.

use std::fmt;

use agentd_domain::{TimestampMs, Usage};

/// Requests in a row that must miss the cache.
const MISSES: u32 = 3;
/// Below this share of the request before, in percent, the cache was missed.
const MISS_PERCENT: u64 = 30;
/// From this share on it works.
const HIT_PERCENT: u64 = 50;
/// Shorter beginnings are not judged: providers cache from 1,024 tokens on, in steps.
const MIN_PREFIX_TOKENS: u64 = 2_048;
/// Caches keep what is not used for about five minutes.
const MAX_PAUSE_MS: u64 = 5 * 60 * 1_000;

/// The requests of a session, as far as their cache goes.
#[derive(Debug, Default)]
pub(super) struct CacheWatch {
    last: Option<Last>,
    /// The model's cache has worked in this session.
    has_worked: bool,
    missed: Missed,
    is_told: bool,
}

#[derive(Debug)]
struct Last {
    at: TimestampMs,
    model: String,
    prompt_tokens: u64,
}

/// Requests in a row that missed the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Missed {
    requests: u32,
    cached_tokens: u64,
    stable_tokens: u64,
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requests, cached_tokens, stable_tokens } = self;
        write!(
            f,
            "the provider's cache is missed: of {stable_tokens} tokens that were sent before, \
             {cached_tokens} came from it in the last {requests} requests, which costs more and takes longer"
        )
    }
}

impl CacheWatch {
    /// Notes a request that has ended. Gives an alarm once, until the cache works again.
    pub(super) fn note(&mut self, at: TimestampMs, model: &str, usage: &Usage) -> Option<Missed> {
        if usage.estimated {
            return None;
        }
        let last = self.last.replace(Last {
            at,
            model: model.to_owned(),
            prompt_tokens: usage.prompt_tokens,
        });
        let Some(last) = last.filter(|last| last.model == model) else {
            self.has_worked = false;
            self.missed = Missed::default();
            return None;
        };
        if at.since(last.at) > MAX_PAUSE_MS || last.prompt_tokens < MIN_PREFIX_TOKENS {
            self.missed = Missed::default();
            return None;
        }
        let percent = usage.cached_prompt_tokens.saturating_mul(100) / last.prompt_tokens;
        if percent >= HIT_PERCENT {
            self.has_worked = true;
            self.is_told = false;
        }
        if percent >= MISS_PERCENT {
            self.missed = Missed::default();
            return None;
        }
        self.missed.requests += 1;
        self.missed.cached_tokens += usage.cached_prompt_tokens;
        self.missed.stable_tokens += last.prompt_tokens;
        let is_alarm = self.has_worked && !self.is_told && self.missed.requests >= MISSES;
        self.is_told |= is_alarm;
        is_alarm.then_some(self.missed)
    }

    /// The next request begins otherwise.
    pub(super) fn forget(&mut self) {
        let Self { last, has_worked: _, missed, is_told: _ } = self;
        *last = None;
        *missed = Missed::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests as (seconds since the one before, prompt tokens, cached tokens); gives the numbers of
    /// those that raise an alarm.
    fn alarms(requests: &[(i64, u64, u64)]) -> Vec<usize> {
        let mut watch = CacheWatch::default();
        let mut at = TimestampMs(0);
        let mut alarms = Vec::new();
        for (number, (pause, prompt_tokens, cached_prompt_tokens)) in requests.iter().enumerate() {
            at.0 += pause * 1_000;
            let usage = Usage {
                prompt_tokens: *prompt_tokens,
                cached_prompt_tokens: *cached_prompt_tokens,
                ..Usage::default()
            };
            if watch.note(at, "m", &usage).is_some() {
                alarms.push(number);
            }
        }
        alarms
    }

    const WARM: [(i64, u64, u64); 2] = [(0, 5_000, 0), (9, 6_000, 4_900)];

    fn after_warm(rest: &[(i64, u64, u64)]) -> Vec<usize> {
        alarms(&[&WARM, rest].concat())
    }

    #[test]
    fn three_misses_in_a_row_after_hits_are_an_alarm_once() {
        let miss = (9, 7_000, 0);
        assert_eq!(after_warm(&[miss, miss]), [] as [usize; 0]);
        assert_eq!(after_warm(&[miss, miss, miss, miss, miss]), [4]);
        let hit = (9, 7_000, 6_900);
        assert_eq!(after_warm(&[miss, miss, hit, miss, miss]), [] as [usize; 0]);
        assert_eq!(after_warm(&[miss, miss, miss, hit, miss, miss, miss]), [4, 8]);
    }

    #[test]
    fn what_cannot_be_cached_is_no_alarm() {
        let late = (301, 7_000, 0);
        assert_eq!(after_warm(&[late; 9]), [] as [usize; 0]);
        let never = (9, 7_000, 0);
        assert_eq!(alarms(&[never; 9]), [] as [usize; 0], "a provider that never caches");
        assert_eq!(alarms(&[(9, 2_000, 0); 9]), [] as [usize; 0], "too short to be cached");
    }

    #[test]
    fn another_model_a_cut_and_estimates_begin_anew() {
        let usage = |prompt_tokens, cached_prompt_tokens| Usage {
            prompt_tokens,
            cached_prompt_tokens,
            ..Usage::default()
        };
        let mut watch = CacheWatch::default();
        let note =
            |watch: &mut CacheWatch, model: &str, usage| watch.note(TimestampMs(0), model, &usage);
        note(&mut watch, "a", usage(9_000, 0));
        note(&mut watch, "a", usage(9_000, 9_000));
        note(&mut watch, "a", usage(9_000, 0));
        note(&mut watch, "a", usage(9_000, 0));
        watch.forget();
        assert_eq!(note(&mut watch, "a", usage(9_000, 0)), None, "the first after a cut");
        note(&mut watch, "a", usage(9_000, 0));
        note(&mut watch, "a", usage(9_000, 0));
        assert_eq!(note(&mut watch, "b", usage(9_000, 0)), None, "another model");
        note(&mut watch, "b", usage(9_000, 8_000));
        for _ in 0..9 {
            let estimate = Usage { estimated: true, ..usage(9_000, 0) };
            assert_eq!(note(&mut watch, "b", estimate), None, "an estimate says nothing");
        }
        note(&mut watch, "b", usage(9_000, 0));
        note(&mut watch, "b", usage(9_000, 100));
        let alarm = note(&mut watch, "b", usage(9_000, 0)).expect("an alarm");
        assert_eq!(
            alarm.to_string(),
            "the provider's cache is missed: of 27000 tokens that were sent before, 100 came from it in the last 3 requests, which costs more and takes longer"
        );
    }
}
