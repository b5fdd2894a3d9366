//! `[sandbox]`: what programs that agents run are shut in by.

use std::path::{Path, PathBuf};

use agentd_sandbox::{Backend, Choice, Policy};
use serde::{Deserialize, Serialize};

use super::limits::LimitsConfig;
use super::schema::BadValue;

/// `[sandbox]`: what programs that agents run are shut in by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SandboxConfig {
    /// By what.
    pub backend: SandboxBackend,
    /// Paths beside the system's that programs may read, such as toolchains in a home.
    pub readable_paths: Vec<String>,
    /// `PATH` of programs; empty: the system's directories.
    pub path: String,
    /// What they may use up.
    pub limits: LimitsConfig,
}

/// What shuts programs in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxBackend {
    /// The first of the next two that works.
    #[default]
    Auto,
    /// Namespaces made by bubblewrap.
    Bubblewrap,
    /// Landlock and seccomp.
    Landlock,
    /// Nothing.
    None,
}

impl SandboxConfig {
    pub(super) fn check(&self) -> Result<(), BadValue> {
        let relative = |path: &&str| !Path::new(path).is_absolute();
        let bad = |key: &str, path: &str| {
            Err(BadValue::new(key.to_owned(), format!("'{path}' is not an absolute path")))
        };
        if let Some(path) = self.readable_paths.iter().map(String::as_str).find(relative) {
            return bad("sandbox.readable_paths", path);
        }
        if let Some(path) = self.path.split(':').filter(|_| !self.path.is_empty()).find(relative) {
            return bad("sandbox.path", path);
        }
        self.limits.check()
    }

    /// Which backend is wanted.
    pub fn choice(&self) -> Choice {
        match self.backend {
            SandboxBackend::Auto => Choice::Auto,
            SandboxBackend::Bubblewrap => Choice::Only(Backend::Bubblewrap),
            SandboxBackend::Landlock => Choice::Only(Backend::Landlock),
            SandboxBackend::None => Choice::Only(Backend::None),
        }
    }

    /// What is the same for all programs, which never see `hidden`.
    pub fn policy(&self, helper: PathBuf, hidden: Vec<PathBuf>) -> Policy {
        let path = (!self.path.is_empty()).then(|| self.path.clone());
        let readable = self.readable_paths.iter().map(PathBuf::from).collect();
        Policy { helper, readable, hidden, path }
    }
}
