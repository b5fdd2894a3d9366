//! Lines of a given width, and numbers as people read them.

use std::time::Duration;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::sanitize;

const ELLIPSIS: &str = "…";

/// Returns a text as one inert line of at most `width` terminal columns.
///
/// White space of any length becomes one space. A longer line is cut between graphemes and ends in "…".
pub fn one_line(text: &str, width: usize) -> String {
    let mut line = String::new();
    let mut columns = 0;
    // End and width of the longest prefix that leaves room for the ellipsis.
    let mut fits = 0;
    let words = text.split_whitespace().enumerate();
    let spaced = words.flat_map(|(index, word)| [if index == 0 { "" } else { " " }, word]);
    for part in spaced {
        for grapheme in sanitize(part).graphemes(true) {
            columns += grapheme.width();
            if columns > width {
                line.truncate(fits);
                line.push_str(if width == 0 { "" } else { ELLIPSIS });
                return line;
            }
            line.push_str(grapheme);
            if columns < width {
                fits = line.len();
            }
        }
    }
    line
}

/// Returns a line of a text as one inert row of at most `width` terminal columns.
///
/// Unlike [`one_line`] it keeps spaces, so that code stays code: a tab goes to the next multiple of
/// four. A longer line is cut between graphemes and ends in "…".
pub fn one_row(line: &str, width: usize) -> String {
    let mut row = String::new();
    let mut columns = 0;
    let mut fits = 0;
    for grapheme in sanitize(line).graphemes(true) {
        let (text, wide) = match grapheme {
            "\t" => ("    ".get(columns % 4..).unwrap_or_default(), 4 - columns % 4),
            "\n" => (" ", 1),
            other => (other, other.width()),
        };
        columns += wide;
        if columns > width {
            row.truncate(fits);
            row.push_str(if width == 0 { "" } else { ELLIPSIS });
            return row;
        }
        row.push_str(text);
        if columns < width {
            fits = row.len();
        }
    }
    row
}

/// Returns a duration in the two units that matter, such as "850 ms", "12.3 s" or "2 h 05 min".
pub fn human_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => format!("{} ms", duration.as_millis()),
        1..60 => format!("{seconds}.{} s", duration.subsec_millis() / 100),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {:02} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {:02} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

/// Returns a number with its digits in groups of three, such as "12,345".
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a number of bytes in binary units, such as "512 B" or "1.5 KiB".
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1_024 {
        return format!("{bytes} B");
    }
    let mut size = 1_024_u64;
    let mut units = UNITS.iter();
    let mut unit = units.next().copied().unwrap_or_default();
    // 1023.95 of a unit would be shown as 1024.0.
    while bytes >= size.saturating_mul(1_024) - size / 20 {
        let Some(larger) = units.next() else { break };
        (unit, size) = (larger, size.saturating_mul(1_024));
    }
    let tenths = (u128::from(bytes) * 10 + u128::from(size / 2)) / u128::from(size);
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// Returns an amount of money in billionths of a US dollar: to the cent, or below a dollar to the
/// second digit that counts, such as "$12.34", "$0.034" or "$0.000056". Digits behind are cut.
pub fn human_usd(nano_usd: u64) -> String {
    let (whole, rest) = (nano_usd / 1_000_000_000, nano_usd % 1_000_000_000);
    let digits = format!("{rest:09}");
    let first = digits.find(|digit| digit != '0').filter(|_| whole == 0).unwrap_or(0);
    let shown = digits.get(..(first + 2).clamp(2, 9)).unwrap_or_default();
    format!("${whole}.{shown}")
}

