//! The folder of a daemon under test: configuration, data, socket, and a workspace for sessions.

#![expect(clippy::expect_used, reason = "a helper that fails fails the test")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentd_shared::{Endpoint, Paths};
use tempfile::TempDir;

use crate::LlmServer;

/// A folder that is removed with its last clone.
#[derive(Debug, Clone)]
pub struct Home {
    dir: Arc<TempDir>,
    settings: BTreeMap<(String, String), String>,
}

impl Home {
    /// Makes a folder whose configuration suits tests: no model, titles cut from the first message,
    /// no waiting for the disk, and clients that may send as fast as they can.
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("agentd-").tempdir().expect("a folder");
        let mut home = Self { dir: Arc::new(dir), settings: BTreeMap::new() };
        std::fs::create_dir(home.workspace()).expect("a workspace");
        home.set("provider.kind", "offline");
        home.set("session.titles", "first_message");
        home.set("store.fsync", false);
        // What may run is the matter of few tests.
        home.set("permission.mode", "full");
        home.set("submit.per_client_per_second", 0);
        home
    }

    /// Lets a scripted server answer.
    pub fn use_llm(&mut self, llm: &LlmServer) {
        self.set("provider.kind", "auto");
        self.set("provider.base_url", llm.base_url());
        self.set("provider.model", "scripted");
    }

    /// Sets `section.key` of the configuration. It counts from the next [`Self::write_config`] on.
    pub fn set(&mut self, key: &str, value: impl Into<serde_json::Value>) {
        let (section, key) = key.split_once('.').expect("a section and a key");
        // JSON's texts, numbers, booleans and lists are TOML too.
        let value = value.into().to_string();
        self.settings.insert((section.to_owned(), key.to_owned()), value);
    }

    /// Writes the configuration file.
    pub fn write_config(&self) {
        let mut text = String::new();
        let mut current = "";
        for ((section, key), value) in &self.settings {
            if section != current {
                writeln!(text, "[{section}]").expect("memory");
                current = section;
            }
            writeln!(text, "{key} = {value}").expect("memory");
        }
        let paths = self.paths();
        // As private as the daemon demands, whatever the umask.
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&paths.config_dir)
            .expect("the configuration's folder");
        std::fs::set_permissions(&paths.config_dir, std::fs::Permissions::from_mode(0o700))
            .expect("a private folder");
        std::fs::write(paths.config_file(), text).expect("write the configuration");
    }

    /// The folder, as `AGENTD_HOME` names it.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Where the daemon keeps its files.
    pub fn paths(&self) -> Paths {
        Paths::under(self.dir())
    }

    /// Where the daemon listens.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::new(self.paths().socket())
    }

    /// A folder for sessions to work in.
    pub fn workspace(&self) -> PathBuf {
        self.dir().join("workspace")
    }

    /// The lines that [`crate::AppendLine`] wrote, in order.
    pub fn appended_lines(&self) -> Vec<String> {
        match std::fs::read_to_string(self.workspace().join(crate::AppendLine::FILE)) {
            Ok(text) => text.lines().map(str::to_owned).collect(),
            Err(_not_there) => Vec::new(),
        }
    }
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}
