//! Vectors for words: the same for each meaning, and those of two meanings nearly at right angles.

/// The numbers of a meaning, without end: 1 or -1.
pub(crate) fn signs(meaning: &str) -> impl Iterator<Item = f32> {
    let mut hash = fnv(meaning.as_bytes());
    std::iter::repeat_with(move || {
        hash = hash.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if hash >> 63 == 0 { 1.0 } else { -1.0 }
    })
}

/// FNV-1a (Fowler, Noll, Vo).
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
