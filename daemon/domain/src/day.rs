//! Days, as usage is summed by.

use std::fmt;

use crate::TimestampMs;

const DAY_MS: i64 = 86_400_000;

/// A day in UTC, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub u32);

impl Day {
    /// The day of a point in time; the first day for anything before it.
    pub fn of(at: TimestampMs) -> Self {
        Self(u32::try_from(at.0.div_euclid(DAY_MS).max(0)).unwrap_or(u32::MAX))
    }

    /// That many days earlier; the first day when there are not as many.
    #[must_use]
    pub fn earlier(self, days: u32) -> Self {
        Self(self.0.saturating_sub(days))
    }

    /// The day as people write it in English, such as "8 may 2023".
    pub fn in_words(self) -> String {
        const MONTHS: [&str; 12] = [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ];
        let (year, month, day) = self.civil();
        let month = MONTHS.iter().zip(1..).find(|(_name, number)| *number == month);
        format!("{day} {} {year}", month.map_or("", |(name, _number)| name))
    }

    /// Year, month and day of the month: `civil_from_days` of Howard Hinnant's "chrono-Compatible
    /// Low-Level Date Algorithms". Its years begin in March, so that the leap day comes last.
    fn civil(self) -> (u64, u64, u64) {
        let days = u64::from(self.0) + 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        (era * 400 + year_of_era + u64::from(month <= 2), month, day)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_as_dates() {
        let check = |day: u32, expect: &str| assert_eq!(Day(day).to_string(), expect);
        assert_eq!(Day(19_485).in_words(), "8 may 2023");
        check(0, "1970-01-01");
        check(58, "1970-02-28");
        check(59, "1970-03-01");
        check(789, "1972-02-29");
        check(11_016, "2000-02-29");
        check(20_786, "2026-11-29");
        check(47_540, "2100-02-28");
        check(47_541, "2100-03-01");
    }

    #[test]
    fn a_day_begins_at_midnight_utc() {
        let check = |ms: i64, expect: u32| assert_eq!(Day::of(TimestampMs(ms)), Day(expect));
        check(-1, 0);
        check(0, 0);
        check(86_399_999, 0);
        check(86_400_000, 1);
        check(i64::MAX, u32::MAX);
    }
}
