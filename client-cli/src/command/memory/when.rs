//! Times on the command line: in a while, or a date here.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use agentd_shared::input::duration;

/// Reads `90m`, `2d`, `2026-12-24` or `2026-12-24 18:00` as Unix milliseconds.
///
/// # Errors
/// A text for the user when it is none of these.
pub(super) fn parse(text: &str) -> Result<i64, String> {
    at(text, agentd_shared::client_ids::now_ms(), &TimeZone::system())
}

fn at(text: &str, now_ms: u64, zone: &TimeZone) -> Result<i64, String> {
    const FORM: &str = "give how long from now, such as 2h or 30d, or a date such as 2026-12-24 or \"2026-12-24 18:00\"";
    let text = text.trim();
    if let Ok(after) = duration::parse(text) {
        let at = u128::from(now_ms) + after.as_millis();
        return i64::try_from(at).map_err(|_far| "that is too far away".to_owned());
    }
    // A date alone is its first moment.
    let time: DateTime = text.parse().map_err(|_no_time| FORM.to_owned())?;
    let zoned = time.to_zoned_datetime(zone.clone()).map_err(|_out_of_range| FORM.to_owned())?;
    Ok(zoned.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_durations_or_dates() {
        let check = |text: &str, expect: Option<i64>| {
            assert_eq!(at(text, 1_000, &TimeZone::UTC).ok(), expect, "{text}");
        };
        check("90s", Some(91_000));
        check("1970-01-02", Some(86_400_000));
        check("1970-01-02 01:30", Some(91_800_000));
        check("1970-01-02T01:30", Some(91_800_000));
        for wrong in ["", "soon", "12", "1970-13-01", "tomorrow 18:00"] {
            check(wrong, None);
        }
    }
}
