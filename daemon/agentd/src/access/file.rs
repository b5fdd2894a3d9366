//! The file of tokens: `tokens.json`, mode 0600, replaced as a whole.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::scope::Scope;

/// The form of the file.
const VERSION: u32 = 1;
/// Most bytes that are read: some ten times what all tokens there may be take.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Why tokens cannot be read. A daemon that listens for remote clients does not start then: nobody could
/// come in.
#[derive(Debug, thiserror::Error)]
pub enum TokenFileError {
    /// The file cannot be read.
    #[error("the tokens in {} cannot be read", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// It is not what this daemon writes.
    #[error("the tokens in {} cannot be understood: {problem}", .file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Others may read it.
    #[error("{} has mode {mode:o}, so others can read or change it", .file.display())]
    NotPrivate {
        /// The file.
        file: PathBuf,
        /// Its mode.
        mode: u32,
    },
}

impl TokenFileError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Read { .. } => "check the file's owner and mode",
            Self::Damaged { .. } => "move the file away and make new tokens",
            Self::NotPrivate { .. } => "run chmod 600 on it",
        }
    }
}

/// A token as it is stored: without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredToken {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) scope: Scope,
    /// SHA-256 of the text, base64url.
    pub(super) hash: String,
    pub(super) created_at_ms: i64,
    /// 0: it does not expire.
    pub(super) expires_at_ms: i64,
    /// To the minute; 0: never.
    pub(super) last_used_at_ms: i64,
}

#[derive(Serialize, Deserialize)]
struct Contents {
    version: u32,
    tokens: Vec<StoredToken>,
}

/// Reads the tokens. No file means none.
pub(super) fn read(path: &Path) -> Result<Vec<StoredToken>, TokenFileError> {
    let failed = |source| TokenFileError::Read { file: path.to_owned(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mode = file.metadata().map_err(failed)?.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(TokenFileError::NotPrivate { file: path.to_owned(), mode });
    }
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).map_err(failed)?;
    let damaged = |problem: String| TokenFileError::Damaged { file: path.to_owned(), problem };
    let contents: Contents =
        serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    if contents.version != VERSION {
        return Err(damaged(format!("its version is {}", contents.version)));
    }
    Ok(contents.tokens)
}

/// Replaces the file. When this returns the new one survives a power cut.
pub(super) fn write(path: &Path, tokens: Vec<StoredToken>) -> io::Result<()> {
    let text = serde_json::to_vec_pretty(&Contents { version: VERSION, tokens })?;
    let new = path.with_extension("json.new");
    // What a crash left there is not to be continued, and may have another mode.
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(&text)?;
    file.sync_all()?;
    std::fs::rename(&new, path)?;
    match path.parent() {
        Some(dir) => File::open(dir)?.sync_all(),
        None => Ok(()),
    }
}
