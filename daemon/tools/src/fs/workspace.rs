//! The workspace, and further roots of a session, as open directories.
//!
//! Paths are resolved by the system beneath that handle (`openat2` with `RESOLVE_BENEATH` where
//! there is one), so `..`, links and races cannot lead out. What is opened is checked once more on
//! its own handle: that it is a plain file, and where it really is. A second hard link to a file
//! cannot be told from the first one, so it counts as a file of the workspace.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use agentd_domain::{ActionTarget, ToolResult, cut_line};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};

use rustix::fs::{Mode, OFlags};

use super::protected::check_names;
use super::root::{Asked, Root, is_escape, without_deleted, without_dots};
use super::save::give_to_owner_of;
use super::{Protected, shown};

/// Mode of a new directory, as with the usual umask.
const NEW_DIRECTORY: u32 = 0o755;

/// How much of a path is shown in a message, in characters.
const MAX_SHOWN: usize = 200;

/// A plain file that was opened for reading.
pub(crate) struct OpenedFile {
    pub(crate) file: File,
    pub(crate) metadata: Metadata,
    /// Where it really is: see [`Workspace`].
    pub(crate) place: PathBuf,
}

impl OpenedFile {
    /// What reading it is as a part of an action.
    pub(crate) fn target(&self) -> ActionTarget {
        ActionTarget::Read { path: told(&self.place), version: Some(version(&self.metadata)) }
    }
}

/// Where something that was opened really is.
struct Real {
    /// As it is told: see [`Workspace`].
    place: PathBuf,
    /// From its root.
    below: PathBuf,
    /// From the root of the system.
    whole: PathBuf,
}

/// An opened workspace, with the further roots of its session.
///
/// A *place* is a path without links that tells one file apart: relative when it is below the
/// workspace, and absolute below a further root.
pub(super) struct Workspace<'a> {
    first: Root<'a>,
    /// Those that are there.
    further: Vec<Root<'a>>,
    protected: &'a Protected,
}

impl<'a> Workspace<'a> {
    /// Opens the directory `root`, and the further ones.
    pub(super) fn open(root: &'a Path, protected: &'a Protected) -> Result<Self, ToolResult> {
        let first = Root::open(root)?;
        // Who asks for one that is gone is told so.
        let further = protected.further_roots.iter().filter_map(|root| Root::open(root).ok());
        Ok(Self { first, further: further.collect(), protected })
    }

    /// Opens a plain file for reading.
    pub(super) fn open_file(&self, path: &str) -> Result<OpenedFile, ToolResult> {
        let asked = self.asked(path)?;
        let named = without_dots(&asked.relative).map(|below| self.place(asked.root, below));
        if !named.is_some_and(|place| self.protected.may_be_read(&place)) {
            check_names(&asked.relative)?;
        }
        // Opening a pipe must not wait for its other end.
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        let file = asked
            .retry_by_real_path(|dir, at| dir.open_with(at, &options))
            .map_err(|error| refusal(path, &error))?
            .into_std();
        let real = self.real(&file, &asked)?;
        if !self.protected.may_be_read(&real.place) {
            self.check_place(&real)?;
        }
        let place = real.place;
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
        let asked = self.asked(path)?;
        check_names(&asked.relative)?;
        let dir = asked
            .retry_by_real_path(|dir, at| dir.open_dir(at))
            .map_err(|error| refusal(path, &error))?;
        let real = self.real(&dir, &asked)?;
        self.check_place(&real)?;
        Ok((dir, real.place))
    }

    /// Opens a directory that was found below a root.
    pub(super) fn open_found(&self, place: &Path) -> io::Result<Dir> {
        let (root, below) = self.located(place)?;
        if below.as_os_str().is_empty() { root.dir.try_clone() } else { root.dir.open_dir(below) }
    }

