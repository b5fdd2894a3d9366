//! Ids that clients make, so that a retried command is recognised.

use std::time::{SystemTime, UNIX_EPOCH};

/// Makes a new ULID: 26 characters of Crockford base 32.
pub fn new_ulid() -> String {
    let random = fastrand::u128(..);
    ulid::Ulid::from_parts(now_ms(), random).to_string()
}

/// Unix time in milliseconds; 0 when the clock stands before 1970.
#[expect(clippy::disallowed_methods, reason = "clients have no Clock; only ids and ages use it")]
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_have_the_form_of_a_ulid() {
        let (first, second) = (new_ulid(), new_ulid());
        assert_ne!(first, second);
        assert_eq!(first.len(), 26);
        assert!(first.parse::<ulid::Ulid>().is_ok());
    }
}
