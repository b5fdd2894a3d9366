//! The solar term that begins on a day.
//!
//! A term begins when the Sun's apparent longitude reaches a multiple of 15 degrees, on the day on
//! which it does so in China (UTC+8). The longitude is that of Meeus, Astronomical Algorithms,
//! chapter 25, good to 0.01 degrees: about a quarter of an hour. A term that begins so near to
//! midnight may be told on the day beside its own.

use icu_calendar::types::RataDie;

/// From the vernal equinox on.
const TERMS: [&str; 24] = [
    "春分", "清明", "谷雨", "立夏", "小满", "芒种", "夏至", "小暑", "大暑", "立秋", "处暑", "白露",
    "秋分", "寒露", "霜降", "立冬", "小雪", "大雪", "冬至", "小寒", "大寒", "立春", "雨水", "惊蛰",
];

/// Julian day of midnight (UT) at the beginning of day 0 of Rata Die.
const RATA_DIE_ZERO: f64 = 1_721_424.5;

/// China's midnight before that of UT, and dynamical time before UT in these years, in days.
const CHINA: f64 = 8.0 / 24.0;
const DELTA_T: f64 = 69.0 / 86_400.0;

/// The term that begins on this day.
pub(super) fn solar_term(day: RataDie) -> Option<&'static str> {
    let days = i32::try_from(day.to_i64_date()).ok()?;
    let midnight = f64::from(days) + RATA_DIE_ZERO - CHINA + DELTA_T;
    let sector = |julian_day| (longitude(julian_day) / 15.0).floor();
    let next = sector(midnight + 1.0);
    let begins = next.total_cmp(&sector(midnight)).is_ne();
    // Small and not negative: the longitude is below 360 degrees.
    (0_u8..24)
        .zip(TERMS)
        .find(|(at, _)| begins && f64::from(*at).total_cmp(&next).is_eq())
        .map(|(_, term)| term)
}

/// The Sun's apparent longitude in degrees, 0 to 360.
fn longitude(julian_day: f64) -> f64 {
    let t = (julian_day - 2_451_545.0) / 36_525.0;
    let mean_longitude = 280.466_46 + 36_000.769_83 * t + 0.000_303_2 * t * t;
    let anomaly = (357.529_11 + 35_999.050_29 * t - 0.000_153_7 * t * t).to_radians();
    let center = (1.914_602 - 0.004_817 * t - 0.000_014 * t * t) * anomaly.sin()
        + (0.019_993 - 0.000_101 * t) * (2.0 * anomaly).sin()
        + 0.000_289 * (3.0 * anomaly).sin();
    let node = (125.04 - 1_934.136 * t).to_radians();
    (mean_longitude + center - 0.005_69 - 0.004_78 * node.sin()).rem_euclid(360.0)
}

#[cfg(test)]
mod tests {
    use icu_calendar::Date;

    use super::*;

    #[test]
    fn terms_begin_on_the_days_of_the_almanac() {
        let term = |year, month, day| {
            solar_term(Date::try_new_iso(year, month, day).expect("a date").to_rata_die())
        };
        assert_eq!(term(2024, 4, 4), Some("清明"));
        assert_eq!(term(2025, 12, 21), Some("冬至"));
        assert_eq!(term(2026, 2, 4), Some("立春"));
        assert_eq!(term(2026, 3, 20), Some("春分"));
        assert_eq!(term(2026, 2, 5), None);
        // Each year has each of them once.
        for year in [1900, 1957, 2000, 2033, 2100] {
            let first = Date::try_new_iso(year, 1, 1).expect("a date").to_rata_die();
            let mut seen: Vec<_> = (0..365).filter_map(|days| solar_term(first + days)).collect();
            assert_eq!(seen.len(), 24, "{year}");
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), 24, "{year}");
        }
    }
}
