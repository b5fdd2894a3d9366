//! What a tool call will do, told before it runs.
//!
//! A permission is decided on an [`Action`], an approval shows it, and the call that runs is held to
//! it: tools make it from what they have really looked at, such as the content of a file, not from
//! the text of their arguments.

use serde::{Deserialize, Serialize};

/// What one call will do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// One line for people, such as `edit src/lib.rs`.
    pub summary: String,
    /// Everything that it reads, changes, starts or asks. A call that only computes has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<ActionTarget>,
}

/// One thing that a call does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ActionTarget {
    /// Reads a file or what is below a directory.
    Read {
        /// Path without links: relative to the workspace root, or absolute below a further root.
        path: String,
        /// Tells this content from the one at another time, as far as that is cheap to know. It is
        /// not kept.
        #[serde(skip)]
        version: Option<String>,
    },
    /// Writes a file, or removes it.
    Write {
        /// Path without links: relative to the workspace root, or absolute below a further root.
        path: String,
        /// SHA-256 in hex of the content that it will replace; none when there is no such file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base_sha256: Option<String>,
        /// SHA-256 in hex of what it will hold; none when it will be removed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new_sha256: Option<String>,
        /// Unified diff, cut where it is long.
        diff: String,
    },
    /// Starts a program.
    Run {
        /// The program and its arguments, or a shell and its script.
        argv: Vec<String>,
        /// Directory relative to the workspace root, or absolute below a further root.
        cwd: String,
        /// What keeps it in; none: nothing does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confinement: Option<Confinement>,
    },
    /// Asks a host.
    Request {
        /// Method and URL.
        method: String,
        /// The whole URL, without secrets.
        url: String,
        /// Its host in lower case, without port.
        host: String,
    },
}

/// What keeps a program in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// What does so, such as `bubblewrap`.
    pub backend: String,
    /// It may change the workspace.
    pub writes: bool,
    /// It may use the network.
    pub network: bool,
    /// The hosts that it may reach, such as `crates.io` or `*.crates.io`, where it may not reach all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

impl Action {
    /// True when it says nothing.
    pub fn is_nothing(&self) -> bool {
        self.summary.is_empty() && self.targets.is_empty()
    }

    /// An action that reads paths.
    pub fn read(summary: impl Into<String>, paths: impl IntoIterator<Item = String>) -> Self {
        let targets =
            paths.into_iter().map(|path| ActionTarget::Read { path, version: None }).collect();
        Self { summary: summary.into(), targets }
    }
}
