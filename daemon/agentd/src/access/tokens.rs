//! The tokens there are. Checking one touches memory only; a change is durable before it is told.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agentd_domain::{Clock, IdSource};

use super::file::{self, StoredToken, TokenFileError};
use super::scope::Scope;
use super::secret::{Hash, TokenText, id_in};

/// Most tokens at once.
const MAX_TOKENS: usize = 1000;
/// Most characters of a name.
const MAX_NAME_CHARS: usize = 100;
/// How exactly the last use is known: writing it each time would cost more than the call.
const MINUTE_MS: i64 = 60_000;

/// The tokens of a daemon.
#[derive(Debug)]
pub(crate) struct Tokens {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    /// Held only for moments, never while the file is written.
    all: Mutex<Vec<Arc<Token>>>,
    /// Held by whoever writes the file.
    writing: Mutex<()>,
    /// Why the file cannot be used. Then it is left as it is.
    unusable: Option<String>,
    /// A last use is newer than the file.
    is_dirty: AtomicBool,
}

#[derive(Debug)]
struct Token {
    info: TokenInfo,
    hash: Hash,
    last_used_at_ms: AtomicI64,
}

/// A token without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenInfo {
    /// Not secret.
    pub(crate) id: String,
    /// What its maker called it.
    pub(crate) name: String,
    /// What it allows.
    pub(crate) scope: Scope,
    /// Unix milliseconds.
    pub(crate) created_at_ms: i64,
    /// Unix milliseconds; 0: never.
    pub(crate) expires_at_ms: i64,
    /// Unix milliseconds, to the minute; 0: never.
    pub(crate) last_used_at_ms: i64,
}

/// What a good token gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grant {
    /// Which token.
    pub(crate) token_id: String,
    /// What it is called.
    pub(crate) name: String,
    /// What it allows.
    pub(crate) scope: Scope,
}

/// Why a token is not good. The text of none is ever repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// It is not one of ours, or not any more.
    #[error("the token is not known here; it may have been revoked")]
    Unknown,
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
}

/// Why a token cannot be made or revoked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    /// The name cannot be one.
    #[error("{0}")]
    Name(String),
    /// There is one of this name.
    #[error("there is a token with the name '{0}'")]
    Taken(String),
    /// It would expire after the end of time.
    #[error("the time is too long")]
    Ttl,
    /// There are too many.
    #[error("there are {MAX_TOKENS} tokens, which is the most there may be")]
    TooMany,
    /// There is no such token.
    #[error("there is no token with the id '{0}'")]
    NoToken(String),
    /// The file cannot be written.
    #[error("the tokens cannot be stored: {0}")]
    Write(io::Error),
    /// What is in the file is not known.
    #[error("{0}")]
    Unusable(String),
    /// The system gives no randomness.
    #[error("the system gives no randomness")]
    NoRandomness,
}

