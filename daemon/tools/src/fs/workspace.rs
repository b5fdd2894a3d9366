//! The workspace as an open directory.
//!
//! Paths are resolved by the system beneath that handle (`openat2` with `RESOLVE_BENEATH` where
//! there is one), so `..`, links and races cannot lead out. What is opened is checked once more on
//! its own handle: that it is a plain file, and where it really is. A second hard link to a file
//! cannot be told from the first one, so it counts as a file of the workspace.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use agentd_domain::{ActionTarget, ToolResult, cut_line};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};

use super::protected::check_names;
use super::{Protected, shown};

/// How much of a path is shown in a message, in characters.
const MAX_SHOWN: usize = 200;

/// A plain file that was opened for reading.
pub(crate) struct OpenedFile {
    pub(crate) file: File,
    pub(crate) metadata: Metadata,
    /// Where it really is, relative to the workspace.
    pub(crate) place: PathBuf,
}

impl OpenedFile {
    /// What reading it is as a part of an action.
    pub(crate) fn target(&self) -> ActionTarget {
        ActionTarget::Read { path: told(&self.place), version: Some(version(&self.metadata)) }
    }
}

/// An opened workspace.
pub(super) struct Workspace<'a> {
    dir: Dir,
    /// As it was configured; it may be a link itself.
    given: &'a Path,
    /// Without links.
    real: PathBuf,
    protected: &'a Protected,
}

impl<'a> Workspace<'a> {
    /// Opens the directory `root`.
    pub(super) fn open(root: &'a Path, protected: &'a Protected) -> Result<Self, ToolResult> {
        let unavailable = |error: io::Error| {
            ToolResult::fatal(
                "WORKSPACE_UNAVAILABLE",
                format!("The workspace '{}' cannot be opened: {error}.", show(root)),
            )
        };
        let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(unavailable)?;
        let real = std::fs::canonicalize(root).map_err(unavailable)?;
        Ok(Self { dir, given: root, real, protected })
    }

    /// Opens a plain file for reading.
    pub(super) fn open_file(&self, path: &str) -> Result<OpenedFile, ToolResult> {
        let relative = self.below(path)?;
        if !without_dots(&relative).is_some_and(|place| self.protected.may_be_read(&place)) {
            check_names(&relative)?;
        }
        // Opening a pipe must not wait for its other end.
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        let file = self
            .retry_by_real_path(&relative, |at| self.dir.open_with(at, &options))
            .map_err(|error| refusal(path, &error))?
            .into_std();
        let (place, real) = self.place_of(&file, &relative)?;
        if !self.protected.may_be_read(&place) {
            self.check_place(&place, &real)?;
        }
        let metadata = file.metadata().map_err(|error| refusal(path, &error))?;
        if metadata.is_dir() {
            return Err(ToolResult::fatal(
                "NOT_A_FILE",
                format!("'{}' is a directory; list_dir shows it.", show_text(path)),
            ));
        }
        if !metadata.is_file() {
            return Err(ToolResult::fatal(
                "NOT_A_FILE",
                format!("'{}' is a device, pipe or socket; it is not read.", show_text(path)),
            ));
        }
        Ok(OpenedFile { file, metadata, place })
    }

    /// Opens a directory for listing, and says where it really is.
    pub(super) fn open_dir(&self, path: &str) -> Result<(Dir, PathBuf), ToolResult> {
        let relative = self.relative(path)?;
        let dir = self
            .retry_by_real_path(&relative, |at| self.dir.open_dir(at))
            .map_err(|error| refusal(path, &error))?;
        let (place, real) = self.place_of(&dir, &relative)?;
        self.check_place(&place, &real)?;
        Ok((dir, place))
    }

    /// Opens a directory that was found below the workspace.
    pub(super) fn open_found(&self, place: &Path) -> io::Result<Dir> {
        if place.as_os_str().is_empty() { self.dir.try_clone() } else { self.dir.open_dir(place) }
    }

    /// True when the directory that was opened by the name `place` has no other name.
    pub(super) fn is_at(&self, dir: &Dir, place: &Path) -> bool {
        let handle = format!("/proc/self/fd/{}", dir.as_fd().as_raw_fd());
        // Without /proc there is nothing to compare; the handle has kept it inside.
        std::fs::read_link(handle).map_or(true, |real| real == self.real.join(place))
    }

    /// The directory itself.
    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Refuses a path that is never opened.
    pub(super) fn check_private(&self, real: &Path) -> Result<(), ToolResult> {
        self.protected.check_place(real)
    }

    /// Paths that are never opened, without links.
    pub(super) fn private(&self) -> Vec<PathBuf> {
        self.protected.resolved()
    }

    /// Where a place below the workspace is.
    pub(super) fn absolute(&self, place: &Path) -> PathBuf {
        self.real.join(place)
    }

    /// The path below the workspace, which names nothing protected. Whether it stays there is for the
    /// handle to decide.
    pub(super) fn relative(&self, path: &str) -> Result<PathBuf, ToolResult> {
        let relative = self.below(path)?;
        check_names(&relative)?;
        Ok(relative)
    }

