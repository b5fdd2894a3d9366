//! Who a commit is by, when the repository does not say it: what the user has told git.

use std::path::{Path, PathBuf};

/// Largest file of settings that is read, in bytes.
const MAX_FILE: u64 = 256 * 1024;

/// A name and an address, either of which may be empty.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) name: String,
    pub(super) email: String,
}

/// Where git keeps the settings of the user who runs this; the later ones stand above.
pub(crate) fn user_settings() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let config = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(home.as_ref()?.join(".config")));
    let files = [config.map(|dir| dir.join("git/config")), home.map(|dir| dir.join(".gitconfig"))];
    files.into_iter().flatten().filter(|path| path.is_absolute()).collect()
}

/// What these files say of the user. What they include is not followed.
pub(super) fn of_user(files: &[PathBuf]) -> Identity {
    let mut identity = Identity::default();
    for text in files.iter().filter_map(|file| read(file)) {
        identity.take(&text);
    }
    identity
}

fn read(file: &Path) -> Option<String> {
    let metadata = std::fs::metadata(file).ok()?;
    (metadata.is_file() && metadata.len() <= MAX_FILE)
        .then(|| std::fs::read_to_string(file).ok())
        .flatten()
}

impl Identity {
    fn take(&mut self, text: &str) {
        let mut in_user = false;
        for line in text.lines().map(str::trim) {
            if let Some(section) = line.strip_prefix('[') {
                in_user = section
                    .split_once(']')
                    .is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case("user"));
                continue;
            }
            let Some((key, given)) = line.split_once('=').filter(|_| in_user) else { continue };
            match key.trim().to_ascii_lowercase().as_str() {
                "name" => self.name = value(given),
                "email" => self.email = value(given),
                _ => {}
            }
        }
    }
}

/// A value without quotes and comments.
fn value(given: &str) -> String {
    let mut value = String::new();
    let mut quoted = false;
    let mut characters = given.trim().chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' => value.extend(characters.next()),
            '#' | ';' if !quoted => break,
            c => value.push(c),
        }
    }
    value.trim().chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_name_is_read_as_git_writes_it() {
        let mut identity = Identity::default();
        identity.take("[core]\n\tname = no\n[user \"x\"]\nname = no\n");
        assert_eq!(identity, Identity::default());
        identity.take(
            "[User]\n\tName = \"Ada \\\"L\\\"\" # she\n\temail=ada@example.org ; mail\n[a]\n",
        );
        let expect = Identity { name: "Ada \"L\"".into(), email: "ada@example.org".into() };
        assert_eq!(identity, expect);
        identity.take("[user]\nname = Äda # other\n");
        assert_eq!(identity.name, "Äda");
    }
}
