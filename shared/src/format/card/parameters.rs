//! What a tool is called with, as `key=value` in one row.

use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::text::sanitize;

/// Columns that one value may take.
const VALUE_WIDTH: usize = 60;
/// Columns of a value that is short.
const SHORT_VALUE: usize = 12;
/// Columns of the shortest piece of a value that tells anything.
const SHORTEST: usize = 8;
/// Parameters that say most of a call.
const TELLING: [&str; 8] =
    ["path", "command", "argv", "pattern", "query", "url", "expression", "name"];
/// Columns for the number of parameters that are not shown.
const REST_WIDTH: usize = 9;

/// Which parameters are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// All that there is room for.
    All,
    /// Only what is short: the rest is what is shown of the call in another way.
    Short,
}

/// The parameters in at most `width` columns. What is cut says how many characters are left, and what
/// has no room how many parameters there are more.
pub(super) fn row(arguments_json: &str, which: Which, width: usize) -> String {
    let mut parameters: Vec<(String, String)> = match serde_json::from_str(arguments_json) {
        Ok(Value::Object(fields)) => fields
            .into_iter()
            .map(|(key, value)| (sanitize(&key).into_owned(), shown(value)))
            .collect(),
        // What the model wrote is no object; then it is shown as it is.
        _ if arguments_json.trim().is_empty() => Vec::new(),
        _ => return cut(&quoted(arguments_json), width),
    };
    if which == Which::Short {
        parameters
            .retain(|(key, value)| TELLING.contains(&key.as_str()) || value.width() <= SHORT_VALUE);
    }
    // A path says more than the text that goes there.
    parameters.sort_by_key(|(key, value)| {
        (value.width() > VALUE_WIDTH, !TELLING.contains(&key.as_str()))
    });
    let count = parameters.len();
    let mut row = String::new();
    for (index, (key, value)) in parameters.into_iter().enumerate() {
        let space = if index == 0 { "" } else { " " };
        let left = count - index;
        let reserved = if left > 1 { REST_WIDTH } else { 0 };
        let taken = row.width() + space.len() + key.width() + 1 + reserved;
        let room = width.saturating_sub(taken).min(VALUE_WIDTH);
        let longer = format!("{row}{space}{key}={}", cut(&value, room));
        // A mark may make the character before it wider, so that widths do not add up.
        if room < value.width().min(SHORTEST) || longer.width() + reserved > width {
            let rest = format!("{row}{space}+{left} more");
            if rest.width() <= width {
                row = rest;
            }
            break;
        }
        row = longer;
    }
    row
}

/// A value in one inert row.
fn shown(value: Value) -> String {
    match value {
        Value::String(text) => quoted(&text),
        other => sanitize(&other.to_string()).into_owned(),
    }
}

/// A text in one inert row: in quotes and with escapes where it would not be one word otherwise.
fn quoted(text: &str) -> String {
    let is_word =
        !text.is_empty() && !text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '"');
    if is_word {
        return sanitize(text).into_owned();
    }
    sanitize(&Value::from(text).to_string()).into_owned()
}

/// Cuts between graphemes, and says how many characters are left.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let total = text.chars().count();
    // The number is as wide as it can become.
    let room = width.saturating_sub(format!("…+{total}").width());
    let mut kept = String::new();
    let mut columns = 0;
    for grapheme in text.graphemes(true) {
        columns += grapheme.width();
        if columns > room {
            break;
        }
        kept.push_str(grapheme);
    }
    let left = total - kept.chars().count();
    let cut = format!("{kept}…+{left}");
    if cut.width() > width { String::new() } else { cut }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(arguments: &str, width: usize, expect: &str) {
        assert_eq!(row(arguments, Which::All, width), expect, "{arguments} in {width}");
    }

    #[test]
    fn parameters_are_key_and_value_in_one_row() {
        check(r#"{"path":"src/lib.rs","first_line":3}"#, 60, "path=src/lib.rs first_line=3");
        check(r#"{"command":"cargo test -q"}"#, 60, r#"command="cargo test -q""#);
        check(r#"{"text":"two\nlines","empty":""}"#, 60, r#"empty="" text="two\nlines""#);
        check(r#"{"edits":[{"old":"a b","new":"c"}]}"#, 60, r#"edits=[{"new":"c","old":"a b"}]"#);
        check("{}", 60, "");
        check("", 60, "");
        check("{\"broken", 60, r#""{\"broken""#);
    }

    #[test]
    fn long_values_come_last_and_say_how_much_is_left() {
        let text = "x".repeat(1_000);
        check(
            &format!(r#"{{"content":"{text}","path":"a.txt"}}"#),
            80,
            &format!("path=a.txt content={}…+946", "x".repeat(54)),
        );
        check(&format!(r#"{{"content":"{text}","path":"a.txt"}}"#), 24, "path=a.txt +1 more");
        check(r#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}"#, 20, "a=1 b=2 c=3 +3 more");
        check(r#"{"path":"src/lib.rs"}"#, 4, "");
    }

    #[test]
    fn what_hides_or_reorders_text_is_shown() {
        check("{\"path\":\"a\u{202e}cs.sr\"}", 60, "path=a\\u{202e}cs.sr");
        check("{\"k\u{200b}\":\"\\u001b[2J\"}", 60, "k\\u{200b}=\"\\u001b[2J\"");
        check("{\"text\":\"日本語の長い値です\"}", 16, "text=日本語の…+5");
    }

    #[test]
    fn en_01_a_mark_that_makes_the_row_wider_is_left_out_where_there_is_no_room() {
        let arguments = "{\"deaaaaaa\":\"\u{1cf00}\",\"b\":\"x\"}";
        for width in 0..40 {
            assert!(row(arguments, Which::All, width).width() <= width, "{width}");
        }
    }

    proptest! {
        #[test]
        fn a_row_is_never_wider_than_asked(
            keys in prop::collection::vec(("[a-z]{1,12}", "\\PC{0,90}"), 0..5),
            width in 0_usize..90,
        ) {
            let fields = keys.into_iter().map(|(key, value)| (key, Value::String(value)));
            let arguments = Value::Object(fields.collect()).to_string();
            prop_assert!(row(&arguments, Which::All, width).width() <= width);
        }
    }
}
