//! Why a directory cannot be used as a model.

use std::io;
use std::path::PathBuf;

/// Why a directory cannot be used as a model.
#[derive(Debug, thiserror::Error)]
pub enum StaticModelError {
    /// There is no such directory.
    #[error("there is no directory {}", .directory.display())]
    NoDirectory {
        /// What was looked for.
        directory: PathBuf,
    },
    /// A file is not there.
    #[error("{} is missing", .file.display())]
    Missing {
        /// The file.
        file: PathBuf,
    },
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// It is a directory, a pipe or a device.
    #[error("{} is not a file", .file.display())]
    NotAFile {
        /// What stands there.
        file: PathBuf,
    },
    /// A file is larger than is read.
    #[error("{} has more than {limit} bytes", .file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// Texts cannot be taken apart with it.
    #[error("{} is no tokenizer that is understood: {detail}", .file.display())]
    Tokenizer {
        /// The file.
        file: PathBuf,
        /// What is wrong, in one line.
        detail: String,
    },
    /// It holds no vectors of tokens.
    #[error("{} holds no vectors of tokens: {detail}", .file.display())]
    Tables {
        /// The file.
        file: PathBuf,
        /// What is wrong, in one line.
        detail: String,
    },
    /// Tokens have no vector: the two files are not of one model.
    #[error(
        "{} has vectors of {rows} tokens, and the tokenizer beside it has token {token}", .file.display()
    )]
    Tokens {
        /// The file with the vectors.
        file: PathBuf,
        /// Vectors that there are.
        rows: usize,
        /// A token without one.
        token: usize,
    },
    /// A number is infinite or none.
    #[error("{} has a number in its tensor '{tensor}' that is not finite", .file.display())]
    NotFinite {
        /// The file.
        file: PathBuf,
        /// Where.
        tensor: String,
    },
    /// Vectors are not as long as they have to be.
    #[error("{} has vectors of {length} numbers, and {wanted} are configured", .file.display())]
    Dimensions {
        /// The file.
        file: PathBuf,
        /// Numbers of a vector.
        length: usize,
        /// What is asked for.
        wanted: usize,
    },
}

impl StaticModelError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoDirectory { .. } | Self::Missing { .. } | Self::NotAFile { .. } => {
                "put tokenizer.json and model.safetensors of a static model there, as model2vec writes them"
            }
            Self::Unreadable { .. } => "let the daemon's user read it",
            Self::TooLarge { .. } => "take a smaller model",
            Self::Tokenizer { .. } | Self::NotFinite { .. } => "copy the model there again",
            Self::Tables { .. } => {
                "a static model as model2vec writes it is needed; models with layers are not"
            }
            Self::Tokens { .. } => "take both files from the same model",
            Self::Dimensions { .. } => "set memory.embeddings.dimensions to that, or to 0",
        }
    }
}
