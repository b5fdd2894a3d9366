//! Keys: from a file that only its owner can read, from systemd's credentials, or from the environment.

use std::path::Path;

use agentd_llm::{LlmError, Secret};

use super::first_of;
use crate::config::ProviderConfig;
use crate::environment::Environment;
use crate::private_file::{CREDENTIALS, SecretFile};

/// Most bytes of a key file.
const MAX_KEY_BYTES: u64 = 4096;

/// The credential that is the key where none is named.
const CREDENTIAL: &str = "agentd-api-key";

/// A key that was found.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) secret: Secret,
    /// Where it was found: a file or a variable, by name.
    pub(super) place: String,
}

/// Finds the key. The file comes first: naming one is the more deliberate act. `section` is where the
/// settings stand, `variable` what may hold the key, `has_credential` whether the credential that nobody
/// names is meant.
pub(super) fn find(
    section: &str,
    config: &ProviderConfig,
    variable: &str,
    has_credential: bool,
    env: &Environment,
) -> Result<Option<Key>, LlmError> {
    let has_file = has_credential || !config.api_key_file.is_empty();
    if let Some(file) = has_file.then(|| key_file(&config.api_key_file, env)).flatten() {
        let found = file.and_then(|file| {
            let secret = read_file(&file)?;
            Ok(Some(Key { secret, place: format!("the file {}", file.path.display()) }))
        });
        return found.map_err(|problem| {
            let named = first_of([config.api_key_file.as_str(), "credential agentd-api-key"]);
            LlmError::NoKey { message: format!("{section}.api_key_file {named}: {problem}") }
        });
    }
    Ok(env.get(variable).map(str::trim).filter(|key| !key.is_empty()).map(|key| Key {
        secret: Secret::from(key.to_owned()),
        place: format!("the variable {variable}"),
    }))
}

/// The file that holds the key, or why there cannot be one.
fn key_file(configured: &str, env: &Environment) -> Option<Result<SecretFile, String>> {
    if !configured.is_empty() {
        return Some(SecretFile::named(configured, env));
    }
    let dir = env.get(CREDENTIALS).filter(|dir| !dir.is_empty())?;
    let path = Path::new(dir).join(CREDENTIAL);
    path.exists().then_some(Ok(SecretFile { path, is_credential: true }))
}

/// Reads a key file.
fn read_file(file: &SecretFile) -> Result<Secret, String> {
    file.read(MAX_KEY_BYTES).map(|text| Secret::from(text.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_credential_of_systemd_is_the_key_where_no_file_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(CREDENTIAL);
        let env = |set: bool| -> Environment {
            let pair = (CREDENTIALS.to_owned(), dir.path().display().to_string());
            set.then_some(pair).into_iter().collect()
        };
        assert_eq!(key_file("", &env(true)), None, "it is not there yet");
        std::fs::write(&file, "sk-1\n").unwrap();
        assert_eq!(key_file("", &env(false)), None);
        let read = |configured: &str, mode: u32, env: &Environment| {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            key_file(configured, env).unwrap().and_then(|file| read_file(&file)).map(|_key| ())
        };
        // An access list for the daemon's user shows as rights of the group.
        for mode in [0o400, 0o440] {
            read("", mode, &env(true)).unwrap();
            read("${CREDENTIALS_DIRECTORY}/agentd-api-key", mode, &env(true)).unwrap();
            read(&file.display().to_string(), mode, &env(true)).unwrap();
        }
        for mode in [0o444, 0o460] {
            let problem = read("", mode, &env(true)).unwrap_err();
            assert!(problem.contains("others can read it"), "{problem}");
        }
        let problem = read(&file.display().to_string(), 0o440, &env(false)).unwrap_err();
        assert!(problem.contains("others can read it"), "{problem}");
    }

    #[test]
    fn a_credential_that_cannot_be_had_says_why() {
        let check = |configured: &str, vars: &[(&str, &str)], part: &str| {
            let env = vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            let problem = key_file(configured, &env).unwrap().unwrap_err();
            assert!(problem.contains(part), "{problem}");
        };
        check("${CREDENTIALS_DIRECTORY}/key", &[], "LoadCredential=");
        check("${CREDENTIALS_DIRECTORY}/../key", &[(CREDENTIALS, "/run/c")], "has no '/'");
    }
}
