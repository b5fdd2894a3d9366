//! The header of a stored value: a format byte and a checksum.

use serde::de::DeserializeOwned;

use crate::ReadError;

/// Layout of values that this build writes.
const FORMAT: u8 = 1;

/// Bytes before the payload: the format byte and the CRC-32 of the payload.
const HEADER_BYTES: usize = 5;

/// Puts the header before a payload.
pub(crate) fn seal(payload: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(HEADER_BYTES + payload.len());
    value.push(FORMAT);
    value.extend_from_slice(&crc32fast::hash(payload).to_be_bytes());
    value.extend_from_slice(payload);
    value
}

/// The payload of a value; none when the value is damaged.
pub(crate) fn open_value(value: &[u8]) -> Option<&[u8]> {
    let (header, payload) = value.split_at_checked(HEADER_BYTES)?;
    let (format, crc) = header.split_first()?;
    (*format == FORMAT && *crc == crc32fast::hash(payload).to_be_bytes()).then_some(payload)
}

/// Reads a JSON payload; `what` names the record in errors.
pub(crate) fn read_json<T: DeserializeOwned>(
    value: &[u8],
    what: &'static str,
) -> Result<T, ReadError> {
    open_value(value)
        .and_then(|payload| serde_json::from_slice(payload).ok())
        .ok_or(ReadError::Record { what })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_flipped_bit_or_a_cut_is_seen(payload: Vec<u8>, at: prop::sample::Index, bit in 0..8) {
            let sealed = seal(&payload);
            prop_assert_eq!(open_value(&sealed), Some(&*payload));
            let at = at.index(sealed.len());
            let mut flipped = sealed.clone();
            flipped[at] ^= 1_u8 << bit;
            prop_assert_eq!(open_value(&flipped), None);
            // A cut that leaves an empty payload with the checksum of an empty payload is the whole.
            prop_assert!(open_value(&sealed[..at]).is_none_or(|left| left == &*payload));
        }
    }
}
