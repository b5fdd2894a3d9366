//! The text of a token: `agentd_<id>_<32 random bytes as base64url>`.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use subtle::ConstantTimeEq as _;

/// What every token begins with, so that scanners for leaked secrets know one.
const PREFIX: &str = "agentd";
/// Random bytes of a token.
const RANDOM_BYTES: usize = 32;
/// Longest text that is looked at.
const MAX_BYTES: usize = 256;

/// A token's text. It cannot be printed by accident.
pub(crate) struct TokenText(String);

impl fmt::Debug for TokenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenText(..)")
    }
}

impl TokenText {
    /// Makes a text of the system's randomness.
    ///
    /// # Errors
    /// When the system has none.
    pub(crate) fn new(id: &str) -> Result<Self, ring::error::Unspecified> {
        let mut random = [0; RANDOM_BYTES];
        SystemRandom::new().fill(&mut random)?;
        Ok(Self(format!("{PREFIX}_{id}_{}", URL_SAFE_NO_PAD.encode(random))))
    }

    /// The text, to be shown once.
    pub(crate) fn reveal(self) -> String {
        self.0
    }

    /// What is stored of it.
    pub(crate) fn hash(&self) -> Hash {
        Hash::of(&self.0)
    }
}

/// The id inside a text that looks like a token.
pub(crate) fn id_in(text: &str) -> Option<&str> {
    let mut parts = Some(text).filter(|text| text.len() <= MAX_BYTES)?.splitn(3, '_');
    let (prefix, id, secret) = (parts.next()?, parts.next()?, parts.next()?);
    (prefix == PREFIX && !id.is_empty() && !secret.is_empty()).then_some(id)
}

/// SHA-256 of a token's text. A slow hash is for what people choose; nobody finds 256 random bits by
/// trying, however fast it goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hash([u8; 32]);

impl Hash {
    /// Hashes a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
        Self(bytes)
    }

    /// Compares in a time that does not depend on where they differ.
    pub(crate) fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// As it stands in the file.
    pub(crate) fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// Reads what [`Self::encode`] wrote.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_holds_its_id_and_256_random_bits() {
        let (one, other) = (TokenText::new("a1b2").unwrap(), TokenText::new("a1b2").unwrap());
        assert!(!one.hash().matches(&other.hash()));
        assert_eq!(format!("{one:?}"), "TokenText(..)");
        let text = one.reveal();
        assert_eq!(id_in(&text), Some("a1b2"));
        let secret = text.splitn(3, '_').nth(2).unwrap();
        assert_eq!(URL_SAFE_NO_PAD.decode(secret).unwrap().len(), RANDOM_BYTES);
    }

    #[test]
    fn what_does_not_look_like_a_token_has_no_id() {
        for text in ["", "agentd", "agentd_a", "agentd_a_", "agentd__x", "sk_a_b"] {
            assert_eq!(id_in(text), None, "{text}");
        }
        assert_eq!(id_in(&format!("agentd_a_{}", "x".repeat(MAX_BYTES))), None);
    }

    #[test]
    fn a_hash_is_that_of_the_standard_and_survives_the_file() {
        // FIPS 180-2, appendix B.1.
        let hash = Hash::of("abc");
        assert_eq!(hash.encode(), "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
        assert!(Hash::decode(&hash.encode()).unwrap().matches(&hash));
        assert!(Hash::decode("short").is_none());
    }
}
