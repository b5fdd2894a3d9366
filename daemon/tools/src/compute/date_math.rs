//! Calculating with dates: models are bad at it, and calendars have exceptions.

mod moment;

use agentd_domain::{Action, Capabilities, ToolResult, ToolStatus, cut_line};
use async_trait::async_trait;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp, Unit, ZonedDateTime};
use schemars::JsonSchema;
use serde::Deserialize;

use self::moment::{Moment, read};
use crate::system::time::zone;
use crate::{About, Rank, ToolContext, TypedTool};

/// How much of a wrong span is shown, in characters.
const MAX_SHOWN: usize = 60;

/// What is calculated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Operation {
    Difference,
    Add,
    Describe,
}

/// Arguments of date_math.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// `difference` from `date` to `to`, `add` `span` to `date`, or `describe` `date`: weekday, ISO
    /// week, day of the year, Unix time.
    operation: Operation,
    /// `2026-01-31`, `2026-01-31T10:00`, `2026-01-31T10:00:00+02:00`, `@1767323045` (Unix time),
    /// `today` or `now`.
    #[schemars(length(min = 1, max = 100))]
    date: String,
    /// For difference: the other date; left out: today.
    #[schemars(length(min = 1, max = 100))]
    to: Option<String>,
    /// For add: `3 months 2 days`, `-90 minutes` or `P1Y2M`.
    #[schemars(length(min = 1, max = 100))]
    span: Option<String>,
    /// IANA name of the zone of times that name none; left out: the zone of the machine.
    timezone: Option<String>,
    /// IANA name of a zone in which the result is told too.
    show_in: Option<String>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct DateMath;

#[async_trait]
impl TypedTool for DateMath {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "date_math",
            description: "Calculates with dates and times: the difference of two, a span added to \
                          one, what weekday and week it is, the same moment in another zone.",
            // `today` is another day tomorrow.
            capabilities: Capabilities { cacheable: false, ..Capabilities::PURE },
            aliases: &[],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        match Timestamp::from_millisecond(ctx.clock.now().0) {
            Ok(now) => calculate(&arguments, now).unwrap_or_else(|refusal| refusal),
            Err(_out_of_range) => {
                ToolResult::fatal("CLOCK_UNREADABLE", "The clock of the machine is not set.")
            }
        }
    }
}

fn calculate(arguments: &Arguments, now: Timestamp) -> Result<ToolResult, ToolResult> {
    let zone_of = |name: Option<&str>| {
        zone(name)
            .map(|(_name, zone)| zone)
            .map_err(|problem| ToolResult::fatal("UNKNOWN_TIMEZONE", problem))
    };
    let own = zone_of(arguments.timezone.as_deref())?;
    let date = read("date", &arguments.date, &own, now)?;
    let show_in = match arguments.show_in.as_deref() {
        Some(name) => Some(zone_of(Some(name))?),
        None => None,
    };
    match arguments.operation {
        Operation::Describe => describe(&date, &own, show_in),
        Operation::Add => {
            let Some(text) = arguments.span.as_deref() else {
                return Err(missing("span", "add", "such as `3 months 2 days`"));
            };
            describe(&add(&date, text, &own)?, &own, show_in)
        }
        Operation::Difference => {
            let to = read("to", arguments.to.as_deref().unwrap_or("today"), &own, now)?;
            difference(&date, &to, &own)
        }
    }
}

fn missing(field: &str, operation: &str, such: &str) -> ToolResult {
    ToolResult::fatal(
        "TOOL_ARGUMENT_VALIDATION_FAILED",
        format!("{field}: the operation {operation} needs it, {such}."),
    )
}

fn out_of_range(error: &jiff::Error) -> ToolResult {
    ToolResult::fatal(
        "DATE_OUT_OF_RANGE",
        format!("The result is outside the years -9999 to 9999: {error}."),
    )
}

fn add(date: &Moment, text: &str, own: &TimeZone) -> Result<Moment, ToolResult> {
    let span: Span = text.trim().parse().map_err(|_not_a_span| {
        ToolResult::fatal(
            "INVALID_SPAN",
            format!(
                "span: '{}' is not one. Write such as `3 months 2 days`, `-90 minutes`, `1 week` \
                 or `P1Y2M`.",
                cut_line(text, MAX_SHOWN)
            ),
        )
    })?;
    let has_time = span.fieldwise() != time_free(span).fieldwise();
    match date {
        // A day stays a day as long as nothing shorter is added.
        Moment::Day(day) if !has_time => {
            Ok(Moment::Day(day.checked_add(span).map_err(|error| out_of_range(&error))?))
        }
        _ => {
            let at = date.at(own).map_err(|error| out_of_range(&error))?;
            Ok(Moment::Time(at.checked_add(span).map_err(|error| out_of_range(&error))?))
        }
    }
}

