//! Durations on the command line, such as `90s`, `10m` or `1h30m`.

use std::time::Duration;

/// Reads numbers with units: `ms`, `s`, `m`, `h`, `d` and `w`.
///
/// # Errors
/// A text for the user when it is none, or too long to count.
pub fn parse(text: &str) -> Result<Duration, String> {
    const FORM: &str = "give a number with a unit, such as 90s, 10m or 1h30m";
    let mut rest = text.trim();
    let mut total = Duration::ZERO;
    if rest.is_empty() {
        return Err(FORM.to_owned());
    }
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, after) = rest.split_at(digits);
        let letters = after.len() - after.trim_start_matches(char::is_alphabetic).len();
        let (unit, next) = after.split_at(letters);
        let ms: u64 = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            "w" => 604_800_000,
            _ => return Err(FORM.to_owned()),
        };
        let number: u64 = number.parse().map_err(|_none_or_too_large| FORM.to_owned())?;
        let part = number.checked_mul(ms).map(Duration::from_millis);
        total = part
            .and_then(|part| total.checked_add(part))
            .ok_or_else(|| "that is too long".to_owned())?;
        rest = next;
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_numbers_with_units() {
        let check = |text: &str, expect: Option<u64>| {
            let ms = parse(text).ok().map(|duration| duration.as_millis());
            assert_eq!(ms, expect.map(u128::from), "{text:?}");
        };
        check("500ms", Some(500));
        check("90s", Some(90_000));
        check("10m", Some(600_000));
        check("1h30m", Some(5_400_000));
        check("90min", Some(5_400_000));
        check("2d", Some(172_800_000));
        check("2w", Some(1_209_600_000));
        for wrong in
            ["", "10", "m", "10x", "1h30", "-5m", "1.5h", "3 d", "5使", "99999999999999999999s"]
        {
            check(wrong, None);
        }
        check("999999999999999999d", None);
        check(&format!("{}w", u64::MAX), None);
    }
}
