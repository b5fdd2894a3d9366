//! Programs that stand for the daemon.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use agentd_shared::{Paths, StartOptions};

/// A home with a program that stands for the daemon.
pub(crate) struct Home {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) paths: Paths,
}

impl Home {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::under(dir.path());
        Self { dir, paths }
    }

    pub(crate) fn program(&self, script: &str) -> StartOptions {
        let path = self.dir.path().join("agentd");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        StartOptions {
            agentd_path: Some(path),
            timeout: Duration::from_secs(30),
            ..StartOptions::default()
        }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn fifo(&self, name: &str) -> PathBuf {
        let path = self.file(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::from_raw_mode(0o600))
            .unwrap();
        path
    }
}
