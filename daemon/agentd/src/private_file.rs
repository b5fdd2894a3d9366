//! Reading files that hold secrets: mode and owner are checked on the open file, not on its path.

use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::environment::Environment;

/// Where systemd keeps the credentials of a service (`LoadCredential=`).
pub(crate) const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";
/// How the configuration names that directory.
const CREDENTIALS_PREFIX: &str = "${CREDENTIALS_DIRECTORY}/";

/// A file that holds a secret, and what its mode may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecretFile {
    pub(crate) path: PathBuf,
    /// systemd has made it: it belongs to root, and an access list admits the daemon's user, which
    /// shows in the mode as rights of the group.
    pub(crate) is_credential: bool,
}

impl SecretFile {
    /// The file that the configuration names, by its path or as a credential of systemd.
    ///
    /// # Errors
    /// Why there cannot be one, as a sentence.
    pub(crate) fn named(configured: &str, env: &Environment) -> Result<Self, String> {
        let credentials = env.get(CREDENTIALS).filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let Some(name) = configured.strip_prefix(CREDENTIALS_PREFIX) else {
            let path = PathBuf::from(configured);
            let is_credential =
                credentials.is_some_and(|dir| path.parent().is_some_and(|parent| parent == dir));
            return Ok(Self { path, is_credential });
        };
        if name.is_empty() || name.contains('/') {
            return Err("a credential's name has no '/'".to_owned());
        }
        let Some(dir) = credentials else {
            return Err(format!(
                "{CREDENTIALS} is not set; systemd sets it for a unit with LoadCredential="
            ));
        };
        Ok(Self { path: dir.join(name), is_credential: true })
    }

    /// Reads it, at most `max` bytes of it.
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence about the file.
    pub(crate) fn read(&self, max: u64) -> Result<String, String> {
        if self.is_credential {
            read(&self.path, max, 0o037, true)
        } else {
            read_private(&self.path, max)
        }
    }
}

/// Reads a file that only its owner, this user, can read, at most `max` bytes of it.
///
/// # Errors
/// What is wrong with it, as the end of a sentence about the file.
pub(crate) fn read_private(path: &Path, max: u64) -> Result<String, String> {
    read(path, max, 0o077, false)
}

fn read(path: &Path, max: u64, refused: u32, may_be_roots: bool) -> Result<String, String> {
    let mut file = std::fs::OpenOptions::new()
        .read(true)
        // A FIFO in its place must not block the daemon.
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
        .map_err(|error| error.to_string())?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("is not a regular file".to_owned());
    }
    if metadata.mode() & refused != 0 {
        let mode = metadata.mode() & 0o777;
        return Err(format!("has mode {mode:o}, so others can read it; run chmod 600 on it"));
    }
    let owner = metadata.uid();
    let is_trusted = owner == rustix::process::geteuid().as_raw() || (may_be_roots && owner == 0);
    if !is_trusted {
        return Err("belongs to another user".to_owned());
    }
    let mut text = String::new();
    file.by_ref().take(max).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    Ok(text)
}
