//! Servers that a user has given names to: `contexts.toml`, mode 0600, as it may hold tokens.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::ErrorKind;
use crate::paths::{PathsError, ensure_private_dir};
use crate::remote::{RemoteError, RemoteOptions, Token};

/// Name of the daemon on this machine; no context can have it.
pub const LOCAL: &str = "local";
/// Most characters of a name.
const MAX_NAME_CHARS: usize = 64;

/// The named servers and which one is used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contexts {
    /// The one that commands use; `None`: the daemon on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    current: Option<String>,
    #[serde(default)]
    contexts: BTreeMap<String, Context>,
}

/// A named server. Paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// `https://host:port`.
    pub server: String,
    /// The token itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    /// File with the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// File with the CA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// File with this client's certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cert: Option<PathBuf>,
    /// File with its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_key: Option<PathBuf>,
    /// Name that the certificate must be for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
}

impl Context {
    /// What it takes to connect. Reads the token's file.
    ///
    /// # Errors
    /// When that file cannot be used.
    pub fn options(&self) -> Result<RemoteOptions, RemoteError> {
        let Self { server, token, token_file, ca, client_cert, client_key, server_name } =
            self.clone();
        let token = match token_file {
            Some(file) => Some(Token::from_file(&file)?),
            None => token,
        };
        Ok(RemoteOptions { server, token, ca, client_cert, client_key, server_name })
    }
}

/// Why contexts cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ContextsError {
    /// The file cannot be read or written.
    #[error("{} cannot be {action}", .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// "read" or "written".
        action: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Its directory is not usable.
    #[error(transparent)]
    Dir(#[from] PathsError),
    /// It is not what this program writes.
    #[error("{} cannot be understood: {problem}", .file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The name cannot be one.
    #[error("'{0}' cannot be the name of a context")]
    Name(String),
    /// There is one already.
    #[error("there is a context '{0}' already")]
    Exists(String),
    /// There is none.
    #[error("there is no context '{0}'")]
    Unknown(String),
}

impl ContextsError {
    /// What sort of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                ErrorKind::Denied
            }
            Self::Io { .. } => ErrorKind::Internal,
            Self::Dir(error) => error.kind(),
            Self::Damaged { .. } => ErrorKind::Corrupt,
            Self::Name(_) => ErrorKind::Invalid,
            Self::Exists(_) => ErrorKind::Conflict,
            Self::Unknown(_) => ErrorKind::NotFound,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } => "check the file's owner and mode",
            Self::Dir(error) => error.hint(),
            Self::Damaged { .. } => "correct the file or move it away",
            Self::Name(_) => {
                "use letters, digits, '-', '_' and '.'; 'local' is the daemon on this machine"
            }
            Self::Exists(_) => "remove it first with `agentctl context remove NAME`",
            Self::Unknown(_) => "`agentctl context list` shows those there are",
        }
    }
}

