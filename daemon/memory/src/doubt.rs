//! Whether the time of day can be true.
//!
//! A clock that is wrong by years would age everything at once and remove what cannot be brought back.
//! A machine that was off for long looks the same, so that beyond a limit only a person can tell.

use std::fmt;

use agentd_domain::{MemoryUpkeep, TimestampMs};

use crate::decay::DAY_MS;

/// Days between two looks above which the clock is doubted.
const MAX_GAP_DAYS: i64 = 400;
/// Days between two looks up to which they follow each other steadily: what is removed for good waits
/// until they do.
const STEADY_GAP_DAYS: i64 = 10;
/// Days of steady looks before anything is removed for good.
const STEADY_DAYS: i64 = 1;
/// Days that a clock may be set back without a doubt: the last look is kept to within as much.
const SET_BACK_DAYS: i64 = 1;

/// Why the time of day is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockDoubt {
    /// So many days have passed since memories were last looked after.
    Jumped(i64),
    /// They were last looked after so many days from now.
    WentBack(i64),
}

impl ClockDoubt {
    /// What is doubtful at a time.
    pub(crate) fn at(now: TimestampMs, upkeep: &MemoryUpkeep) -> Option<Self> {
        let days = days(upkeep.swept_at?, now);
        if days > MAX_GAP_DAYS {
            Some(Self::Jumped(days))
        } else if days < -SET_BACK_DAYS {
            Some(Self::WentBack(-days))
        } else {
            None
        }
    }
}

impl fmt::Display for ClockDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jumped(days) => write!(
                f,
                "the clock stands {days} days beyond the last time that memories aged, so that none \
                 ages or is removed; if it is right, run `agentctl memory decay`, else set it"
            ),
            Self::WentBack(days) => write!(
                f,
                "the clock stands {days} days before the last time that memories aged, so that none \
                 ages or is removed; if it is right, run `agentctl memory decay`, else set it"
            ),
        }
    }
}

/// What is known of the upkeep after a look at a time that is believed; none while what is known is near
/// enough: a daemon that has nothing to do writes nothing.
pub(crate) fn looked(now: TimestampMs, upkeep: &MemoryUpkeep) -> Option<MemoryUpkeep> {
    let gap = upkeep.swept_at.map(|last| now.0.saturating_sub(last.0));
    let is_steady = gap.is_some_and(|gap| gap <= STEADY_GAP_DAYS * DAY_MS);
    let steady_since = upkeep.steady_since.filter(|since| is_steady && *since <= now);
    let next = MemoryUpkeep {
        swept_at: Some(now),
        steady_since: Some(steady_since.unwrap_or(now)),
        ..upkeep.clone()
    };
    let is_near = gap.is_some_and(|gap| (0..DAY_MS).contains(&gap));
    (!is_near || next.steady_since != upkeep.steady_since).then_some(next)
}

/// What is known after somebody has said that the clock is right.
pub(crate) fn vouched_for(now: TimestampMs, upkeep: &MemoryUpkeep) -> MemoryUpkeep {
    let steady_since = now.0.saturating_sub(STEADY_DAYS * DAY_MS);
    MemoryUpkeep {
        swept_at: Some(now),
        steady_since: Some(TimestampMs(steady_since)),
        ..upkeep.clone()
    }
}

/// True when what is removed now would not be removed because of a clock that was set just now.
pub(crate) fn may_remove(now: TimestampMs, upkeep: &MemoryUpkeep) -> bool {
    upkeep.steady_since.is_some_and(|since| days(since, now) >= STEADY_DAYS)
}

/// Whole days, towards zero.
fn days(from: TimestampMs, to: TimestampMs) -> i64 {
    to.0.saturating_sub(from.0) / DAY_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(day: i64) -> TimestampMs {
        TimestampMs(day * DAY_MS)
    }

    #[test]
    fn a_clock_that_jumps_or_goes_back_is_doubted_and_a_machine_that_slept_is_not() {
        let upkeep = looked(day(1000), &MemoryUpkeep::default()).unwrap();
        let check = |now, expect| assert_eq!(ClockDoubt::at(day(now), &upkeep), expect, "{now}");
        check(1000, None);
        check(1400, None);
        check(1401, Some(ClockDoubt::Jumped(401)));
        check(999, None);
        check(998, Some(ClockDoubt::WentBack(2)));
        check(0, Some(ClockDoubt::WentBack(1000)));
        assert_eq!(ClockDoubt::at(day(5), &MemoryUpkeep::default()), None);
        let (first, last) = (TimestampMs(i64::MIN), TimestampMs(i64::MAX));
        let upkeep = looked(first, &MemoryUpkeep::default()).unwrap();
        assert!(matches!(ClockDoubt::at(last, &upkeep), Some(ClockDoubt::Jumped(_))));
    }

    #[test]
    fn nothing_is_removed_before_looks_have_followed_each_other_for_a_day() {
        let mut upkeep = MemoryUpkeep::default();
        let mut check = |now: i64, expect| {
            upkeep = looked(day(now), &upkeep).unwrap_or_else(|| upkeep.clone());
            assert_eq!(may_remove(day(now), &upkeep), expect, "{now}");
        };
        check(10, false);
        check(11, true);
        check(18, true);
        // It was off for long, or its clock is wrong.
        check(200, false);
        check(201, true);
        assert!(may_remove(day(300), &vouched_for(day(300), &upkeep)));
    }

    #[test]
    fn looks_within_a_day_need_not_be_kept() {
        let upkeep = looked(day(10), &MemoryUpkeep::default()).unwrap();
        assert_eq!(looked(TimestampMs(day(11).0 - 1), &upkeep), None);
        assert_eq!(looked(day(11), &upkeep).unwrap().swept_at, Some(day(11)));
    }
}
