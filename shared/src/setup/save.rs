//! Writing the first configuration, and the key that it names.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::{LocalServer, Service};
use crate::paths::{Paths, PathsError, ensure_config_dir};

/// Name of the file with the key, beside the configuration.
const KEY_FILE: &str = "api-key";
/// Most bytes of a key; the daemon reads no more.
const MAX_KEY: usize = 4096;

/// What shall answer.
#[derive(Clone, PartialEq, Eq)]
pub enum FirstChoice {
    /// A service, with a key.
    Key {
        /// Whose key it is.
        service: Service,
        /// The key.
        key: String,
    },
    /// A server on this machine.
    Local {
        /// Which.
        server: LocalServer,
        /// The model.
        model: String,
    },
    /// A server somewhere that speaks as OpenAI's does.
    Server {
        /// Its address, such as `http://box.lan:8000/v1`.
        base_url: String,
        /// The model.
        model: String,
        /// Its key; empty: it wants none.
        key: String,
    },
    /// What there is: the offline engine, until a server or a key is found.
    Offline,
}

impl std::fmt::Debug for FirstChoice {
    /// Tells nothing of the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Key { service, key: _ } => {
                f.debug_struct("Key").field("service", service).finish()
            }
            Self::Local { server, model } => {
                f.debug_struct("Local").field("server", server).field("model", model).finish()
            }
            Self::Server { base_url, model, key: _ } => {
                let mut shown = f.debug_struct("Server");
                shown.field("base_url", base_url).field("model", model).finish()
            }
            Self::Offline => f.write_str("Offline"),
        }
    }
}

/// Why a first configuration was not written.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// Somebody has one.
    #[error("there is a configuration already, {}", .0.display())]
    HasConfig(PathBuf),
    /// No key looks like that.
    #[error("that is no key: {0}")]
    NotAKey(&'static str),
    /// No server is reached by that.
    #[error("that is no address of a server: it begins with http:// or https://")]
    NotAnAddress,
    /// The directory cannot be used.
    #[error(transparent)]
    Directory(#[from] PathsError),
    /// A file cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl SaveError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::HasConfig(_) => "edit it, then run `agentctl reload`",
            Self::NotAKey(_) => "paste the key alone, in one line",
            Self::NotAnAddress => "type it whole, such as http://127.0.0.1:8000/v1",
            Self::Directory(error) => error.hint(),
            Self::Write { .. } => "look at the directory's owner, mode and free space",
        }
    }
}

/// A first configuration that was written.
#[derive(Debug, PartialEq, Eq)]
pub struct Saved {
    /// The configuration.
    pub config_file: PathBuf,
    /// The file with the key, if there is one.
    pub key_file: Option<PathBuf>,
}

impl FirstChoice {
    /// Writes it, readable for its owner alone. Nothing that exists is overwritten.
    ///
    /// # Errors
    /// When there is a configuration, the key cannot be one, or a file cannot be written.
    pub fn save(&self, paths: &Paths) -> Result<Saved, SaveError> {
        let config_file = paths.config_file();
        if !super::is_first_run(paths) {
            return Err(SaveError::HasConfig(config_file));
        }
        ensure_config_dir(&paths.config_dir)?;
        let mut saved = Saved { config_file, key_file: None };
        let text = match self {
            Self::Key { service, key } => {
                let file = keep_key(paths, key)?;
                let text = provider(&[("kind", service.kind()), ("api_key_file", &shown(&file))]);
                saved.key_file = Some(file);
                text
            }
            Self::Local { server, model } => {
                let LocalServer { kind, base_url, .. } = server;
                provider(&[("kind", *kind), ("base_url", base_url), ("model", model)])
            }
            Self::Server { base_url, model, key } => {
                if !is_address(base_url) {
                    return Err(SaveError::NotAnAddress);
                }
                let mut keys = vec![("kind", "openai"), ("base_url", base_url), ("model", model)];
                if !key.trim().is_empty() {
                    saved.key_file = Some(keep_key(paths, key)?);
                }
                let key_file = saved.key_file.as_deref().map(shown);
                keys.extend(key_file.as_deref().map(|file| ("api_key_file", file)));
                provider(&keys)
            }
            Self::Offline => EXAMPLE.to_owned(),
        };
        match write(&saved.config_file, &format!("{HEAD}{text}"), Existing::Keep) {
            Ok(()) => Ok(saved),
            Err(error) => {
                // The key is not to lie about without anything that names it.
                if let Some(key_file) = saved.key_file {
                    let _stays = std::fs::remove_file(key_file);
                }
                Err(error)
            }
        }
    }
}

impl Saved {
    /// Takes back what was written, because it is not good.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn undo(self) -> io::Result<()> {
        std::fs::remove_file(&self.config_file)?;
        self.key_file.map_or(Ok(()), std::fs::remove_file)
    }
}

/// What stands above all.
const HEAD: &str = "\
# Written when no model was found. What is not here has its default; `agentctl config show` prints all
# keys with what is in force, and `agentctl reload` applies a change.
";

