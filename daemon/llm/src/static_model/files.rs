//! The files of a model, and which model they are.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use agentd_domain::cut_line;
use model2vec_rs::model::StaticModel;
use ring::digest::{Context, SHA256};
use tokenizers::Tokenizer;

use super::StaticModelError;
use super::tables;

/// Most bytes of the vectors. The largest models that there are, of half a million tokens, are just below
/// it; what is kept in half precision takes twice as much memory as in the file.
const MAX_WEIGHTS_BYTES: u64 = 512 * 1024 * 1024;
/// Most bytes of a tokenizer. Those of half a million tokens have about 30 MiB.
const MAX_TOKENIZER_BYTES: u64 = 64 * 1024 * 1024;
/// Most characters of a model's name, and of what a library says of a file.
const MAX_NAME: usize = 80;
const MAX_DETAIL: usize = 300;
/// Bytes of a hash that are told: enough for the few models that somebody has.
const HASH_BYTES: usize = 8;

/// The files of a model, read.
#[derive(Debug)]
pub(super) struct Files {
    /// A hash of both.
    pub(super) contents: String,
    /// Where the vectors are.
    pub(super) weights: PathBuf,
    tokenizer: PathBuf,
    tokenizer_bytes: Vec<u8>,
    weights_bytes: Vec<u8>,
}

impl Files {
    pub(super) fn read(directory: &Path) -> Result<Self, StaticModelError> {
        if !directory.is_dir() {
            return Err(StaticModelError::NoDirectory { directory: directory.to_owned() });
        }
        let tokenizer = directory.join("tokenizer.json");
        let weights = directory.join("model.safetensors");
        let tokenizer_bytes = read(&tokenizer, MAX_TOKENIZER_BYTES)?;
        let weights_bytes = read(&weights, MAX_WEIGHTS_BYTES)?;
        let contents = hash_of(&tokenizer_bytes, &weights_bytes);
        Ok(Self { contents, weights, tokenizer, tokenizer_bytes, weights_bytes })
    }

    /// The tables of the model, and the length of its vectors.
    pub(super) fn understand(&self) -> Result<(StaticModel, usize), StaticModelError> {
        let no_tokenizer = |problem: String| {
            let detail = in_one_line(&problem);
            StaticModelError::Tokenizer { file: self.tokenizer.clone(), detail }
        };
        let tokenizer = Tokenizer::from_bytes(&self.tokenizer_bytes)
            .map_err(|error| no_tokenizer(error.to_string()))?;
        let last_token = tokenizer.get_vocab(true).into_values().max();
        let last_token = last_token.ok_or_else(|| no_tokenizer("it knows no tokens".to_owned()))?;
        drop(tokenizer);
        // What has no row would end the thread that looks it up.
        let length = tables::check(&self.weights, &self.weights_bytes, last_token)?;
        // Of a model's settings one is of use, whether vectors have length 1. Ours always have.
        let settings = b"{}";
        let tables =
            StaticModel::from_bytes(&self.tokenizer_bytes, &self.weights_bytes, settings, None);
        // The vectors are as the library wants them; what it finds now is about the tokens.
        let tables = tables.map_err(|error| no_tokenizer(format!("{error:#}")))?;
        Ok((tables, length))
    }
}

/// What a directory is called, for people.
pub(super) fn name_of(directory: &Path) -> String {
    let name = directory.file_name().map(|name| cut_line(&name.to_string_lossy(), MAX_NAME));
    let name = name.unwrap_or_default();
    if name.is_empty() { "model".to_owned() } else { name }
}

/// What a library says, for one line of a person's screen.
pub(super) fn in_one_line(text: &str) -> String {
    cut_line(text, MAX_DETAIL)
}

/// Reads a file that is no larger than `limit`.
fn read(file: &Path, limit: u64) -> Result<Vec<u8>, StaticModelError> {
    let unreadable = |source: std::io::Error| match source.kind() {
        ErrorKind::NotFound => StaticModelError::Missing { file: file.to_owned() },
        _ => StaticModelError::Unreadable { file: file.to_owned(), source },
    };
    // Looked at before it is opened: to open a pipe waits for whoever writes to it.
    let facts = std::fs::metadata(file).map_err(unreadable)?;
    if !facts.is_file() {
        return Err(StaticModelError::NotAFile { file: file.to_owned() });
    }
    let too_large = || StaticModelError::TooLarge { file: file.to_owned(), limit };
    if facts.len() > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(facts.len()).unwrap_or_default());
    let opened = File::open(file).map_err(unreadable)?;
    opened.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    // It may have grown meanwhile.
    if u64::try_from(bytes.len()).is_ok_and(|length| length > limit) {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Which model it is: the same texts have the same vectors.
fn hash_of(tokenizer: &[u8], weights: &[u8]) -> String {
    let mut context = Context::new(&SHA256);
    context.update(&tokenizer.len().to_le_bytes());
    context.update(tokenizer);
    context.update(weights);
    let hash = context.finish();
    hash.as_ref().iter().take(HASH_BYTES).fold(String::new(), |mut text, byte| {
        use std::fmt::Write as _;
        // Writing to a text cannot fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}
