//! Windows that providers named when they refused a conversation as too long.
//!
//! Kept in a small file, so that a model that is not well known overflows once and not after every
//! start. The file is a help: without it the same is learned again.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// Most windows that are kept; the oldest go first.
const MAX_LIMITS: usize = 500;
/// Most bytes of the file.
const MAX_FILE: u64 = 1024 * 1024;
/// Most bytes of a name that is kept.
const MAX_NAME: usize = 512;
/// Windows that are believed: others are misread.
const PLAUSIBLE: std::ops::RangeInclusive<u64> = 1_024..=100_000_000;

/// The windows, the one that was learned last at the end.
#[derive(Debug, Default)]
pub(super) struct Learned {
    /// None: nothing is kept beyond this process.
    file: Option<PathBuf>,
    limits: Mutex<VecDeque<Limit>>,
    /// Held while the file is written, so that the newest state is written last.
    writing: Mutex<()>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Limit {
    base_url: String,
    model: String,
    context_tokens: u64,
}

impl Learned {
    /// Reads what earlier processes learned. A file that cannot be understood counts as none.
    pub(super) fn open(file: Option<PathBuf>) -> Self {
        let read = file.as_deref().map(read).transpose();
        let limits = read.unwrap_or_else(|error| {
            tracing::warn!(%error, "the learned windows of models cannot be read and are learned again");
            None
        });
        Self { file, limits: Mutex::new(limits.unwrap_or_default()), writing: Mutex::new(()) }
    }

    /// The window of a model, if it was learned.
    pub(super) fn context_tokens(&self, base_url: &str, model: &str) -> Option<u64> {
        let limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        limits.iter().find(|limit| limit.is_of(base_url, model)).map(|limit| limit.context_tokens)
    }

    /// Takes note of a window. False when it was known, or is not plausible.
    pub(super) fn learn(&self, base_url: &str, model: &str, context_tokens: u64) -> bool {
        let fits = |name: &str| !name.is_empty() && name.len() <= MAX_NAME;
        if !PLAUSIBLE.contains(&context_tokens) || !fits(base_url) || !fits(model) {
            return false;
        }
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let known = limits.iter().position(|limit| limit.is_of(base_url, model));
        if let Some((at, limit)) = known.and_then(|at| Some((at, limits.get(at)?))) {
            if limit.context_tokens == context_tokens {
                return false;
            }
            limits.remove(at);
        }
        while limits.len() >= MAX_LIMITS {
            limits.pop_front();
        }
        let (base_url, model) = (base_url.to_owned(), model.to_owned());
        limits.push_back(Limit { base_url, model, context_tokens });
        true
    }

    /// Writes the file anew, whole or not at all. Blocks.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn save(&self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let text = serde_json::to_vec(&limits)?;
        let unfinished = file.with_extension("new");
        // What a crash left may have another mode.
        match std::fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut new =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        new.write_all(&text)?;
        new.sync_all()?;
        std::fs::rename(&unfinished, file)
    }
}

impl Limit {
    fn is_of(&self, base_url: &str, model: &str) -> bool {
        self.base_url == base_url && self.model == model
    }
}

fn read(file: &Path) -> io::Result<VecDeque<Limit>> {
    let mut text = Vec::new();
    match File::open(file) {
        Ok(file) => file.take(MAX_FILE).read_to_end(&mut text)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(VecDeque::new()),
        Err(error) => return Err(error),
    };
    let mut limits: VecDeque<Limit> = serde_json::from_slice(&text)?;
    limits.retain(|limit| PLAUSIBLE.contains(&limit.context_tokens));
    while limits.len() > MAX_LIMITS {
        limits.pop_front();
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const URL: &str = "http://127.0.0.1:8080/v1";

    #[test]
    fn a_learned_window_survives_a_restart_in_a_private_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("learned.json");
        let learned = Learned::open(Some(file.clone()));
        assert!(learned.learn(URL, "m", 8_192));
        assert!(!learned.learn(URL, "m", 8_192), "it is known now");
        assert!(learned.learn(URL, "m", 4_096), "the server was set up anew");
        learned.save().unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let again = Learned::open(Some(file));
        assert_eq!(again.context_tokens(URL, "m"), Some(4_096));
        assert_eq!(again.context_tokens("http://elsewhere/v1", "m"), None);
        assert_eq!(again.context_tokens(URL, "other"), None);
    }

    #[test]
    fn what_is_not_plausible_is_not_believed() {
        let learned = Learned::default();
        for (model, tokens) in [("m", 0), ("m", 1_023), ("m", u64::MAX), ("", 8_192)] {
            assert!(!learned.learn(URL, model, tokens), "{model:?} {tokens}");
        }
        assert!(!learned.learn(URL, &"m".repeat(MAX_NAME + 1), 8_192));
        assert_eq!(learned.context_tokens(URL, "m"), None);
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many() {
        let learned = Learned::default();
        for number in 0..=MAX_LIMITS {
            assert!(learned.learn(URL, &format!("m{number}"), 8_192));
        }
        assert_eq!(learned.context_tokens(URL, "m0"), None);
        assert_eq!(learned.context_tokens(URL, "m1"), Some(8_192));
        assert_eq!(learned.limits.lock().unwrap().len(), MAX_LIMITS);
    }

    #[test]
    fn a_file_that_makes_no_sense_counts_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("learned.json");
        std::fs::write(&file, "{").unwrap();
        let learned = Learned::open(Some(file.clone()));
        assert_eq!(learned.context_tokens(URL, "m"), None);
        assert!(learned.learn(URL, "m", 8_192));
        learned.save().unwrap();
        assert_eq!(Learned::open(Some(file)).context_tokens(URL, "m"), Some(8_192));
    }
}
