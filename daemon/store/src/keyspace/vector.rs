//! How the vector of a memory lies in its record: bytes, because a number written out takes four times
//! as many.
//!
//! The length of the space's name as two bytes, the name, the hash of the text as eight, then the numbers.

use agentd_domain::MemoryId;

use crate::keyspace::open_value;
use crate::{CommitError, MemoryVector};

/// The payload of a vector.
pub(super) fn encode(vector: &MemoryVector) -> Result<Vec<u8>, CommitError> {
    let MemoryVector { id: _, space, text, numbers } = vector;
    let length = u16::try_from(space.len())
        .map_err(|error| CommitError::Io(std::io::Error::other(error)))?;
    let mut payload = Vec::with_capacity(10 + space.len() + numbers.len());
    payload.extend_from_slice(&length.to_be_bytes());
    payload.extend_from_slice(space.as_bytes());
    payload.extend_from_slice(&text.to_be_bytes());
    payload.extend(numbers.iter().map(|number| number.cast_unsigned()));
    Ok(payload)
}

/// Reads a record; none when it is damaged.
pub(crate) fn decode_vector(id: MemoryId, value: &[u8]) -> Option<MemoryVector> {
    let (length, rest) = open_value(value)?.split_first_chunk::<2>()?;
    let (space, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
    let (text, numbers) = rest.split_first_chunk::<8>()?;
    Some(MemoryVector {
        id,
        space: std::str::from_utf8(space).ok()?.to_owned(),
        text: u64::from_be_bytes(*text),
        numbers: numbers.iter().map(|byte| byte.cast_signed()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::keyspace::seal;

    proptest! {
        #[test]
        fn a_vector_comes_back_and_a_cut_one_does_not(space in ".{0,40}", text: u64, numbers: Vec<i8>, cut in 0_usize..10) {
            let id = MemoryId::from_parts(1, 2);
            let vector = MemoryVector { id, space, text, numbers };
            let payload = encode(&vector).unwrap();
            prop_assert_eq!(decode_vector(id, &seal(&payload)), Some(vector));
            prop_assert_eq!(decode_vector(id, &seal(&payload[..cut.min(9)])), None);
        }
    }
}
