//! Times as tea_agent has written them: UTC and local, with "T" and with a space, with and without a zone.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rusqlite::types::Value;

use super::wrong;

/// Characters of a time as SQLite's `CURRENT_TIMESTAMP` writes it: "2026-01-31 09:00:00".
const SQLITE_CHARS: usize = 19;

/// Numbers from here on are milliseconds: as seconds they would lie 3,000 years ahead.
const MILLISECONDS: i64 = 100_000_000_000;

/// Reads a time as Unix milliseconds; none where there is none. One that names its zone is of that zone; one
/// as SQLite writes it is UTC, as SQLite means it; any other is of `zone`, since Python writes local time.
///
/// # Errors
/// When it is none.
pub(super) fn read(field: &str, value: &Value, zone: &TimeZone) -> Result<Option<i64>, String> {
    const WANTED: &str = "a time such as 2026-01-31 09:00:00";
    match value {
        Value::Null => Ok(None),
        Value::Text(text) if text.trim().is_empty() => Ok(None),
        Value::Text(text) => {
            let at = from_text(text.trim(), zone);
            at.map(Some).ok_or_else(|| wrong(field, value, WANTED))
        }
        Value::Integer(number) if *number >= MILLISECONDS => Ok(Some(*number)),
        Value::Integer(number) if *number > 0 => Ok(Some(number * 1000)),
        Value::Real(number) => {
            let at = Timestamp::from_second(0).ok().and_then(|start| {
                let since = jiff::SignedDuration::try_from_secs_f64(*number).ok()?;
                start.checked_add(since).ok()
            });
            let at = at.filter(|at| at.as_millisecond() > 0);
            at.map(|at| Some(at.as_millisecond())).ok_or_else(|| wrong(field, value, WANTED))
        }
        Value::Integer(_) | Value::Blob(_) => Err(wrong(field, value, WANTED)),
    }
}

fn from_text(text: &str, zone: &TimeZone) -> Option<i64> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.as_millisecond());
    }
    let time: DateTime = text.parse().ok()?;
    let is_sqlite = text.len() == SQLITE_CHARS && text.contains(' ');
    let zone = if is_sqlite { TimeZone::UTC } else { zone.clone() };
    Some(time.to_zoned_datetime(zone).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_were_meant_and_anything_else_is_refused() {
        // Two hours ahead of UTC.
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let at = |text: &str| read("f", &Value::Text(text.to_owned()), &zone);
        let utc = 1_769_850_000_000;
        assert_eq!(at("2026-01-31 09:00:00"), Ok(Some(utc)), "as SQLite writes it");
        assert_eq!(at("2026-01-31T11:00:00"), Ok(Some(utc)), "as Python writes it");
        assert_eq!(at("2026-01-31 11:00:00.250"), Ok(Some(utc + 250)), "so does Python");
        assert_eq!(at("2026-01-31T09:00:00Z"), Ok(Some(utc)));
        assert_eq!(at("2026-01-31T17:00:00+08:00"), Ok(Some(utc)));
        assert_eq!(at(" 2026-01-31 "), Ok(Some(utc - 11 * 3_600_000)));
        assert_eq!(at(""), Ok(None));
        assert_eq!(read("f", &Value::Null, &zone), Ok(None));
        assert_eq!(read("f", &Value::Integer(utc / 1000), &zone), Ok(Some(utc)));
        assert_eq!(read("f", &Value::Integer(utc), &zone), Ok(Some(utc)));
        assert_eq!(read("f", &Value::Real(1_769_850_000.5), &zone), Ok(Some(utc + 500)));
        for wrong in ["CURRENT_TIMESTAMP", "soon", "2026-02-30 09:00:00", "09:00"] {
            assert!(at(wrong).unwrap_err().starts_with("f: "), "{wrong}");
        }
        assert!(read("f", &Value::Real(f64::NAN), &zone).is_err());
        assert!(read("f", &Value::Integer(-5), &zone).is_err());
        assert!(read("f", &Value::Blob(vec![1]), &zone).is_err());
    }
}
