//! Until when a certificate is good.
//!
//! The libraries that check certificates do not tell it, and a parser of all of X.509 is much for one
//! date, so this walks to it: RFC 5280, section 4.1 (the fields in order) and 4.1.2.5 (the two forms of
//! a time), in DER as X.690 has it (section 8.1.3: lengths).

use jiff::civil::DateTime;

const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// The optional version, `[0] EXPLICIT`.
const VERSION: u8 = 0xa0;
/// Serial number, signature algorithm and issuer stand before the validity.
const FIELDS_BEFORE_VALIDITY: usize = 3;

/// The end of a certificate's validity in Unix milliseconds; none when this is no certificate.
pub(super) fn not_after_ms(certificate: &[u8]) -> Option<i64> {
    let (certificate, _) = value(certificate, SEQUENCE)?;
    let (mut fields, _) = value(certificate, SEQUENCE)?;
    if fields.first() == Some(&VERSION) {
        fields = element(fields)?.2;
    }
    for _ in 0..FIELDS_BEFORE_VALIDITY {
        fields = element(fields)?.2;
    }
    let (validity, _) = value(fields, SEQUENCE)?;
    let (_, _not_before, rest) = element(validity)?;
    let (tag, time, _) = element(rest)?;
    parse_time(tag, str::from_utf8(time).ok()?)
}

/// Tag, content and what follows.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        // Four bytes of length are more than any certificate has.
        if bytes.len() > 4 {
            return None;
        }
        (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

fn value(der: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    let (tag, content, rest) = element(der)?;
    (tag == wanted).then_some((content, rest))
}

fn parse_time(tag: u8, text: &str) -> Option<i64> {
    let digits = text.strip_suffix('Z').filter(|text| text.bytes().all(|b| b.is_ascii_digit()))?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = digits.split_at_checked(2)?;
            let year: i16 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = digits.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let two = |at: usize| rest.get(at..at + 2).and_then(|text| text.parse::<i8>().ok());
    if rest.len() != 10 {
        return None;
    }
    let time = DateTime::new(year, two(0)?, two(2)?, two(4)?, two(6)?, two(8)?, 0).ok()?;
    Some(jiff::tz::Offset::UTC.to_timestamp(time).ok()?.as_millisecond())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    #[test]
    fn both_forms_of_a_time_are_read() {
        // Years from 2050 on are written in the other form.
        for (year, month, day, ms) in
            [(2030, 2, 28, 1_898_467_200_000), (2051, 12, 31, 2_587_593_600_000_i64)]
        {
            let mut params = CertificateParams::new(["box.lan".to_owned()]).unwrap();
            params.not_after = date_time_ymd(year, month, day);
            let made = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
            assert_eq!(not_after_ms(made.der()), Some(ms), "{year}");
            // Whatever is left of it, nothing breaks.
            for length in 0..made.der().len() {
                assert_eq!(not_after_ms(&made.der()[..length]), None);
            }
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for (tag, text) in [
            (UTC_TIME, "300228000000"),
            (UTC_TIME, "301328000000Z"),
            (UTC_TIME, "Z"),
            (GENERALIZED_TIME, "20300228Z"),
            (SEQUENCE, "300228000000Z"),
        ] {
            assert_eq!(parse_time(tag, text), None, "{text}");
        }
    }
}
