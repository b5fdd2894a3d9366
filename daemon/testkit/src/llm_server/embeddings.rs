//! Vectors of texts, as `POST /v1/embeddings` gives them.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::render::json_body;
use super::script::Rendered;
use super::{RecordedRequest, Reply};
use crate::meaning::signs;

/// Numbers of a vector unless a test says otherwise.
const DIMENSIONS: usize = 64;

/// What requests for vectors are answered with.
#[derive(Debug)]
pub(super) struct Embeddings {
    /// Used before anything else, one for each request.
    pub(super) replies: VecDeque<Reply>,
    pub(super) dimensions: usize,
    /// Words, and what they mean: words of one meaning have one vector.
    pub(super) meanings: BTreeMap<String, String>,
}

impl Default for Embeddings {
    fn default() -> Self {
        Self { replies: VecDeque::new(), dimensions: DIMENSIONS, meanings: BTreeMap::new() }
    }
}

impl Embeddings {
    /// The vectors of the texts of a request, or what is wrong with it.
    pub(super) fn answer(&self, request: &RecordedRequest) -> Rendered {
        let refused = |message: &str| {
            let error = json!({"message": message, "code": "invalid_request_error"});
            json_body(400, &json!({ "error": error }))
        };
        let texts: Vec<&str> = match request.body.get("input").unwrap_or(&Value::Null) {
            Value::String(text) => vec![text],
            Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
            _ => return refused("input: a text or a list of texts"),
        };
        if texts.is_empty() || texts.iter().any(|text| text.trim().is_empty()) {
            return refused("input: it must not be empty");
        }
        let data: Vec<Value> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| {
                json!({"object": "embedding", "index": index, "embedding": self.vector(text)})
            })
            .collect();
        let tokens: usize = texts.iter().map(|text| text.split_whitespace().count()).sum();
        json_body(
            200,
            &json!({
                "object": "list", "data": data, "model": request.model(),
                "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
            }),
        )
    }

    /// The sum of the vectors of its words: texts are near that share words, or words of one meaning.
    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; self.dimensions];
        for word in text.split(|char: char| !char.is_alphanumeric()).filter(|it| !it.is_empty()) {
            let word = word.to_lowercase();
            let meaning = self.meanings.get(&word).unwrap_or(&word);
            for (number, sign) in vector.iter_mut().zip(signs(meaning)) {
                *number += sign;
            }
        }
        vector
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_near_that_share_words_or_meanings() {
        let mut embeddings = Embeddings::default();
        let near = |embeddings: &Embeddings, a: &str, b: &str| {
            let (a, b) = (embeddings.vector(a), embeddings.vector(b));
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
            dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
        };
        assert!(near(&embeddings, "the car is red", "a red car") > 0.4);
        assert!(near(&embeddings, "automobile", "car") < 0.4);
        embeddings.meanings.insert("automobile".to_owned(), "car".to_owned());
        assert!(near(&embeddings, "Automobile", "car") > 0.999);
    }
}