impl Contexts {
    /// Reads a file. A missing one holds no context.
    ///
    /// # Errors
    /// When it cannot be read or understood.
    pub fn load(file: &Path) -> Result<Self, ContextsError> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => {
                return Err(ContextsError::Io { file: file.to_owned(), action: "read", source });
            }
        };
        // The parser's own text would quote the line, which may be that of a token.
        toml::from_str(&text).map_err(|error| ContextsError::Damaged {
            file: file.to_owned(),
            problem: error.message().to_owned(),
        })
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, file: &Path) -> Result<(), ContextsError> {
        if let Some(dir) = file.parent() {
            ensure_private_dir(dir)?;
        }
        let new = file.with_extension("toml.new");
        let write = || -> io::Result<()> {
            match std::fs::remove_file(&new) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let text = toml::to_string(self).map_err(io::Error::other)?;
            let mut open =
                std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
            open.write_all(text.as_bytes())?;
            open.sync_all()?;
            std::fs::rename(&new, file)
        };
        write().map_err(|source| ContextsError::Io {
            file: file.to_owned(),
            action: "written",
            source,
        })
    }

    /// Names a server.
    ///
    /// # Errors
    /// When the name is taken or cannot be one.
    pub fn add(&mut self, name: &str, context: Context) -> Result<(), ContextsError> {
        let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty()
            || name == LOCAL
            || name.len() > MAX_NAME_CHARS
            || !name.chars().all(is_good)
        {
            return Err(ContextsError::Name(name.to_owned()));
        }
        if self.contexts.contains_key(name) {
            return Err(ContextsError::Exists(name.to_owned()));
        }
        self.contexts.insert(name.to_owned(), context);
        Ok(())
    }

    /// Makes commands use a server, or with [`LOCAL`] the daemon on this machine.
    ///
    /// # Errors
    /// When there is no such context.
    pub fn select(&mut self, name: &str) -> Result<(), ContextsError> {
        self.current = if name == LOCAL {
            None
        } else {
            self.get(name)?;
            Some(name.to_owned())
        };
        Ok(())
    }

    /// Forgets a server. When commands used it, they use the daemon on this machine.
    ///
    /// # Errors
    /// When there is no such context.
    pub fn remove(&mut self, name: &str) -> Result<(), ContextsError> {
        if self.contexts.remove(name).is_none() {
            return Err(ContextsError::Unknown(name.to_owned()));
        }
        self.current.take_if(|current| current == name);
        Ok(())
    }

    /// A server by its name.
    ///
    /// # Errors
    /// When there is no such context.
    pub fn get(&self, name: &str) -> Result<&Context, ContextsError> {
        self.contexts.get(name).ok_or_else(|| ContextsError::Unknown(name.to_owned()))
    }

    /// The one that commands use; `None`: the daemon on this machine.
    pub fn current(&self) -> Option<&str> {
        self.current.as_deref()
    }

    /// All of them by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Context)> {
        self.contexts.iter().map(|(name, context)| (name.as_str(), context))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn context() -> Context {
        Context {
            server: "https://box.lan:7443".to_owned(),
            token: Some(Token::new("agentd_a_secret").unwrap()),
            ca: Some("/c/ca.pem".into()),
            ..Default::default()
        }
    }

    #[test]
    fn contexts_survive_in_a_private_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config").join("contexts.toml");
        assert_eq!(Contexts::load(&file).unwrap(), Contexts::default());
        let mut contexts = Contexts::default();
        contexts.add("box", context()).unwrap();
        contexts.select("box").unwrap();
        contexts.save(&file).unwrap();
        assert_eq!(Contexts::load(&file).unwrap(), contexts);
        let mode = std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        assert!(!format!("{contexts:?}").contains("secret"));
    }

    #[test]
    fn a_context_that_is_removed_is_not_used_any_more() {
        let mut contexts = Contexts::default();
        contexts.add("box", context()).unwrap();
        contexts.select("box").unwrap();
        assert_eq!(contexts.current(), Some("box"));
        contexts.remove("box").unwrap();
        assert_eq!(contexts.current(), None);
        assert!(matches!(contexts.select("box"), Err(ContextsError::Unknown(_))));
        contexts.select(LOCAL).unwrap();
    }

    #[test]
    fn names_are_simple_and_used_once() {
        let mut contexts = Contexts::default();
        for name in ["", LOCAL, "a b", "ä", &"x".repeat(65)] {
            let refused = contexts.add(name, context());
            assert!(matches!(refused, Err(ContextsError::Name(_))), "{name}");
        }
        contexts.add("box.lan-2_x", context()).unwrap();
        let again = contexts.add("box.lan-2_x", context());
        assert!(matches!(again, Err(ContextsError::Exists(_))), "{again:?}");
    }

    #[test]
    fn a_damaged_file_is_named_and_not_quoted() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("contexts.toml");
        std::fs::write(&file, "[contexts.box]\nserver = 1\ntoken = \"agentd_a_secret\"\n").unwrap();
        let error = Contexts::load(&file).unwrap_err().to_string();
        assert!(error.contains("contexts.toml") && !error.contains("secret"), "{error}");
    }
}
