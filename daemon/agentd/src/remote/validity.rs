//! Until when a certificate is good. The libraries that check certificates do not tell it.

use x509_parser::prelude::{FromDer as _, X509Certificate};

/// The end of a certificate's validity in Unix milliseconds; none when this is no certificate.
pub(super) fn not_after_ms(certificate: &[u8]) -> Option<i64> {
    let (_rest, certificate) = X509Certificate::from_der(certificate).ok()?;
    certificate.validity().not_after.timestamp().checked_mul(1000)
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
        let mut params = CertificateParams::new(["box.lan".to_owned()]).unwrap();
        params.not_after = date_time_ymd(2030, 2, 28);
        let made = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let time = b"300228000000Z";
        let at = made.der().windows(time.len()).position(|part| part == time).unwrap();
        for text in
            ["3002280000000", "301328000000Z", "300230000000Z", "30022800000:Z", "ZZZZZZZZZZZZZ"]
        {
            let mut der = made.der().to_vec();
            der[at..at + time.len()].copy_from_slice(text.as_bytes());
            assert_eq!(not_after_ms(&der), None, "{text}");
        }
    }
}