/// What stands there for whoever has named no model yet.
const EXAMPLE: &str = r#"
# To name a model, for example of a server with OpenAI's API:
#
#   [provider]
#   kind = "openai"
#   base_url = "http://127.0.0.1:8000/v1"
#   model = "NAME"
#   api_key_file = "FILE"    # with mode 0600, where the server wants a key
"#;

/// The section of the provider with those keys.
fn provider(keys: &[(&str, &str)]) -> String {
    let mut text = "\n[provider]\n".to_owned();
    for (key, value) in keys {
        text.extend([key, " = ", &quoted(value), "\n"]);
    }
    text
}

/// Writes a key to a file of its own.
fn keep_key(paths: &Paths, key: &str) -> Result<PathBuf, SaveError> {
    let key = checked(key)?;
    let file = paths.config_dir.join(KEY_FILE);
    // One without a configuration is of a run that was cut off.
    write(&file, &format!("{key}\n"), Existing::Replace)?;
    Ok(file)
}

/// Whether that may be the address of a server; the daemon looks closer.
pub(super) fn is_address(text: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme))
}

fn shown(file: &Path) -> String {
    file.display().to_string()
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// The key without white space around it.
fn checked(key: &str) -> Result<&str, SaveError> {
    let key = key.trim();
    if key.is_empty() {
        return Err(SaveError::NotAKey("it is empty"));
    }
    if key.len() > MAX_KEY {
        return Err(SaveError::NotAKey("it is too long"));
    }
    // Whoever meant a server must not have its address sent to a service as a key.
    if key.contains("://") {
        return Err(SaveError::NotAKey("it is an address; a server at one is another choice"));
    }
    // It goes into a header.
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(SaveError::NotAKey("it holds white space or characters that no key has"));
    }
    Ok(key)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Existing {
    Keep,
    Replace,
}

/// Writes a file whole or not at all.
fn write(path: &Path, text: &str, existing: Existing) -> Result<(), SaveError> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.new", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| match existing {
            Existing::Replace => std::fs::rename(&temporary, path),
            // A link is not made over a file that appeared meanwhile.
            Existing::Keep => std::fs::hard_link(&temporary, path),
        });
    if written.is_err() || existing == Existing::Keep {
        // Its name tells what it is, if it stays.
        let _stays = std::fs::remove_file(&temporary);
    }
    written.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists if existing == Existing::Keep => {
            SaveError::HasConfig(path.to_owned())
        }
        _ => SaveError::Write { path: path.to_owned(), source },
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn key(key: &str) -> FirstChoice {
        FirstChoice::Key { service: Service::Anthropic, key: key.to_owned() }
    }

    #[test]
    fn a_key_is_kept_by_itself_for_its_owner_alone_and_named_in_the_configuration() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::under(home.path());
        let saved = key(" sk-ant-1 \n").save(&paths).unwrap();
        let file = saved.key_file.clone().unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "sk-ant-1\n");
        for path in [&file, &saved.config_file] {
            let mode = std::fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        }
        let text = std::fs::read_to_string(&saved.config_file).unwrap();
        let config: toml::Table = text.parse().unwrap();
        let provider = config["provider"].as_table().unwrap();
        assert_eq!(provider["kind"].as_str(), Some("anthropic"));
        assert_eq!(provider["api_key_file"].as_str(), file.to_str());
        assert!(!text.contains("sk-ant-1"));
        // Neither is there anything else, nor is what is there overwritten.
        assert_eq!(std::fs::read_dir(&paths.config_dir).unwrap().count(), 2);
        let again = key("sk-ant-2").save(&paths);
        assert!(matches!(again, Err(SaveError::HasConfig(_))), "{again:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "sk-ant-1\n");
        saved.undo().unwrap();
        assert_eq!(std::fs::read_dir(&paths.config_dir).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_key_is_refused_and_nothing_is_written() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::under(home.path());
        for wrong in ["", "  ", "sk one", "sk\u{1b}", "schlüssel", "http://sk", &"x".repeat(5000)]
        {
            let refused = key(wrong).save(&paths);
            assert!(matches!(refused, Err(SaveError::NotAKey(_))), "{refused:?}");
            assert!(super::super::is_first_run(&paths));
        }
        assert!(!format!("{:?}", key("sk-1")).contains("sk-1"), "a key is not shown");
    }

    #[test]
    fn names_of_models_cannot_leave_their_string() {
        let model = "a\"\n[remote]\nlisten = [\"0.0.0.0\"]";
        let config: toml::Table = provider(&[("model", model)]).parse().unwrap();
        assert_eq!(config.len(), 1);
        assert_eq!(config["provider"]["model"].as_str(), Some(model));
    }

    #[test]
    fn who_goes_on_offline_has_a_configuration_in_which_everything_is_a_default() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::under(home.path());
        let saved = FirstChoice::Offline.save(&paths).unwrap();
        let text = std::fs::read_to_string(&saved.config_file).unwrap();
        assert!(text.parse::<toml::Table>().unwrap().is_empty());
        assert!(!super::super::is_first_run(&paths));
    }
}
