//! The system that is booted: a small Debian tree, made once and kept in the user's cache.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::{bounded, ensure_installed};

/// Seconds that the making of the tree may take.
const PATIENCE: u32 = 400;
/// What is in it besides the essential packages: an init, logins of users, and the box of tools.
const PACKAGES: &str = "systemd,systemd-sysv,libpam-systemd,dbus,bubblewrap";
/// Raised when what belongs into the tree changes.
const VERSION: u32 = 2;

/// The tree, or why there is none.
pub(super) fn cached() -> anyhow::Result<Result<PathBuf, String>> {
    // The programs were built for this machine's release, and need its C library.
    let Some(release) = codename() else {
        return Ok(Err("only a Debian tree for this machine's release can be made".to_owned()));
    };
    let Some(cache) = cache_dir() else { return Ok(Err("no cache folder is known".to_owned())) };
    let tree = cache.join(format!("tree-{release}-{VERSION}"));
    if tree.join("usr").is_dir() {
        return Ok(Ok(tree));
    }
    std::fs::create_dir_all(&cache).context("make the cache folder")?;
    let new = cache.join("tree.new");
    if new.exists() {
        std::fs::remove_dir_all(&new).context("remove an unfinished tree")?;
    }
    let path = new.display().to_string();
    let made = if ensure_installed("mmdebstrap", "mmdebstrap") {
        println!("making a tree of {release} in {}", cache.display());
        let include = format!("--include={PACKAGES}");
        bounded(PATIENCE, "mmdebstrap", &["--variant=minbase", &include, &release, &path])?
    } else if ensure_installed("debootstrap", "debootstrap") {
        println!("making a tree of {release} in {}", cache.display());
        let include = format!("--include={PACKAGES}");
        bounded(PATIENCE, "debootstrap", &["--variant=minbase", &include, &release, &path])?
    } else {
        let reason = "neither mmdebstrap nor debootstrap is installed";
        return Ok(Err(reason.to_owned()));
    };
    if !made.status.success() {
        let said = String::from_utf8_lossy(&made.stderr);
        let last = said.lines().last().unwrap_or_default();
        return Ok(Err(format!("the tree could not be made ({}): {last}", made.status)));
    }
    std::fs::rename(&new, &tree).context("keep the tree")?;
    Ok(Ok(tree))
}

fn codename() -> Option<String> {
    let release = std::fs::read_to_string("/etc/os-release").ok()?;
    let value = |key: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.map(|value| value.trim_matches('"').to_owned())
    };
    (value("ID")? == "debian").then(|| value("VERSION_CODENAME"))?
}

fn cache_dir() -> Option<PathBuf> {
    let xdg = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let home = || std::env::home_dir().map(|home| home.join(".cache"));
    xdg.or_else(home).map(|dir| dir.join("agentd-service-check"))
}

/// A copy of the tree that a boot may change, beside it; a link costs nothing where files are the same.
pub(super) fn copy(tree: &Path) -> anyhow::Result<PathBuf> {
    let copy = tree.with_file_name(format!("booted.{}", std::process::id()));
    let (from, to) = (tree.display().to_string(), copy.display().to_string());
    let copied = bounded(120, "cp", &["--archive", "--reflink=auto", &from, &to])?;
    anyhow::ensure!(copied.status.success(), "the tree cannot be copied");
    Ok(copy)
}
