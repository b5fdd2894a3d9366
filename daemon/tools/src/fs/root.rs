//! One directory below which paths are opened, and the paths that are asked for in it.

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use agentd_domain::ToolResult;
use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::workspace::show;

/// A directory below which paths are opened.
pub(super) struct Root<'a> {
    pub(super) dir: Dir,
    /// As it was configured; it may be a link itself.
    pub(super) given: &'a Path,
    /// Without links.
    pub(super) real: PathBuf,
}

/// A path below a root. Whether it stays there is for the handle to decide.
pub(super) struct Asked<'w> {
    pub(super) root: &'w Root<'w>,
    pub(super) relative: PathBuf,
}

impl<'a> Root<'a> {
    pub(super) fn open(root: &'a Path) -> Result<Self, ToolResult> {
        let unavailable = |error: io::Error| {
            ToolResult::fatal(
                "WORKSPACE_UNAVAILABLE",
                format!("The workspace '{}' cannot be opened: {error}.", show(root)),
            )
        };
        let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(unavailable)?;
        let real = std::fs::canonicalize(root).map_err(unavailable)?;
        Ok(Self { dir, given: root, real })
    }

    /// An absolute path from here.
    pub(super) fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.strip_prefix(self.given).or_else(|_| path.strip_prefix(&self.real)).ok()
    }
}

impl Asked<'_> {
    /// Opens by the path, and when a link in it is absolute and leads back into the root, by the path
    /// without links. Both ways go through the handle.
    pub(super) fn retry_by_real_path<T>(
        &self,
        open: impl Fn(&Dir, &Path) -> io::Result<T>,
    ) -> io::Result<T> {
        let Self { root, relative } = self;
        let error = match open(&root.dir, relative) {
            Err(error) if is_escape(&error) => error,
            result => return result,
        };
        match std::fs::canonicalize(root.real.join(relative)) {
            Ok(real) => match real.strip_prefix(&root.real) {
                Ok(inside) if inside.as_os_str().is_empty() => open(&root.dir, Path::new(".")),
                Ok(inside) => open(&root.dir, inside),
                Err(_) => Err(error),
            },
            Err(_) => Err(error),
        }
    }
}

/// A path below the workspace without `.` and `..` in it, as a program understands it that follows no
/// links; none when it leads out.
pub(super) fn without_dots(relative: &Path) -> Option<PathBuf> {
    let mut place = PathBuf::new();
    for part in relative.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => place.push(name),
            Component::ParentDir if place.pop() => {}
            _ => return None,
        }
    }
    Some(place)
}

/// The name of a file that was replaced right after it was opened: the kernel writes that it is gone
/// behind it, which is no part of the name.
pub(super) fn without_deleted(opened: &impl AsFd, real: PathBuf) -> PathBuf {
    let is_gone = rustix::fs::fstat(opened).is_ok_and(|stat| stat.st_nlink == 0);
    match real.as_os_str().as_bytes().strip_suffix(b" (deleted)").filter(|_| is_gone) {
        Some(name) => PathBuf::from(OsStr::from_bytes(name)),
        None => real,
    }
}

/// True for the error of a path that leads out, which is made by the library and has no number.
pub(super) fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn a_file_that_is_replaced_while_it_is_open_keeps_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "old").unwrap();
        let opened = File::open(&path).unwrap();
        std::fs::write(dir.path().join("new"), "new").unwrap();
        std::fs::rename(dir.path().join("new"), &path).unwrap();
        let linked = format!("/proc/self/fd/{}", opened.as_raw_fd());
        if let Ok(real) = std::fs::read_link(linked) {
            assert!(real.to_string_lossy().ends_with("f (deleted)"), "{}", real.display());
            assert_eq!(without_deleted(&opened, real).file_name(), Some(OsStr::new("f")));
        }
        // A file that is there may be called so.
        let odd = dir.path().join("f (deleted)");
        std::fs::write(&odd, "").unwrap();
        let opened = File::open(&odd).unwrap();
        assert_eq!(without_deleted(&opened, odd.clone()), odd);
    }
}
