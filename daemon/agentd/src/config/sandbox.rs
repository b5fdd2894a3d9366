//! `[sandbox]`: what programs that agents run are shut in by.

use std::path::{Path, PathBuf};

use agentd_sandbox::{AllowList, Backend, Choice, ContainerSettings, Policy};
use serde::{Deserialize, Serialize};

use super::limits::LimitsConfig;
use super::schema::BadValue;
use super::tools::check_host;

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
    /// Hosts that programs may be let through to although they are not public, as `host` or
    /// `host:port`.
    pub allow_hosts: Vec<String>,
    /// What they may use up.
    pub limits: LimitsConfig,
    /// For the backend of containers.
    pub container: ContainerConfig,
}

/// `[sandbox.container]`: containers of an engine with the Docker API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContainerConfig {
    /// Image that programs run in. The engine has it; it is never fetched.
    pub image: String,
    /// The engine's socket.
    pub socket: String,
}

impl Default for ContainerConfig {
    fn default() -> Self {
        Self { image: String::new(), socket: "/var/run/docker.sock".to_owned() }
    }
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
    /// Containers of an engine.
    Container,
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
        for host in &self.allow_hosts {
            check_host(host)
                .map_err(|problem| BadValue::new("sandbox.allow_hosts".to_owned(), problem))?;
        }
        if !Path::new(&self.container.socket).is_absolute() {
            return bad("sandbox.container.socket", &self.container.socket);
        }
        if self.backend == SandboxBackend::Container && self.container.image.is_empty() {
            return Err(BadValue::new(
                "sandbox.container.image".to_owned(),
                "it is empty, and sandbox.backend is \"container\": name an image that the engine has"
                    .to_owned(),
            ));
        }
        self.limits.check()
    }

    /// Which backend is wanted.
    pub fn choice(&self) -> Choice {
        match self.backend {
            SandboxBackend::Auto => Choice::Auto,
            SandboxBackend::Bubblewrap => Choice::Only(Backend::Bubblewrap),
            SandboxBackend::Landlock => Choice::Only(Backend::Landlock),
            SandboxBackend::Container => Choice::Only(Backend::Container),
            SandboxBackend::None => Choice::Only(Backend::None),
        }
    }

    /// What is the same for all programs, which never see `hidden`.
    pub fn policy(&self, helper: PathBuf, hidden: Vec<PathBuf>) -> Policy {
        let path = (!self.path.is_empty()).then(|| self.path.clone());
        let readable = self.readable_paths.iter().map(PathBuf::from).collect();
        let ContainerConfig { image, socket } = self.container.clone();
        let container = Some(ContainerSettings { image, socket: socket.into() });
        let allow_hosts = AllowList::new(&self.allow_hosts);
        Policy { helper, readable, hidden, path, allow_hosts, container }
    }
}
