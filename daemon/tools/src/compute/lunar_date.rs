//! Dates of the Chinese calendar.
//!
//! The calendar is ICU4X's, which holds to GB/T 33661-2017 and the published tables. What it does
//! not know, the solar terms, is in `solar_term`.

mod solar_term;

use agentd_domain::{Action, Capabilities, ToolResult, cut_line};
use async_trait::async_trait;
use icu_calendar::cal::ChineseTraditional;
use icu_calendar::types::Month;
use icu_calendar::{Date, Iso};
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{About, Rank, ToolContext, TypedTool};
use solar_term::solar_term;

/// Years for which the tables hold.
const YEARS: std::ops::RangeInclusive<i32> = 1900..=2100;

/// How much of a wrong date is shown, in characters.
const MAX_SHOWN: usize = 40;

/// The ten stems, the twelve branches and their animals, each from the first year of the cycle.
const STEMS: [&str; 10] = ["甲", "乙", "丙", "丁", "戊", "己", "庚", "辛", "壬", "癸"];
const BRANCHES: [(&str, &str); 12] = [
    ("子", "Rat"),
    ("丑", "Ox"),
    ("寅", "Tiger"),
    ("卯", "Rabbit"),
    ("辰", "Dragon"),
    ("巳", "Snake"),
    ("午", "Horse"),
    ("未", "Goat"),
    ("申", "Monkey"),
    ("酉", "Rooster"),
    ("戌", "Dog"),
    ("亥", "Pig"),
];
const MONTHS: [&str; 12] = ["正", "二", "三", "四", "五", "六", "七", "八", "九", "十", "冬", "腊"];
const TENS: [&str; 4] = ["初", "十", "廿", "三"];
const DIGITS: [&str; 10] = ["十", "一", "二", "三", "四", "五", "六", "七", "八", "九"];

/// Arguments of lunar_date.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Such as `2026-02-17`; a lunar date in the same form, with `,L` after it in a leap month. Left
    /// out: today.
    #[schemars(length(min = 1, max = 40))]
    date: Option<String>,
    /// True: date is a lunar one.
    #[serde(default)]
    is_lunar: bool,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct LunarDate;

#[async_trait]
impl TypedTool for LunarDate {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "lunar_date",
            description: "Converts a date to the Chinese lunar calendar or back: year of the cycle, \
                          zodiac animal, month, day and solar term (农历).",
            // Today is another day tomorrow.
            capabilities: Capabilities { cacheable: false, ..Capabilities::PURE },
            aliases: &[],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        // Days of this calendar begin at midnight in China.
        let zone = TimeZone::fixed(Offset::constant(8));
        let date = match (arguments.date, Timestamp::from_millisecond(ctx.clock.now().0)) {
            (Some(date), _) => date,
            (None, Ok(now)) => now.to_zoned_datetime(zone).date().to_string(),
            (None, Err(_out_of_range)) => {
                return ToolResult::fatal(
                    "CLOCK_UNREADABLE",
                    "The clock of the machine is not set.",
                );
            }
        };
        convert(&date, arguments.is_lunar).unwrap_or_else(|refusal| refusal)
    }
}

fn convert(text: &str, is_lunar: bool) -> Result<ToolResult, ToolResult> {
    let invalid = |why: &str| {
        let shown: String = text.chars().filter(|c| !c.is_control()).collect();
        ToolResult::fatal("INVALID_DATE", format!("date: '{}' {why}.", cut_line(&shown, MAX_SHOWN)))
    };
    let (day_text, is_leap) = match text.trim().split_once(',') {
        Some((day, mark)) if mark.trim().eq_ignore_ascii_case("l") => (day, true),
        Some(_) => return Err(invalid("is no date; write such as `2025-06-01,L`")),
        None => (text.trim(), false),
    };
    let (year, month, day) =
        numbers(day_text).ok_or_else(|| invalid("is no date; write such as `2026-01-31`"))?;
    if !YEARS.contains(&year) {
        return Err(invalid("is outside the years 1900 to 2100"));
    }
    let lunar = if is_lunar {
        if !(1..=12).contains(&month) {
            return Err(invalid("has no month between 1 and 12"));
        }
        let month = if is_leap { Month::leap(month) } else { Month::new(month) };
        Date::try_new_chinese_traditional(year, month, day).map_err(|_none| {
            invalid("is no date of the lunar calendar, which has no such month or day")
        })?
    } else if is_leap {
        return Err(invalid("has a leap month, which only lunar dates have: set is_lunar"));
    } else {
        Date::try_new_iso(year, month, day)
            .map_err(|_none| invalid("is no date that exists"))?
            .to_calendar(ChineseTraditional::new())
    };
    Ok(ToolResult::success(told(lunar)))
}

/// Year, month and day.
fn numbers(text: &str) -> Option<(i32, u8, u8)> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let is_date = parts.next().is_none();
    is_date.then_some((
        year.trim().parse().ok()?,
        month.trim().parse().ok()?,
        day.trim().parse().ok()?,
    ))
}