    /// The same of any path.
    fn below(&self, path: &str) -> Result<PathBuf, ToolResult> {
        if path.contains('\0') {
            return Err(ToolResult::fatal("INVALID_PATH", "A path cannot hold a NUL character."));
        }
        if path == "~" || path.starts_with("~/") {
            return Err(outside(path, " '~' is not the home directory here."));
        }
        let wanted = Path::new(path);
        let relative = if wanted.is_absolute() {
            wanted
                .strip_prefix(self.given)
                .or_else(|_| wanted.strip_prefix(&self.real))
                .map_err(|_not_below| outside(path, ""))?
        } else {
            wanted
        };
        Ok(if relative.as_os_str().is_empty() { PathBuf::from(".") } else { relative.to_owned() })
    }

    /// The same without `.` and `..` in it, as a program understands it that follows no links.
    pub(super) fn lexical(&self, path: &str) -> Result<PathBuf, ToolResult> {
        let place = without_dots(&self.relative(path)?).ok_or_else(|| outside(path, ""))?;
        Ok(if place.as_os_str().is_empty() { PathBuf::from(".") } else { place })
    }

    /// Opens by the path, and when a link in it is absolute and leads back into the workspace, by
    /// the path without links. Both ways go through the handle.
    fn retry_by_real_path<T>(
        &self,
        relative: &Path,
        open: impl Fn(&Path) -> io::Result<T>,
    ) -> io::Result<T> {
        let error = match open(relative) {
            Err(error) if is_escape(&error) => error,
            result => return result,
        };
        match std::fs::canonicalize(self.real.join(relative)) {
            Ok(real) => match real.strip_prefix(&self.real) {
                Ok(inside) if inside.as_os_str().is_empty() => open(Path::new(".")),
                Ok(inside) => open(inside),
                Err(_) => Err(error),
            },
            Err(_) => Err(error),
        }
    }

    /// The real name of what was opened, since the path may have led there by a link: below the
    /// workspace, and from the root of the system.
    fn place_of(
        &self,
        opened: &impl AsFd,
        relative: &Path,
    ) -> Result<(PathBuf, PathBuf), ToolResult> {
        let handle = format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd());
        let real = std::fs::read_link(handle)
            // Where there is no /proc, the name is looked up again.
            .or_else(|_| self.dir.canonicalize(relative).map(|below| self.real.join(below)))
            .map_err(|error| refusal(&relative.to_string_lossy(), &error))?;
        let real = without_deleted(opened, real);
        let below = real.strip_prefix(&self.real).unwrap_or(&real);
        Ok((below.to_owned(), real))
    }

    /// Refuses what is protected by its real name.
    fn check_place(&self, place: &Path, real: &Path) -> Result<(), ToolResult> {
        check_names(place)?;
        self.protected.check_place(real)
    }
}

/// A path below the workspace without `.` and `..` in it, as a program understands it that follows no
/// links; none when it leads out.
fn without_dots(relative: &Path) -> Option<PathBuf> {
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
fn without_deleted(opened: &impl AsFd, real: PathBuf) -> PathBuf {
    let is_gone = rustix::fs::fstat(opened).is_ok_and(|stat| stat.st_nlink == 0);
    match real.as_os_str().as_bytes().strip_suffix(b" (deleted)").filter(|_| is_gone) {
        Some(name) => PathBuf::from(OsStr::from_bytes(name)),
        None => real,
    }
}

/// Tells a state of a file or directory from its other states, as far as its metadata does.
pub(crate) fn version(metadata: &Metadata) -> String {
    format!(
        "{}.{:09} {} {} {}.{:09}",
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.len(),
        metadata.ino(),
        metadata.ctime(),
        metadata.ctime_nsec()
    )
}

/// A place below the workspace as tools tell it.
pub(super) fn told(place: &Path) -> String {
    if place.as_os_str().is_empty() { ".".to_owned() } else { place.to_string_lossy().into_owned() }
}

/// True for the error of a path that leads out, which is made by the library and has no number.
fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

fn outside(path: &str, why: &str) -> ToolResult {
    ToolResult::fatal(
        "PATH_OUTSIDE_WORKSPACE",
        format!(
            "'{}' is outside the workspace.{why} Paths are relative to the workspace.",
            show_text(path)
        ),
    )
}

fn refusal(path: &str, error: &io::Error) -> ToolResult {
    if is_escape(error) {
        return outside(path, "");
    }
    let name = show_text(path);
    match error.kind() {
        io::ErrorKind::NotFound => ToolResult::fatal(
            "NOT_FOUND",
            format!("There is no '{name}' in the workspace; list_dir shows what there is."),
        ),
        io::ErrorKind::NotADirectory => {
            ToolResult::fatal("NOT_A_DIRECTORY", format!("'{name}' is not a directory."))
        }
        io::ErrorKind::PermissionDenied => {
            ToolResult::fatal("PERMISSION_DENIED", format!("'{name}' may not be read."))
        }
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            ToolResult::retryable("IO_ERROR", format!("'{name}' cannot be opened now: {error}."))
        }
        _ => ToolResult::fatal("IO_ERROR", format!("'{name}' cannot be opened: {error}.")),
    }
}

fn show(path: &Path) -> String {
    show_text(&path.to_string_lossy())
}

fn show_text(path: &str) -> String {
    cut_line(&shown(path), MAX_SHOWN)
}

#[cfg(test)]
mod tests {
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