    /// Makes a directory and those above it, below a root.
    pub(super) fn make_dirs(&self, place: &Path) -> io::Result<()> {
        let (root, below) = self.located(place)?;
        let mut dir = root.dir.try_clone()?;
        for part in below.components() {
            let part = part.as_os_str();
            match dir.create_dir(part) {
                Ok(()) => {
                    let flags =
                        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
                    let made = rustix::fs::openat(&dir, part, flags, Mode::empty())?;
                    rustix::fs::fchmod(&made, Mode::from_raw_mode(NEW_DIRECTORY))?;
                    give_to_owner_of(&dir, &made)?;
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            dir = dir.open_dir(part)?;
        }
        Ok(())
    }

    /// True when the directory that was opened by the name `place` has no other name.
    pub(super) fn is_at(&self, dir: &Dir, place: &Path) -> bool {
        let handle = format!("/proc/self/fd/{}", dir.as_fd().as_raw_fd());
        // Without /proc there is nothing to compare; the handle has kept it inside.
        std::fs::read_link(handle).map_or(true, |real| real == self.absolute(place))
    }

    /// Refuses a path that is never opened.
    pub(super) fn check_private(&self, real: &Path) -> Result<(), ToolResult> {
        self.protected.check_place(real)
    }

    /// Paths that are never opened, without links.
    pub(super) fn private(&self) -> Vec<PathBuf> {
        self.protected.resolved()
    }

    /// Where a place is.
    pub(super) fn absolute(&self, place: &Path) -> PathBuf {
        // An absolute one stays as it is.
        self.first.real.join(place)
    }

    /// A path below the workspace, which names nothing protected, without `.` and `..` in it, as a
    /// program understands it that starts there and follows no links.
    pub(super) fn lexical(&self, path: &str) -> Result<PathBuf, ToolResult> {
        let asked = self.asked(path)?;
        check_names(&asked.relative)?;
        if !std::ptr::eq(asked.root, &raw const self.first) {
            return Err(outside(path, " This tool works in the session's first directory alone."));
        }
        let place = without_dots(&asked.relative).ok_or_else(|| outside(path, ""))?;
        Ok(if place.as_os_str().is_empty() { PathBuf::from(".") } else { place })
    }

    /// A path that names nothing protected, as its root and the rest.
    pub(super) fn split(&self, path: &str) -> Result<(PathBuf, PathBuf), ToolResult> {
        let asked = self.asked(path)?;
        check_names(&asked.relative)?;
        let root = self.place(asked.root, PathBuf::new());
        Ok((root, asked.relative))
    }

    fn asked(&self, path: &str) -> Result<Asked<'_>, ToolResult> {
        if path.contains('\0') {
            return Err(ToolResult::fatal("INVALID_PATH", "A path cannot hold a NUL character."));
        }
        if path == "~" || path.starts_with("~/") {
            return Err(outside(path, " '~' is not the home directory here."));
        }
        let wanted = Path::new(path);
        let (root, relative) = if wanted.is_absolute() {
            let roots = std::iter::once(&self.first).chain(&self.further);
            let mut found = roots.filter_map(|root| Some((root, root.below(wanted)?)));
            match found.next() {
                Some(found) => found,
                None => return Err(self.not_below(wanted)),
            }
        } else {
            (&self.first, wanted)
        };
        let is_root = relative.as_os_str().is_empty();
        let relative = if is_root { PathBuf::from(".") } else { relative.to_owned() };
        Ok(Asked { root, relative })
    }

    /// The refusal of a path below no root that is there.
    fn not_below(&self, path: &Path) -> ToolResult {
        let mut further = self.protected.further_roots.iter();
        match further.find(|root| path.starts_with(root)).map(|root| Root::open(root)) {
            Some(Err(gone)) => gone,
            _ => outside(&path.to_string_lossy(), ""),
        }
    }

    /// The place of a path below a root.
    fn place(&self, root: &Root<'_>, below: PathBuf) -> PathBuf {
        if std::ptr::eq(root, &raw const self.first) {
            below
        } else if below.as_os_str().is_empty() {
            root.real.clone()
        } else {
            root.real.join(below)
        }
    }

    /// The root of a place, and the rest of it.
    fn located<'p>(&self, place: &'p Path) -> io::Result<(&Root<'a>, &'p Path)> {
        if !place.is_absolute() {
            return Ok((&self.first, place));
        }
        let mut found = self.further.iter().filter_map(|root| {
            let below = place.strip_prefix(&root.real).ok()?;
            Some((root, below))
        });
        found.next().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// The real name of what was opened, since the path may have led there by a link.
    fn real(&self, opened: &impl AsFd, asked: &Asked<'_>) -> Result<Real, ToolResult> {
        let Asked { root, relative } = asked;
        let handle = format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd());
        let whole = std::fs::read_link(handle)
            // Where there is no /proc, the name is looked up again.
            .or_else(|_| root.dir.canonicalize(relative).map(|below| root.real.join(below)))
            .map_err(|error| refusal(&relative.to_string_lossy(), &error))?;
        let whole = without_deleted(opened, whole);
        Ok(match whole.strip_prefix(&root.real) {
            Ok(below) => {
                Real { place: self.place(root, below.to_owned()), below: below.to_owned(), whole }
            }
            Err(_moved_away) => Real { place: whole.clone(), below: whole.clone(), whole },
        })
    }

    /// Refuses what is protected by its real name.
    fn check_place(&self, real: &Real) -> Result<(), ToolResult> {
        check_names(&real.below)?;
        self.protected.check_place(&real.whole)
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

pub(super) fn show(path: &Path) -> String {
    show_text(&path.to_string_lossy())
}

fn show_text(path: &str) -> String {
    cut_line(&shown(path), MAX_SHOWN)
}