fn told(lunar: Date<ChineseTraditional>) -> String {
    let gregorian: Date<Iso> = lunar.to_calendar(Iso);
    let cycle = lunar.cyclic_year();
    let from_first = usize::from(cycle.year).saturating_sub(1);
    let stem = STEMS.get(from_first % STEMS.len()).copied().unwrap_or_default();
    let (branch, animal) = BRANCHES.get(from_first % BRANCHES.len()).copied().unwrap_or_default();
    let month = lunar.month();
    let (number, is_leap) = (month.number(), month.to_input().is_leap());
    let day = lunar.day_of_month().0;
    let name = MONTHS.get(usize::from(number).saturating_sub(1)).copied().unwrap_or_default();
    let leap = if is_leap { ("leap ", "闰") } else { ("", "") };
    let mut lines = vec![
        format!(
            "Gregorian: {:04}-{:02}-{:02}, {:?}",
            gregorian.era_year().year,
            gregorian.month().number(),
            gregorian.day_of_month().0,
            gregorian.weekday()
        ),
        format!(
            "lunar: {}-{number:02}-{day:02}{}",
            cycle.related_iso,
            if is_leap { ",L" } else { "" }
        ),
        format!(
            "{}month {number}, day {day} of {} ({}{name}月{})",
            leap.0,
            lunar.days_in_month(),
            leap.1,
            day_name(day)
        ),
        format!("year: {stem}{branch}, {animal}, {} months", lunar.months_in_year()),
    ];
    lines.extend(solar_term(lunar.to_rata_die()).map(|term| format!("solar term: {term}")));
    lines.join("\n")
}

/// The Chinese name of a day of the month.
fn day_name(day: u8) -> String {
    let (tens, ones) = match day {
        10 => (0, 0),
        20 | 30 => return format!("{}十", if day == 20 { "二" } else { "三" }),
        _ => (usize::from(day / 10), usize::from(day % 10)),
    };
    let name = |names: &[&'static str], at: usize| names.get(at).copied().unwrap_or_default();
    format!("{}{}", name(&TENS, tens), name(&DIGITS, ones))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(date: &str, is_lunar: bool, expect: &str) {
        assert_eq!(convert(date, is_lunar).expect("a date").output, expect);
    }

    #[test]
    fn dates_are_those_of_the_published_calendar() {
        let new_year = "Gregorian: 2026-02-17, Tuesday\nlunar: 2026-01-01\n\
                        month 1, day 1 of 30 (正月初一)\nyear: 丙午, Horse, 12 months";
        check("2026-02-17", false, new_year);
        check("2026-1-1", true, new_year);
        check(
            "2025-07-25",
            false,
            "Gregorian: 2025-07-25, Friday\nlunar: 2025-06-01,L\n\
             leap month 6, day 1 of 29 (闰六月初一)\nyear: 乙巳, Snake, 13 months",
        );
        check(
            "2024-12-29",
            true,
            "Gregorian: 2025-01-28, Tuesday\nlunar: 2024-12-29\n\
             month 12, day 29 of 29 (腊月廿九)\nyear: 甲辰, Dragon, 12 months",
        );
    }

    #[test]
    fn a_leap_month_is_another_than_the_month_before_it() {
        let of = |date| convert(date, true).expect("a date").output;
        assert!(of("2023-02-01").starts_with("Gregorian: 2023-02-20,"), "{}", of("2023-02-01"));
        assert!(of("2023-02-01,L").starts_with("Gregorian: 2023-03-22,"), "{}", of("2023-02-01,L"));
    }

    #[test]
    fn every_day_goes_there_and_back() {
        let first = Date::try_new_iso(1900, 2, 1).expect("a date").to_rata_die();
        for days in (0_i64..73_000).step_by(97) {
            let iso = Date::from_rata_die(first + days, Iso);
            let lunar = iso.to_calendar(ChineseTraditional::new());
            let text = told(lunar);
            let written = text.lines().nth(1).and_then(|line| line.strip_prefix("lunar: "));
            let back = convert(written.expect("a lunar date"), true).expect(&text).output;
            assert_eq!(back, text);
        }
    }

    #[test]
    fn what_is_no_date_is_refused_by_what_is_wrong() {
        let check = |date: &str, is_lunar: bool, expect: &str| {
            let refused = convert(date, is_lunar).expect_err(date);
            assert_eq!(refused.error_code, "INVALID_DATE");
            assert!(refused.output.contains(expect), "{refused:?}");
        };
        check("2025-02-29", false, "no date that exists");
        check("2025-13-01", true, "no month");
        check("2025-05-01,L", true, "no date of the lunar calendar");
        check("2025-06-30,L", true, "no date of the lunar calendar");
        check("2025-06-01,L", false, "is_lunar");
        check("2025-06-01,X", true, "no date");
        check("1700-01-01", false, "1900 to 2100");
        check("tomorrow", false, "no date");
        check("2025-01-01-01", false, "no date");
    }
}
