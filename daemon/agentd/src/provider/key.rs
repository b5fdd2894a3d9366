//! Keys: from a file that only its owner can read, or from the environment.

use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};

use agentd_llm::{LlmError, Secret};

use super::first_of;
use super::preset::Preset;
use crate::config::ProviderConfig;
use crate::environment::Environment;

/// Most bytes of a key file.
const MAX_KEY_BYTES: u64 = 4096;

/// Finds the key. The file comes first: naming one is the more deliberate act.
pub(super) fn find(
    config: &ProviderConfig,
    preset: &Preset,
    env: &Environment,
) -> Result<Option<Secret>, LlmError> {
    if !config.api_key_file.is_empty() {
        return read_file(&config.api_key_file).map(Some).map_err(|problem| LlmError::NoKey {
            message: format!("provider.api_key_file {}: {problem}", config.api_key_file),
        });
    }
    let name = first_of([config.api_key_env.as_str(), preset.key_env]);
    Ok(env
        .get(name)
        .map(str::trim)
        .filter(|key| !key.is_empty())
        .map(|key| Secret::from(key.to_owned())))
}

/// Reads a key file. Mode and owner are checked on the open file, not on its path.
fn read_file(path: &str) -> Result<Secret, String> {
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
    if metadata.mode() & 0o077 != 0 {
        let mode = metadata.mode() & 0o777;
        return Err(format!("has mode {mode:o}, so others can read it; run chmod 600 on it"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err("belongs to another user".to_owned());
    }
    let mut text = String::new();
    file.by_ref()
        .take(MAX_KEY_BYTES)
        .read_to_string(&mut text)
        .map_err(|error| error.to_string())?;
    let key = text.trim();
    if key.is_empty() {
        return Err("is empty".to_owned());
    }
    Ok(Secret::from(key.to_owned()))
}
