//! What time it is.

use agentd_domain::{Action, Capabilities, TimestampMs, ToolResult, cut_line};
use async_trait::async_trait;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::nearest::{did_you_mean, nearest};
use crate::{About, ToolContext, TypedTool};

/// How many names are suggested for a wrong one.
const SUGGESTIONS: usize = 3;

/// Arguments of time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Such as `Europe/Berlin`; left out: the machine's.
    timezone: Option<String>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Time;

#[async_trait]
impl TypedTool for Time {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "time",
            description: "Tells the present date and time in UTC and in a time zone.",
            // Another call a moment later has another answer.
            capabilities: Capabilities { cacheable: false, ..Capabilities::PURE },
            aliases: &["get_datetime", "getCurrentTime", "toolkit_gettime"],
        }
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        match zone(arguments.timezone.as_deref()) {
            Ok((name, zone)) => tell(ctx.clock.now(), &name, zone),
            Err(problem) => ToolResult::fatal("UNKNOWN_TIMEZONE", problem),
        }
    }
}

fn tell(now: TimestampMs, name: &str, zone: TimeZone) -> ToolResult {
    let Ok(now) = Timestamp::from_millisecond(now.0) else {
        return ToolResult::fatal("CLOCK_UNREADABLE", "The clock of the machine is not set.");
    };
    let line = |time: ZonedDateTime| time.strftime("%Y-%m-%d %H:%M:%S %:z, %A").to_string();
    ToolResult::success(format!(
        "UTC: {}\n{name}: {}\nUnix time: {}",
        line(now.to_zoned_datetime(TimeZone::UTC)),
        line(now.to_zoned_datetime(zone)),
        now.as_second()
    ))
}

/// The zone and how it is called.
pub(crate) fn zone(wanted: Option<&str>) -> Result<(String, TimeZone), String> {
    let Some(wanted) = wanted.map(str::trim).filter(|name| !name.is_empty()) else {
        let zone = TimeZone::system();
        let name = match zone.iana_name() {
            Some(name) => format!("Local time ({name})"),
            None => "Local time".to_owned(),
        };
        return Ok((name, zone));
    };
    match TimeZone::get(wanted) {
        Ok(zone) => Ok((zone.iana_name().unwrap_or(wanted).to_owned(), zone)),
        Err(_unknown) => {
            let near = similar(wanted);
            let near: Vec<&str> = near.iter().map(String::as_str).collect();
            Err(format!(
                "There is no time zone '{}'{} Names are those of the IANA database, such as \
                 'Europe/Berlin'.",
                cut_line(wanted, 60),
                if near.is_empty() { ".".to_owned() } else { did_you_mean(&near) }
            ))
        }
    }
}

/// Zones of a city, then zones spelled alike.
fn similar(wanted: &str) -> Vec<String> {
    let names: Vec<String> = jiff::tz::db().available().map(|name| name.to_string()).collect();
    let place = wanted.replace(' ', "_").to_lowercase();
    let is_place =
        |name: &&String| name.rsplit('/').next().is_some_and(|city| city.to_lowercase() == place);
    let mut near: Vec<String> = names.iter().filter(is_place).cloned().collect();
    near.extend(
        nearest(&place, names.iter().map(String::as_str), SUGGESTIONS)
            .into_iter()
            .map(str::to_owned),
    );
    near.dedup();
    near.truncate(SUGGESTIONS);
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_told_in_utc_and_in_the_zone() {
        let check = |at: i64, wanted: &str, expect: &str| {
            let (name, zone) = zone(Some(wanted)).expect("a zone");
            assert_eq!(tell(TimestampMs(at), &name, zone), ToolResult::success(expect));
        };
        check(
            1_767_323_045_999,
            "Asia/Tokyo",
            "UTC: 2026-01-02 03:04:05 +00:00, Friday\n\
             Asia/Tokyo: 2026-01-02 12:04:05 +09:00, Friday\nUnix time: 1767323045",
        );
        // Summer time.
        check(
            1_751_328_000_000,
            "europe/berlin",
            "UTC: 2025-07-01 00:00:00 +00:00, Tuesday\n\
             Europe/Berlin: 2025-07-01 02:00:00 +02:00, Tuesday\nUnix time: 1751328000",
        );
    }

    #[test]
    fn without_a_zone_local_time_is_told() {
        for wanted in [None, Some(""), Some("  ")] {
            let (name, _zone) = zone(wanted).expect("the system zone");
            assert!(name.starts_with("Local time"), "{name}");
        }
    }

    #[test]
    fn an_unknown_zone_is_answered_with_near_names() {
        let check = |wanted: &str, expect: &str| {
            let problem = zone(Some(wanted)).expect_err(wanted);
            assert!(problem.contains(expect), "{wanted}: {problem}");
        };
        check("Tokyo", "did you mean 'Asia/Tokyo'");
        check("new york", "'America/New_York'");
        check("Europe/Berlni", "'Europe/Berlin'");
        check("Mars/Olympus_Mons", "no time zone 'Mars/Olympus_Mons'.");
        check("../../etc/passwd", "no time zone");
    }

    #[test]
    fn a_clock_out_of_range_is_an_error_and_not_a_panic() {
        assert_eq!(
            tell(TimestampMs(i64::MAX), "UTC", TimeZone::UTC).error_code,
            "CLOCK_UNREADABLE"
        );
    }
}
