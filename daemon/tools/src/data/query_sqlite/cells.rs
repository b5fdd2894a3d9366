//! Values of a database as text: JSON, but for what JSON has no word for.

use agentd_domain::floor_char_boundary;
use rusqlite::types::ValueRef;

/// A value on one line. Text is cut at `most` bytes; of a blob the size is told.
pub(super) fn cell(value: ValueRef<'_>, most: usize) -> String {
    match value {
        ValueRef::Null => "null".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        // It has no number for what is not finite.
        ValueRef::Real(number) if number.is_infinite() => {
            if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
        }
        ValueRef::Real(number) => format!("{number:?}"),
        ValueRef::Text(bytes) => quoted(&String::from_utf8_lossy(bytes), most),
        ValueRef::Blob(bytes) => format!("<blob of {} bytes>", bytes.len()),
    }
}

fn quoted(text: &str, most: usize) -> String {
    let end = floor_char_boundary(text, most);
    let (head, rest) = text.split_at(end);
    let quoted = serde_json::Value::from(head);
    if rest.is_empty() {
        return quoted.to_string();
    }
    format!("{quoted} <and {} bytes more>", rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn en_02_values_are_shown_on_one_line_and_cut_between_characters() {
        let check = |value, expect: &str| assert_eq!(cell(value, 10), expect);
        check(ValueRef::Null, "null");
        check(ValueRef::Integer(i64::MIN), "-9223372036854775808");
        check(ValueRef::Real(1.0), "1.0");
        check(ValueRef::Real(f64::NEG_INFINITY), "-Infinity");
        check(ValueRef::Text(b"null"), "\"null\"");
        check(ValueRef::Text(b"a\n\"b\""), "\"a\\n\\\"b\\\"\"");
        check(ValueRef::Text("世界世界".as_bytes()), "\"世界世\" <and 3 bytes more>");
        check(ValueRef::Text(b"a\xff"), "\"a\u{fffd}\"");
        check(ValueRef::Blob(&[0; 3]), "<blob of 3 bytes>");
    }
}
