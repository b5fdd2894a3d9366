//! The port of models that make vectors of texts.

use std::fmt::Debug;

use agentd_domain::Usage;
use async_trait::async_trait;

use crate::LlmError;

/// Most numbers of a vector.
pub const MAX_DIMENSIONS: usize = 4096;
/// Most bytes of a text. Models read no more than a few hundred to a few thousand tokens.
pub const MAX_TEXT_BYTES: usize = 32 * 1024;

/// What a text is, because some models want to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextKind {
    /// What is looked for. Somebody waits for its vector.
    Query,
    /// What may be found.
    Document,
}

/// Vectors of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// One for each text, in their order: all as long, of finite numbers, each of length 1, or of zeros
    /// where the model knows nothing of the text.
    pub vectors: Vec<Vec<f32>>,
    /// What the provider counted, or our estimate, marked as such.
    pub usage: Usage,
}

/// A model that makes vectors of texts.
#[async_trait]
pub trait Embedder: Debug + Send + Sync + 'static {
    /// The model's name.
    fn model(&self) -> &str;

    /// Where it is, for people: a base URL or a directory. It holds no secret.
    fn place(&self) -> &str;

    /// What makes vectors of documents comparable: those of another space are of no use here.
    fn space(&self) -> &str;

    /// Makes the vectors of texts, in as many requests as it takes.
    ///
    /// # Errors
    /// See [`LlmError`]. An answer that is not one vector for each text, all as long, is a
    /// [`LlmError::Protocol`]. Blank texts and those above [`MAX_TEXT_BYTES`] are
    /// [`LlmError::Invalid`].
    ///
    /// # Cancel safety
    /// Dropping the future ends the request that is under way; what is being computed here is computed
    /// to its end, which takes milliseconds.
    async fn embed(&self, texts: &[String], kind: TextKind) -> Result<Embedded, LlmError>;
}

/// Refuses what no model takes, before anything is sent.
///
/// # Errors
/// [`LlmError::Invalid`].
pub(crate) fn check_texts(texts: &[String]) -> Result<(), LlmError> {
    let bad = texts.iter().find_map(|text| {
        if text.trim().is_empty() {
            Some("a text without words has no vector".to_owned())
        } else if text.len() > MAX_TEXT_BYTES {
            Some(format!("a text has {} bytes, of which {MAX_TEXT_BYTES} are taken", text.len()))
        } else {
            None
        }
    });
    bad.map_or(Ok(()), |message| Err(LlmError::Invalid { status: 0, message }))
}

/// A vector scaled to length 1; none when it is not finite or has no length.
pub(crate) fn normalised(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    // In double precision the squares of all floats are finite.
    let square: f64 = vector.iter().map(|number| f64::from(*number).powi(2)).sum();
    if !square.is_finite() || square <= 0.0 {
        return None;
    }
    let length = square.sqrt();
    for number in &mut vector {
        #[expect(clippy::cast_possible_truncation, reason = "no more than 1")]
        let scaled = (f64::from(*number) / length) as f32;
        *number = scaled;
    }
    Some(vector)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_has_no_direction_is_no_vector() {
        assert_eq!(normalised(vec![0.0, 0.0]), None);
        assert_eq!(normalised(vec![]), None);
        assert_eq!(normalised(vec![1.0, f32::NAN]), None);
        assert_eq!(normalised(vec![f32::INFINITY, 1.0]), None);
        assert_eq!(normalised(vec![3.0, 4.0]), Some(vec![0.6, 0.8]));
    }

    #[test]
    fn texts_without_words_or_end_are_refused() {
        let check = |text: &str| check_texts(&["fine".to_owned(), text.to_owned()]);
        assert!(check("good").is_ok());
        assert!(check(" \n").unwrap_err().to_string().contains("without words"));
        let long = check(&"x".repeat(MAX_TEXT_BYTES + 1)).unwrap_err();
        assert!(long.to_string().contains("32769 bytes"), "{long}");
    }

    proptest! {
        #[test]
        fn vectors_have_length_one(vector in prop::collection::vec(-1e30_f32..1e30, 1..50)) {
            if let Some(vector) = normalised(vector) {
                let length: f64 = vector.iter().map(|it| f64::from(*it).powi(2)).sum();
                prop_assert!((length - 1.0).abs() < 1e-4, "{length}");
            }
        }
    }
}
