//! Token counts as providers write them.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// More tokens than this has no request: the number is a mistake, and believing it would use up every
/// limit at once.
const MOST_TOKENS: f64 = 1e9;

/// A count, which some servers write as a text or with a fraction of zero.
///
/// # Errors
/// For what is no count. The counts beside it are then not to be trusted either.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?.get().trim_matches('"').trim();
    if matches!(raw, "" | "null") {
        return Ok(None);
    }
    let is_count = raw.parse::<f64>().is_ok_and(|count| (0.0..=MOST_TOKENS).contains(&count));
    let whole = raw.split_once('.').filter(|(_, rest)| rest.bytes().all(|digit| digit == b'0'));
    let digits = whole.map_or(raw, |(digits, _)| digits);
    match digits.parse() {
        Ok(count) if is_count => Ok(Some(count)),
        _ => Err(D::Error::custom(format_args!("{raw} is no number of tokens"))),
    }
}

/// Details of a count: what cannot be read is left out, and the count itself is kept.
///
/// # Errors
/// None but those of the JSON.
pub(crate) fn details<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Counts {
        #[serde(deserialize_with = "count")]
        tokens: Option<u64>,
    }

    #[test]
    fn counts_are_read_however_they_are_written_and_impossible_ones_are_refused() {
        let check = |json: &str, expect: Option<Option<u64>>| {
            let counts = serde_json::from_str::<Counts>(&format!(r#"{{"tokens":{json}}}"#));
            assert_eq!(counts.ok().map(|counts| counts.tokens), expect, "{json}");
        };
        check("12", Some(Some(12)));
        check("\"12\"", Some(Some(12)));
        check("12.0", Some(Some(12)));
        check("null", Some(None));
        check("0", Some(Some(0)));
        check("-1", None);
        check("12.5", None);
        check("18446744073709551615", None);
        check("1e300", None);
        check("\"many\"", None);
        check("[]", None);
    }
}