impl Tokens {
    /// Reads the tokens in `path`.
    ///
    /// # Errors
    /// When the file is there and cannot be used.
    pub(crate) fn load(
        path: &Path,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<Self, TokenFileError> {
        let all = file::read(path)?.into_iter().map(|stored| {
            Token::from_stored(stored).map(Arc::new).ok_or_else(|| TokenFileError::Damaged {
                file: path.to_owned(),
                problem: "a hash is not one".to_owned(),
            })
        });
        Ok(Self {
            path: path.to_owned(),
            clock,
            ids,
            all: Mutex::new(all.collect::<Result<_, _>>()?),
            writing: Mutex::default(),
            unusable: None,
            is_dirty: AtomicBool::new(false),
        })
    }

    /// No tokens, because their file cannot be used: nobody is let in, and the file stays as it is.
    pub(crate) fn unusable(
        path: &Path,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
        error: &TokenFileError,
    ) -> Self {
        Self {
            path: path.to_owned(),
            clock,
            ids,
            all: Mutex::default(),
            writing: Mutex::default(),
            unusable: Some(format!("{error}; {}, then start agentd again", error.hint())),
            is_dirty: AtomicBool::new(false),
        }
    }

    /// # Errors
    /// When the file of tokens could not be used.
    pub(crate) fn check_usable(&self) -> Result<(), TokenError> {
        self.unusable.clone().map_or(Ok(()), |problem| Err(TokenError::Unusable(problem)))
    }

    /// Makes a token. Blocks on the disk.
    ///
    /// # Errors
    /// When the name is not good or the file cannot be written.
    pub(crate) fn create(
        &self,
        name: &str,
        scope: Scope,
        ttl: Option<Duration>,
    ) -> Result<(TokenInfo, TokenText), TokenError> {
        self.check_usable()?;
        let name = checked_name(name)?;
        let created_at_ms = self.clock.now().0;
        let expires_at_ms = match ttl {
            None => 0,
            Some(ttl) => i64::try_from(ttl.as_millis())
                .ok()
                .and_then(|ttl| created_at_ms.checked_add(ttl))
                .ok_or(TokenError::Ttl)?,
        };
        let _writer = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = self.all();
        if all.len() >= MAX_TOKENS {
            return Err(TokenError::TooMany);
        }
        if all.iter().any(|token| token.info.name == name) {
            return Err(TokenError::Taken(name));
        }
        let id = loop {
            // Not secret: it only has to be new.
            let id = format!("{:012x}", self.ids.random() & 0xffff_ffff_ffff);
            if all.iter().all(|token| token.info.id != id) {
                break id;
            }
        };
        let text = TokenText::new(&id).map_err(|_unspecified| TokenError::NoRandomness)?;
        let info = TokenInfo { id, name, scope, created_at_ms, expires_at_ms, last_used_at_ms: 0 };
        let last_used_at_ms = AtomicI64::new(0);
        all.push(Arc::new(Token { info: info.clone(), hash: text.hash(), last_used_at_ms }));
        self.replace(all)?;
        tracing::info!(token = info.id, name = info.name, scope = scope.name(), "a token was made");
        Ok((info, text))
    }

    /// The tokens, the newest first.
    pub(crate) fn list(&self) -> Vec<TokenInfo> {
        self.all().iter().rev().map(|token| token.shown()).collect()
    }

    /// Makes a token useless. Blocks on the disk.
    ///
    /// # Errors
    /// When there is none or the file cannot be written.
    pub(crate) fn revoke(&self, id: &str) -> Result<(), TokenError> {
        self.check_usable()?;
        let _writer = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = self.all();
        let count = all.len();
        all.retain(|token| token.info.id != id);
        if all.len() == count {
            return Err(TokenError::NoToken(id.to_owned()));
        }
        self.replace(all)?;
        tracing::info!(token = id, "a token was revoked");
        Ok(())
    }

    /// Says whose token this is, and notes that it was used.
    ///
    /// # Errors
    /// When it is not known or has expired.
    pub(crate) fn check(&self, text: &str) -> Result<Grant, Refusal> {
        let hash = Hash::of(text);
        let id = id_in(text).ok_or(Refusal::Unknown)?;
        let token = self.find(id).ok_or(Refusal::Unknown)?;
        if !token.hash.matches(&hash) {
            return Err(Refusal::Unknown);
        }
        let now = self.clock.now().0;
        if token.is_expired(now) {
            return Err(Refusal::Expired);
        }
        let minute = now - now.rem_euclid(MINUTE_MS);
        if token.last_used_at_ms.swap(minute, Ordering::Relaxed) != minute {
            self.is_dirty.store(true, Ordering::Relaxed);
        }
        let TokenInfo { id, name, scope, .. } = &token.info;
        Ok(Grant { token_id: id.clone(), name: name.clone(), scope: *scope })
    }

    /// True while a token that was good still is.
    pub(crate) fn is_good(&self, id: &str) -> bool {
        self.find(id).is_some_and(|token| !token.is_expired(self.clock.now().0))
    }

    /// Writes last uses that are newer than the file. Blocks on the disk.
    ///
    /// # Errors
    /// When the file cannot be written; the next call tries again.
    pub(crate) fn flush(&self) -> io::Result<()> {
        let _writer = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_dirty.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let stored = self.all().iter().map(|token| token.stored()).collect();
        file::write(&self.path, stored).inspect_err(|_| {
            self.is_dirty.store(true, Ordering::Relaxed);
        })
    }

    /// Writes the file, then lets the change be seen. The caller holds `writing`.
    fn replace(&self, new: Vec<Arc<Token>>) -> Result<(), TokenError> {
        let stored = new.iter().map(|token| token.stored()).collect();
        file::write(&self.path, stored).map_err(TokenError::Write)?;
        *self.all.lock().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(())
    }

    fn all(&self) -> Vec<Arc<Token>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn find(&self, id: &str) -> Option<Arc<Token>> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|token| token.info.id == id).cloned()
    }
}

impl Token {
    fn from_stored(stored: StoredToken) -> Option<Self> {
        let StoredToken { id, name, scope, hash, created_at_ms, expires_at_ms, last_used_at_ms } =
            stored;
        Some(Self {
            hash: Hash::decode(&hash)?,
            info: TokenInfo { id, name, scope, created_at_ms, expires_at_ms, last_used_at_ms },
            last_used_at_ms: AtomicI64::new(last_used_at_ms),
        })
    }

    fn stored(&self) -> StoredToken {
        let TokenInfo { id, name, scope, created_at_ms, expires_at_ms, last_used_at_ms } =
            self.shown();
        let hash = self.hash.encode();
        StoredToken { id, name, scope, hash, created_at_ms, expires_at_ms, last_used_at_ms }
    }

    fn shown(&self) -> TokenInfo {
        let last_used_at_ms = self.last_used_at_ms.load(Ordering::Relaxed);
        TokenInfo { last_used_at_ms, ..self.info.clone() }
    }

    fn is_expired(&self, now: i64) -> bool {
        self.info.expires_at_ms != 0 && now >= self.info.expires_at_ms
    }
}

fn checked_name(name: &str) -> Result<String, TokenError> {
    let name = name.trim();
    let chars = name.chars().count();
    if chars == 0 {
        return Err(TokenError::Name("it is empty".to_owned()));
    }
    if chars > MAX_NAME_CHARS {
        let problem = format!("it has {chars} characters; at most {MAX_NAME_CHARS} are allowed");
        return Err(TokenError::Name(problem));
    }
    if name.chars().any(char::is_control) {
        return Err(TokenError::Name("it holds a control character".to_owned()));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests;