/// The span's days and what is longer.
fn time_free(span: Span) -> Span {
    span.hours(0).minutes(0).seconds(0).milliseconds(0).microseconds(0).nanoseconds(0)
}

fn describe(
    moment: &Moment,
    own: &TimeZone,
    show_in: Option<TimeZone>,
) -> Result<ToolResult, ToolResult> {
    let at = moment.at(own).map_err(|error| out_of_range(&error))?;
    let day = at.date();
    let week = day.iso_week_date();
    let mut lines = vec![match moment {
        Moment::Day(day) => format!("date: {day}, {}", weekday(day.weekday())),
        Moment::Time(at) => format!("time: {}", line(at)),
    }];
    lines.push(format!("ISO week: {}-W{:02}", week.year(), week.week()));
    lines.push(format!("day of the year: {} of {}", day.day_of_year(), day.days_in_year()));
    if let Moment::Time(at) = moment {
        lines.push(format!("UTC: {}", line(&at.with_time_zone(TimeZone::UTC))));
    }
    lines.push(format!("Unix time: {}", at.timestamp().as_second()));
    if let Some(zone) = show_in {
        lines.push(format!("there: {}", line(&at.with_time_zone(zone))));
    }
    Ok(ToolResult::success(lines.join("\n")))
}

fn difference(from: &Moment, to: &Moment, own: &TimeZone) -> Result<ToolResult, ToolResult> {
    let range = |error: jiff::Error| out_of_range(&error);
    if let (Moment::Day(from), Moment::Day(to)) = (from, to) {
        let days = from.until(*to).map_err(range)?.get_days();
        let span = from.until((Unit::Year, *to)).map_err(range)?;
        return Ok(said(
            days == 0,
            format!(
                "from {from} ({}) to {to} ({})\ndays: {days}\nweeks: {} and {} days\n\
             calendar: {span:#}\nMondays to Fridays, the first day counted and the last not: {}",
                weekday(from.weekday()),
                weekday(to.weekday()),
                days / 7,
                days % 7,
                working_days(*from, *to, days),
            ),
        ));
    }
    let (from, to) = (from.at(own).map_err(range)?, to.at(own).map_err(range)?);
    let to_there = to.with_time_zone(from.time_zone().clone());
    let calendar = from.until((Unit::Year, &to_there)).map_err(range)?;
    let exact = from.duration_until(&to).as_secs();
    let hours = Span::new().try_seconds(exact).map_err(range)?;
    let relative = SpanRelativeTo::days_are_24_hours();
    let days = hours.total((Unit::Day, relative)).map_err(range)?;
    Ok(said(
        exact == 0,
        format!(
            "from {}\nto {}\nseconds: {exact}\ndays of 24 hours: {days:.4}\ncalendar: {calendar:#}",
            line(&from),
            line(&to)
        ),
    ))
}

/// No difference is an answer too.
fn said(is_nothing: bool, text: String) -> ToolResult {
    let note = if is_nothing { "\n[They are the same.]" } else { "" };
    ToolResult::new(ToolStatus::Success, text + note, "")
}

/// Days from `from` up to but not `to` that are neither Saturday nor Sunday; negative backwards.
fn working_days(from: Date, to: Date, days: i32) -> i32 {
    let (first, count) = if days < 0 { (to, -days) } else { (from, days) };
    let start = i32::from(first.weekday().to_monday_zero_offset());
    // Every whole week has five; the rest is less than a week.
    let rest = (0..count % 7).filter(|day| (start + day) % 7 < 5).count();
    let total = count / 7 * 5 + i32::try_from(rest).unwrap_or(0);
    if days < 0 { -total } else { total }
}

fn line(time: &ZonedDateTime) -> String {
    let zone = time.time_zone().iana_name().map(|name| format!(" ({name})")).unwrap_or_default();
    format!("{}{zone}", time.strftime("%Y-%m-%d %H:%M:%S %:z, %A"))
}

