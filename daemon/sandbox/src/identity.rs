//! As whom a program runs.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// A user and a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Identity {
    /// That of the daemon.
    pub(crate) fn own() -> Self {
        let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
        Self { uid: uid.as_raw(), gid: gid.as_raw() }
    }
}

/// For looking whether a backend works, when the daemon is root: nobody.
pub(crate) const NOBODY: Identity = Identity { uid: 65_534, gid: 65_534 };

/// True when the daemon is root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// As whom to run in this workspace; none: as the daemon. Root's rights would reach around a box
/// (files of root stay its own, limits on processes do not count), so a daemon that is root becomes
/// the owner of the workspace.
///
/// # Errors
/// When the owner cannot be read.
pub(crate) fn for_workspace(workspace: &Path) -> io::Result<Option<Identity>> {
    if !is_root() {
        return Ok(None);
    }
    let metadata = std::fs::metadata(workspace)?;
    // Root's group would reach around a box too.
    let gid = if metadata.gid() == 0 { NOBODY.gid } else { metadata.gid() };
    Ok(Some(Identity { uid: metadata.uid(), gid }))
}
