//! A tiny static model, as files: a vector for each word that it knows.

#![expect(clippy::expect_used, reason = "a test that cannot write its files has failed")]

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::meaning::signs;

/// Numbers of a vector.
const LENGTH: usize = 64;
/// What a text's other words are.
const UNKNOWN: &str = "[UNK]";
/// Words of the sentences by which a model is tried before it is used: at least one of each.
const TRIED_WITH: [&str; 17] = [
    "coffee", "morning", "database", "night", "daughter", "violin", "berlin", "train", "roof",
    "storm", "cat", "sofa", "taxes", "may", "peanuts", "allergic", "late",
];

/// A model whose files a test writes. It knows the words that a model is tried with, and those that it
/// is told.
#[derive(Debug, Clone)]
pub struct StaticModelFiles {
    words: Vec<(String, String)>,
    tensor: &'static str,
    length: usize,
    salt: String,
}

impl Default for StaticModelFiles {
    fn default() -> Self {
        Self::new()
    }
}

impl StaticModelFiles {
    /// A model of 64 numbers.
    pub fn new() -> Self {
        Self::empty().knowing(&TRIED_WITH)
    }

    /// One that does not even know the words that it is tried with.
    pub fn empty() -> Self {
        let (tensor, length, salt) = ("embeddings", LENGTH, String::new());
        Self { words: Vec::new(), tensor, length, salt }
    }

    /// It knows these words, each with a meaning of its own.
    #[must_use]
    pub fn knowing(self, words: &[&str]) -> Self {
        words.iter().fold(self, |model, word| model.meaning_the_same(&[word]))
    }

    /// It knows these words, all of one meaning.
    #[must_use]
    pub fn meaning_the_same(mut self, words: &[&str]) -> Self {
        let meaning = words.first().copied().unwrap_or_default();
        self.words.extend(words.iter().map(|word| ((*word).to_owned(), meaning.to_owned())));
        self
    }

    /// Its vectors have so many numbers.
    #[must_use]
    pub fn of_length(mut self, length: usize) -> Self {
        self.length = length;
        self
    }

    /// Its vectors stand in a tensor of this name.
    #[must_use]
    pub fn in_tensor(mut self, tensor: &'static str) -> Self {
        self.tensor = tensor;
        self
    }

    /// It has learned otherwise: its vectors are others.
    #[must_use]
    pub fn trained_again(mut self, salt: &str) -> Self {
        salt.clone_into(&mut self.salt);
        self
    }

    /// Writes both files into a directory, and the directory.
    pub fn write(&self, directory: &Path) {
        std::fs::create_dir_all(directory).expect("a directory");
        std::fs::write(directory.join("tokenizer.json"), self.tokenizer()).expect("a file");
        std::fs::write(directory.join("model.safetensors"), self.weights()).expect("a file");
    }

    /// What stands in `tokenizer.json`.
    pub fn tokenizer(&self) -> String {
        let words =
            std::iter::once(UNKNOWN).chain(self.words.iter().map(|(word, _)| word.as_str()));
        let vocab: Map<String, Value> =
            words.zip(0..).map(|(word, id)| (word.to_owned(), json!(id))).collect();
        let tokenizer = json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": [],
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {"type": "Whitespace"},
            "post_processor": null,
            "decoder": null,
            "model": {"type": "WordLevel", "vocab": vocab, "unk_token": UNKNOWN},
        });
        tokenizer.to_string()
    }

    /// What stands in `model.safetensors`: a length, a head of JSON, then the numbers.
    pub fn weights(&self) -> Vec<u8> {
        let mut numbers: Vec<u8> = vec![0; self.length * size_of::<f32>()];
        for (_, meaning) in &self.words {
            let meaning = format!("{}{meaning}", self.salt);
            numbers.extend(signs(&meaning).take(self.length).flat_map(f32::to_le_bytes));
        }
        let shape = [self.words.len() + 1, self.length];
        let tensor = json!({"dtype": "F32", "shape": shape, "data_offsets": [0, numbers.len()]});
        let head = json!({ self.tensor: tensor }).to_string();
        let mut bytes = u64::try_from(head.len()).expect("a length").to_le_bytes().to_vec();
        bytes.extend(head.into_bytes());
        bytes.extend(numbers);
        bytes
    }
}