fn weekday(day: Weekday) -> &'static str {
    match day {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_767_323_045;

    fn ask(arguments: serde_json::Value) -> ToolResult {
        let arguments: Arguments = serde_json::from_value(arguments).expect("arguments");
        calculate(&arguments, Timestamp::from_second(NOW).expect("a time"))
            .unwrap_or_else(|refusal| refusal)
    }

    fn check(arguments: serde_json::Value, expect: &str) {
        let told = format!("{arguments}");
        assert_eq!(ask(arguments), ToolResult::success(expect), "{told}");
    }

    fn refused(arguments: serde_json::Value, code: &str, words: &str) {
        let result = ask(arguments);
        assert_eq!(result.error_code, code, "{result:?}");
        assert!(result.output.contains(words), "{result:?}");
    }

    #[test]
    fn the_difference_of_two_days_is_told_in_days_weeks_and_on_the_calendar() {
        check(
            serde_json::json!({"operation": "difference", "date": "2024-02-28", "to": "2024-03-01"}),
            "from 2024-02-28 (Wednesday) to 2024-03-01 (Friday)\ndays: 2\nweeks: 0 and 2 days\n\
             calendar: 2d\nMondays to Fridays, the first day counted and the last not: 2",
        );
        check(
            serde_json::json!({"operation": "difference", "date": "2026-01-16", "timezone": "UTC"}),
            "from 2026-01-16 (Friday) to 2026-01-02 (Friday)\ndays: -14\nweeks: -2 and 0 days\n\
             calendar: 14d ago\nMondays to Fridays, the first day counted and the last not: -10",
        );
    }

    #[test]
    fn the_difference_of_times_minds_the_change_of_the_clock() {
        check(
            serde_json::json!({"operation": "difference", "date": "2025-03-29T12:00",
                "to": "2025-03-30T12:00", "timezone": "Europe/Berlin"}),
            "from 2025-03-29 12:00:00 +01:00, Saturday (Europe/Berlin)\n\
             to 2025-03-30 12:00:00 +02:00, Sunday (Europe/Berlin)\n\
             seconds: 82800\ndays of 24 hours: 0.9583\ncalendar: 1d",
        );
    }

    #[test]
    fn a_span_is_added_and_short_months_end_on_their_last_day() {
        check(
            serde_json::json!({"operation": "add", "date": "2024-01-31", "span": "1 month",
                "timezone": "UTC"}),
            "date: 2024-02-29, Thursday\nISO week: 2024-W09\nday of the year: 60 of 366\n\
             Unix time: 1709164800",
        );
        check(
            serde_json::json!({"operation": "add", "date": "2025-12-31", "span": "-36 hours",
                "timezone": "UTC"}),
            "time: 2025-12-29 12:00:00 +00:00, Monday (UTC)\nISO week: 2026-W01\n\
             day of the year: 363 of 365\nUTC: 2025-12-29 12:00:00 +00:00, Monday (UTC)\n\
             Unix time: 1767009600",
        );
    }

    #[test]
    fn a_moment_is_told_in_another_zone() {
        check(
            serde_json::json!({"operation": "describe", "date": "2026-07-01T09:00:00Z",
                "timezone": "UTC", "show_in": "Asia/Tokyo"}),
            "time: 2026-07-01 09:00:00 +00:00, Wednesday (UTC)\nISO week: 2026-W27\n\
             day of the year: 182 of 365\nUTC: 2026-07-01 09:00:00 +00:00, Wednesday (UTC)\n\
             Unix time: 1782896400\nthere: 2026-07-01 18:00:00 +09:00, Wednesday (Asia/Tokyo)",
        );
    }

    #[test]
    fn working_days_are_counted_without_walking_through_them() {
        let day = |text: &str| text.parse::<Date>().expect("a date");
        for start in 1..=7_i8 {
            for count in 0..30 {
                let from = jiff::civil::date(2026, 6, start);
                let to = from.checked_add(Span::new().days(count)).expect("in range");
                let walked = (0..count)
                    .filter(|add| {
                        let at = from.checked_add(Span::new().days(*add)).expect("in range");
                        at.weekday().to_monday_zero_offset() < 5
                    })
                    .count();
                let walked = i32::try_from(walked).expect("small");
                assert_eq!(working_days(from, to, count), walked, "{from} {count}");
                assert_eq!(working_days(to, from, -count), -walked, "{from} {count}");
            }
        }
        let (first, last) = (day("-009999-01-01"), day("9999-12-31"));
        let days = first.until(last).expect("in range").get_days();
        assert!(working_days(first, last, days) > 5_000_000);
    }

    #[test]
    fn what_is_no_date_is_told_with_the_field_and_the_remedy() {
        let date = |date: &str| serde_json::json!({"operation": "describe", "date": date});
        refused(date("2025-02-29"), "INVALID_DATE", "date: '2025-02-29'");
        refused(date("31.12.2025"), "INVALID_DATE", "2026-01-31T10:00");
        refused(date("\u{1b}[2J"), "INVALID_DATE", "date: ");
        refused(date("@99999999999999999"), "INVALID_DATE", "date: ");
        refused(
            serde_json::json!({"operation": "difference", "date": "today", "to": "soon"}),
            "INVALID_DATE",
            "to: 'soon'",
        );
        refused(
            serde_json::json!({"operation": "add", "date": "today"}),
            "TOOL_ARGUMENT_VALIDATION_FAILED",
            "span: ",
        );
        refused(
            serde_json::json!({"operation": "add", "date": "today", "span": "a while"}),
            "INVALID_SPAN",
            "'a while'",
        );
        refused(
            serde_json::json!({"operation": "add", "date": "9999-12-31", "span": "1 day"}),
            "DATE_OUT_OF_RANGE",
            "9999",
        );
        refused(
            serde_json::json!({"operation": "describe", "date": "now", "show_in": "Tokyo"}),
            "UNKNOWN_TIMEZONE",
            "Asia/Tokyo",
        );
    }
}
