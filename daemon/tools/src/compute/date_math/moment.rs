//! A day, or a time in a zone, from the text that names it.

use agentd_domain::{ToolResult, cut_line};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};

/// How much of a wrong date is shown, in characters.
const MAX_SHOWN: usize = 60;

/// A day or a time.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Moment {
    /// A day of the calendar, wherever.
    Day(Date),
    /// A moment in a zone.
    Time(ZonedDateTime),
}

impl Moment {
    /// As a time; a day begins in the zone `own`.
    pub(super) fn at(&self, own: &TimeZone) -> Result<ZonedDateTime, jiff::Error> {
        match self {
            Self::Day(day) => day.to_zoned_datetime(own.clone()),
            Self::Time(time) => Ok(time.clone()),
        }
    }
}

/// Reads the field `name`. What names no zone is in the zone `own`.
pub(super) fn read(
    name: &str,
    text: &str,
    own: &TimeZone,
    now: Timestamp,
) -> Result<Moment, ToolResult> {
    let text = text.trim();
    parse(text, own, now).ok_or_else(|| {
        let shown: String = text.chars().filter(|c| !c.is_control()).collect();
        ToolResult::fatal(
            "INVALID_DATE",
            format!(
                "{name}: '{}' is no date that exists. Write such as `2026-01-31`, \
                 `2026-01-31T10:00`, `2026-01-31T10:00:00+02:00`, `@1767323045`, `today` or `now`.",
                cut_line(&shown, MAX_SHOWN)
            ),
        )
    })
}

fn parse(text: &str, own: &TimeZone, now: Timestamp) -> Option<Moment> {
    let here = now.to_zoned_datetime(own.clone());
    match text.to_ascii_lowercase().as_str() {
        "now" => return Some(Moment::Time(here)),
        "today" => return Some(Moment::Day(here.date())),
        "yesterday" => return here.date().yesterday().ok().map(Moment::Day),
        "tomorrow" => return here.date().tomorrow().ok().map(Moment::Day),
        _ => {}
    }
    if let Some(seconds) = text.strip_prefix('@') {
        let at = Timestamp::from_second(seconds.parse().ok()?).ok()?;
        return Some(Moment::Time(at.to_zoned_datetime(own.clone())));
    }
    // From the fullest form to the barest: each parser takes the fuller ones too and forgets.
    if text.contains('[')
        && let Ok(time) = text.parse::<ZonedDateTime>()
    {
        return Some(Moment::Time(time));
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(Moment::Time(at.to_zoned_datetime(own.clone())));
    }
    if text.contains(':') || text.contains('T') {
        let civil: DateTime = text.parse().ok()?;
        return civil.to_zoned_datetime(own.clone()).ok().map(Moment::Time);
    }
    text.parse::<Date>().ok().map(Moment::Day)
}