/// Returns how long ago a moment was, such as "5 min ago". Both are Unix times in milliseconds.
pub fn relative_time(at_ms: i64, now_ms: i64) -> String {
    let seconds = now_ms.saturating_sub(at_ms) / 1_000;
    let amount = match seconds.unsigned_abs() {
        0..10 => return "just now".to_owned(),
        seconds @ 10..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds @ 3_600..86_400 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    };
    if seconds < 0 { format!("in {amount}") } else { format!("{amount} ago") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn money_shows_what_counts() {
        let check = |nano_usd, expect| assert_eq!(human_usd(nano_usd), expect);
        check(0, "$0.00");
        check(12_345_678_901, "$12.34");
        check(5_000_000_000, "$5.00");
        check(340_000_000, "$0.34");
        check(34_567_000, "$0.034");
        check(56_789, "$0.000056");
        check(5, "$0.000000005");
    }

    #[test]
    fn en_01_a_line_is_cut_between_graphemes_by_display_width() {
        let check = |text: &str, width: usize, expect: &str| {
            assert_eq!(one_line(text, width), expect, "{text:?} in {width}");
        };
        check("short", 10, "short");
        check("exactly ten", 11, "exactly ten");
        check("exactly ten", 10, "exactly t…");
        check("  two\n\n lines\t", 20, "two lines");
        check("a\u{1b}[2J", 20, "a\\u{1b}[2J");
        check("日本語の題名", 7, "日本語…");
        check("日本語の題名", 6, "日本…");
        check("aaa👩‍👩‍👧‍👦b", 5, "aaa…");
        check("aaae\u{301}b", 4, "aaa…");
        check("ab", 1, "…");
        check("ab", 0, "");
        check("日", 1, "…");
    }

    #[test]
    fn en_01_a_row_keeps_its_spaces_and_is_cut_between_graphemes() {
        let check = |text: &str, width: usize, expect: &str| {
            assert_eq!(one_row(text, width), expect, "{text:?} in {width}");
        };
        check("  if a  {", 20, "  if a  {");
        check("\ta\tb", 20, "    a   b");
        check("\ta", 5, "    a");
        check("\tab", 5, "    …");
        check("\t\ta", 6, "    …");
        check("a\u{202e}b\u{1b}[2J", 40, "a\\u{202e}b\\u{1b}[2J");
        check("日本語の題名", 7, "日本語…");
        check("日本語の題名", 6, "日本…");
        check("ab", 0, "");
    }

    proptest! {
        #[test]
        fn a_line_is_never_wider_than_asked(text in "[\t\\PC]{0,40}", width in 0_usize..30) {
            prop_assert!(one_line(&text, width).width() <= width);
            prop_assert!(one_row(&text, width).width() <= width);
        }
    }

    #[test]
    fn durations_show_the_units_that_matter() {
        let check = |ms, expect| assert_eq!(human_duration(Duration::from_millis(ms)), expect);
        check(0, "0 ms");
        check(999, "999 ms");
        check(1_000, "1.0 s");
        check(12_345, "12.3 s");
        check(125_000, "2 min 05 s");
        check(7_500_000, "2 h 05 min");
        check(93_600_000, "1 d 02 h");
    }

    #[test]
    fn long_numbers_are_grouped() {
        let check = |number, expect| assert_eq!(grouped(number), expect);
        check(0, "0");
        check(999, "999");
        check(1_000, "1,000");
        check(12_345_678, "12,345,678");
        check(u64::MAX, "18,446,744,073,709,551,615");
    }

    #[test]
    fn bytes_show_binary_units() {
        let check = |bytes, expect| assert_eq!(human_bytes(bytes), expect);
        check(0, "0 B");
        check(1_023, "1023 B");
        check(1_024, "1.0 KiB");
        check(1_536, "1.5 KiB");
        check(1_048_575, "1.0 MiB");
        check(5 << 30, "5.0 GiB");
        check(u64::MAX, "16.0 EiB");
    }

    #[test]
    fn times_are_told_from_now() {
        let check = |at, now, expect| assert_eq!(relative_time(at, now), expect);
        check(0, 9_999, "just now");
        check(0, 10_000, "10 s ago");
        check(0, 300_000, "5 min ago");
        check(0, 7_200_000, "2 h ago");
        check(0, 259_200_000, "3 d ago");
        check(300_000, 0, "in 5 min");
        check(i64::MIN, i64::MAX, "106751991167 d ago");
    }
}
