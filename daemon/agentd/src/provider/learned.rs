//! Windows that providers named when they refused a conversation as too long.
//!
//! Kept in a small file, so that a model that is not well known overflows once and not after every
//! start. The file is a help: without it the same is learned again. A server may be set up anew with a
//! larger window, which no error tells, so what was learned is believed for a week.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agentd_domain::{Clock, TimestampMs};
use serde::{Deserialize, Serialize};

/// Most windows that are kept; the oldest go first.
const MAX_LIMITS: usize = 500;
/// Most bytes of the file.
const MAX_FILE: u64 = 1024 * 1024;
/// Most bytes of a name that is kept.
const MAX_NAME: usize = 512;
/// Milliseconds that a window is believed.
const BELIEVED_MS: u64 = 7 * 24 * 3_600 * 1_000;
/// Windows that are believed: others are misread.
const PLAUSIBLE: std::ops::RangeInclusive<u64> = 1_024..=100_000_000;

/// The windows, the one that was learned last at the end.
#[derive(Debug)]
pub(super) struct Learned {
    clock: Arc<dyn Clock>,
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
    /// When it was learned; older files do not say.
    #[serde(default)]
    learned_at: TimestampMs,
}

impl Learned {
    /// Reads what earlier processes learned. A file that cannot be understood counts as none.
    pub(super) fn open(file: Option<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        let read = file.as_deref().map(read).transpose();
        let limits = read.unwrap_or_else(|error| {
            tracing::warn!(%error, "the learned windows of models cannot be read and are learned again");
            None
        });
        let limits = Mutex::new(limits.unwrap_or_default());
        Self { clock, file, limits, writing: Mutex::new(()) }
    }

    /// The window of a model, if it was learned in the last seven days.
    pub(super) fn context_tokens(&self, base_url: &str, model: &str) -> Option<u64> {
        let now = self.clock.now();
        let limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        limits
            .iter()
            .find(|limit| limit.is_of(base_url, model) && limit.is_believed(now))
            .map(|limit| limit.context_tokens)
    }

    /// Takes note of a window. False when it was known, or is not plausible.
    pub(super) fn learn(&self, base_url: &str, model: &str, context_tokens: u64) -> bool {
        let fits = |name: &str| !name.is_empty() && name.len() <= MAX_NAME;
        if !PLAUSIBLE.contains(&context_tokens) || !fits(base_url) || !fits(model) {
            return false;
        }
        let now = self.clock.now();
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let known = limits.iter().position(|limit| limit.is_of(base_url, model));
        if let Some((at, limit)) = known.and_then(|at| Some((at, limits.get(at)?))) {
            if limit.context_tokens == context_tokens && limit.is_believed(now) {
                return false;
            }
            limits.remove(at);
        }
        while limits.len() >= MAX_LIMITS {
            limits.pop_front();
        }
        let (base_url, model) = (base_url.to_owned(), model.to_owned());
        limits.push_back(Limit { base_url, model, context_tokens, learned_at: now });
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

    /// A clock that was set back makes nothing older.
    fn is_believed(&self, now: TimestampMs) -> bool {
        now.since(self.learned_at) < BELIEVED_MS
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

    use agentd_testkit::FakeClock;

    use super::*;

    const URL: &str = "http://127.0.0.1:8080/v1";
    const NOW: i64 = 1_700_000_000_000;
    const DAY: i64 = 24 * 3_600_000;

    fn clock() -> Arc<dyn Clock> {
        Arc::new(FakeClock::at(NOW))
    }

    #[test]
    fn a_window_is_believed_for_a_week_and_can_be_learned_again() {
        let clock = Arc::new(FakeClock::at(NOW));
        let learned = Learned::open(None, Arc::<FakeClock>::clone(&clock));
        assert!(learned.learn(URL, "m", 8_192));
        clock.advance(7 * DAY - 1);
        assert_eq!(learned.context_tokens(URL, "m"), Some(8_192));
        clock.advance(1);
        assert_eq!(learned.context_tokens(URL, "m"), None, "it may have grown");
        assert!(learned.learn(URL, "m", 8_192), "it has not");
        assert_eq!(learned.context_tokens(URL, "m"), Some(8_192));
        assert_eq!(learned.limits.lock().unwrap().len(), 1);
    }

    #[test]
    fn what_an_older_file_holds_is_learned_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("learned.json");
        let text = format!(r#"[{{"base_url":"{URL}","model":"m","context_tokens":8192}}]"#);
        std::fs::write(&file, text).unwrap();
        assert_eq!(Learned::open(Some(file), clock()).context_tokens(URL, "m"), None);
    }

    #[test]
    fn a_learned_window_survives_a_restart_in_a_private_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("learned.json");
        let learned = Learned::open(Some(file.clone()), clock());
        assert!(learned.learn(URL, "m", 8_192));
        assert!(!learned.learn(URL, "m", 8_192), "it is known now");
        assert!(learned.learn(URL, "m", 4_096), "the server was set up anew");
        learned.save().unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let again = Learned::open(Some(file), clock());
        assert_eq!(again.context_tokens(URL, "m"), Some(4_096));
        assert_eq!(again.context_tokens("http://elsewhere/v1", "m"), None);
        assert_eq!(again.context_tokens(URL, "other"), None);
    }

    #[test]
    fn what_is_not_plausible_is_not_believed() {
        let learned = Learned::open(None, clock());
        for (model, tokens) in [("m", 0), ("m", 1_023), ("m", u64::MAX), ("", 8_192)] {
            assert!(!learned.learn(URL, model, tokens), "{model:?} {tokens}");
        }
        assert!(!learned.learn(URL, &"m".repeat(MAX_NAME + 1), 8_192));
        assert_eq!(learned.context_tokens(URL, "m"), None);
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many() {
        let learned = Learned::open(None, clock());
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
        let learned = Learned::open(Some(file.clone()), clock());
        assert_eq!(learned.context_tokens(URL, "m"), None);
        assert!(learned.learn(URL, "m", 8_192));
        learned.save().unwrap();
        assert_eq!(Learned::open(Some(file), clock()).context_tokens(URL, "m"), Some(8_192));
    }
}
