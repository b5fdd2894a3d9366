//! Writing files of the workspace, whole or not at all.
//!
//! A file is written beside its place under another name, made durable and renamed, all through the
//! handle of its directory. A link inside the workspace stays one: what it leads to is replaced.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agentd_domain::ToolResult;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt as _};
use ring::digest::{SHA256, digest};
use rustix::fs::{Gid, OFlags, RenameFlags, Uid};

use super::protected::refuse_write;
use super::shown;
use super::workspace::{OpenedFile, Workspace, told};

/// Largest file that is changed, in bytes.
pub(super) const MAX_FILE: usize = 32 * 1024 * 1024;

/// Mode of a new file, as with the usual umask.
const NEW_FILE: u32 = 0o644;

/// Locks of paths: those of one remainder share one.
static LOCKS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];

/// Tells one unfinished file from another.
static UNFINISHED: AtomicU64 = AtomicU64::new(0);

/// A file that is to be changed or made, as it was found.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// Where it really is: see [`Workspace`].
    pub(super) place: PathBuf,
    /// The same from the root of the system.
    pub(super) path: PathBuf,
    /// What it holds, if there is one.
    pub(super) content: Option<Vec<u8>>,
    /// The mode that it has or will have; none: the usual one.
    pub(super) mode: Option<u32>,
}

impl Target {
    /// The hash of what it holds.
    pub(super) fn sha256(&self) -> Option<String> {
        self.content.as_deref().map(sha256)
    }

    /// Its path as tools tell it.
    pub(super) fn told(&self) -> String {
        shown(&told(&self.place))
    }
}

/// SHA-256 in hex.
pub fn sha256(bytes: &[u8]) -> String {
    super::hex(digest(&SHA256, bytes).as_ref())
}

/// Keeps other calls of this process from changing the files until it is dropped.
pub(super) fn lock(paths: &[PathBuf]) -> Vec<MutexGuard<'static, ()>> {
    let number = |path: &PathBuf| {
        let bytes = path.as_os_str().as_encoded_bytes().iter();
        bytes.fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)))
            % LOCKS.len()
    };
    // Each once and in one order, so that nobody waits for himself or in a circle.
    let numbers: BTreeSet<usize> = paths.iter().map(number).collect();
    let locks = numbers.into_iter().filter_map(|number| LOCKS.get(number));
    locks.map(|lock| lock.lock().unwrap_or_else(PoisonError::into_inner)).collect()
}

impl Workspace<'_> {
    /// Finds a file that is to be changed or made, and reads it.
    pub(super) fn target(&self, path: &str) -> Result<Target, ToolResult> {
        let (place, content, mode) = match self.open_file(path) {
            Ok(OpenedFile { file, metadata, place }) => {
                let too_large = || {
                    ToolResult::fatal(
                        "FILE_TOO_LARGE",
                        format!("'{}' has more than {MAX_FILE} bytes.", shown(path)),
                    )
                };
                let limit = MAX_FILE as u64;
                if metadata.len() > limit {
                    return Err(too_large());
                }
                let mut bytes = Vec::new();
                file.take(limit + 1)
                    .read_to_end(&mut bytes)
                    .map_err(|error| failed(path, &error))?;
                if bytes.len() > MAX_FILE {
                    return Err(too_large());
                }
                (place, Some(bytes), Some(metadata.mode() & 0o7777))
            }
            Err(refusal) if refusal.error_code == "NOT_FOUND" => {
                (self.new_place(path)?, None, None)
            }
            Err(refusal) => return Err(refusal),
        };
        refuse_write(&place)?;
        let path = self.absolute(&place);
        self.check_private(&path)?;
        Ok(Target { place, path, content, mode })
    }

    /// Where a file that does not exist would be.
    fn new_place(&self, path: &str) -> Result<PathBuf, ToolResult> {
        let (root, relative) = self.split(path)?;
        let no_path = || {
            let why = format!("'{}' is no path of a new file.", shown(path));
            ToolResult::fatal("INVALID_PATH", why)
        };
        if path.ends_with('/') || relative.file_name().is_none() {
            return Err(no_path());
        }
        // The deepest directory that exists, without links, and the new names below it.
        let mut existing = relative.parent();
        while let Some(above) = existing {
            // From the root that it is below.
            let asked = root.join(above);
            let text = asked.to_str().ok_or_else(no_path)?;
            match self.open_dir(text) {
                Ok((dir, place)) => {
                    let rest = relative.strip_prefix(above).map_err(|_never| no_path())?;
                    if !rest.components().all(|part| matches!(part, Component::Normal(_))) {
                        return Err(no_path());
                    }
                    let first = rest.components().next().ok_or_else(no_path)?;
                    // A link to nothing is no new file: what it leads to may be anywhere.
                    if dir.symlink_metadata(first).is_ok() {
                        return Err(ToolResult::fatal(
                            "DANGLING_LINK",
                            format!("'{}' is a link to something that is not there.", shown(path)),
                        ));
                    }
                    return Ok(place.join(rest));
                }
                Err(refusal)
                    if refusal.error_code == "NOT_FOUND" && !above.as_os_str().is_empty() =>
                {
                    existing = above.parent();
                }
                Err(refusal) => return Err(refusal),
            }
        }
        Err(no_path())
    }

    /// Puts `new` in the place of a file that is still as it was found, or makes it.
    pub(super) fn save(&self, target: &Target, new: &[u8]) -> Result<(), ToolResult> {
        let told = target.told();
        let fail = |error: io::Error| failed(&told, &error);
        let parent = target.place.parent().unwrap_or(Path::new(""));
        if !parent.as_os_str().is_empty() {
            self.make_dirs(parent).map_err(fail)?;
        }
        let dir = self.open_found(parent).map_err(fail)?;
        let name = self.name_in(&dir, target)?;
        let unfinished = Unfinished::write(&dir, target, name, new)?;
        match &target.content {
            Some(_) => {
                unchanged(&dir, name, target)?;
                dir.rename(&unfinished.name, &dir, name).map_err(fail)?;
            }
            None => create(&dir, &unfinished.name, name).map_err(|error| {
                if error.kind() == io::ErrorKind::AlreadyExists {
                    stale(target, b"")
                } else {
                    fail(error)
                }
            })?,
        }
        unfinished.keep();
        make_durable(&dir, &told)
    }

    /// Removes a file that is still as it was found.
    pub(super) fn remove(&self, target: &Target) -> Result<(), ToolResult> {
        let told = target.told();
        let fail = |error: io::Error| failed(&told, &error);
        let dir = self.open_found(target.place.parent().unwrap_or(Path::new(""))).map_err(fail)?;
        let name = self.name_in(&dir, target)?;
        unchanged(&dir, name, target)?;
        dir.remove_file(name).map_err(fail)?;
        make_durable(&dir, &told)
    }

    /// The name of a target in its directory, which nothing has been put in the place of.
    fn name_in<'t>(&self, dir: &Dir, target: &'t Target) -> Result<&'t Path, ToolResult> {
        let parent = target.place.parent().unwrap_or(Path::new(""));
        match target.place.file_name() {
            Some(name) if self.is_at(dir, parent) => Ok(Path::new(name)),
            _ => Err(stale(target, b"")),
        }
    }
}

/// A file that is not in its place yet. It is removed unless it is kept.
struct Unfinished<'a> {
    dir: &'a Dir,
    name: String,
    kept: bool,
}

impl<'a> Unfinished<'a> {
    fn write(dir: &'a Dir, target: &Target, name: &Path, new: &[u8]) -> Result<Self, ToolResult> {
        let told = target.told();
        let fail = |error: io::Error| failed(&told, &error);
        let like = match target.content {
            Some(_) => {
                Some(open(dir, name).and_then(|file| file.into_std().metadata()).map_err(fail)?)
            }
            None => None,
        };
        let number = UNFINISHED.fetch_add(1, Ordering::Relaxed);
        let unfinished =
            Self { dir, name: format!(".agentd-{}-{number}.tmp", std::process::id()), kept: false };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(if like.is_some() { 0o600 } else { 0o666 });
        let mut file = dir.open_with(&unfinished.name, &options).map_err(fail)?.into_std();
        file.write_all(new).map_err(fail)?;
        if let Some(like) = like {
            let own = file.metadata().map_err(fail)?;
            if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
                let (user, group) = (Uid::from_raw(like.uid()), Gid::from_raw(like.gid()));
                rustix::fs::fchown(&file, Some(user), Some(group)).map_err(|_not_allowed| {
                    let why = format!("'{told}' belongs to another user and would not any more.");
                    ToolResult::fatal("PERMISSION_DENIED", why)
                })?;
            }
            file.set_permissions(Permissions::from_mode(like.mode() & 0o7777)).map_err(fail)?;
        }
        if target.content.is_none() {
            // The daemon's own files are for its user alone; what it makes in a workspace need not be.
            let mode = target.mode.unwrap_or(NEW_FILE);
            file.set_permissions(Permissions::from_mode(mode)).map_err(fail)?;
            give_to_owner_of(dir, &file).map_err(fail)?;
        }
        file.sync_all().map_err(fail)?;
        Ok(unfinished)
    }

    fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.kept {
            drop(self.dir.remove_file(&self.name));
        }
    }
}

/// A daemon that is root gives what it makes to the owner of the directory, as whom programs run.
pub(super) fn give_to_owner_of(dir: &Dir, made: impl AsFd) -> io::Result<()> {
    if rustix::process::geteuid().is_root() {
        let like = rustix::fs::fstat(dir)?;
        let (user, group) = (Uid::from_raw(like.st_uid), Gid::from_raw(like.st_gid));
        rustix::fs::fchown(made, Some(user), Some(group))?;
    }
    Ok(())
}

/// Gives a file its name, unless there is one of that name.
fn create(dir: &Dir, from: &str, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(dir, from, dir, to, RenameFlags::NOREPLACE) {
        // Not every file system can; a second name never replaces another either.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            dir.hard_link(from, dir, to)?;
            dir.remove_file(from)
        }
        done => Ok(done?),
    }
}

fn open(dir: &Dir, name: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    options.read(true).custom_flags(flags.bits().cast_signed());
    dir.open_with(name, &options)
}

/// Refuses to go on when a file holds something else than what was found.
fn unchanged(dir: &Dir, name: &Path, target: &Target) -> Result<(), ToolResult> {
    let mut now = Vec::new();
    open(dir, name)
        .and_then(|file| file.take(MAX_FILE as u64 + 1).read_to_end(&mut now))
        .map_err(|error| failed(&target.told(), &error))?;
    if target.content.as_deref() == Some(now.as_slice()) {
        Ok(())
    } else {
        Err(stale(target, &now))
    }
}

fn make_durable(dir: &Dir, told: &str) -> Result<(), ToolResult> {
    let done = dir.open(".").and_then(|opened| opened.sync_all());
    match done {
        // A file system that cannot is as durable as it gets.
        Err(error) if error.raw_os_error() != Some(rustix::io::Errno::INVAL.raw_os_error()) => {
            let why = format!("'{told}' is written, but a loss of power may undo it: {error}.");
            let mut failed = ToolResult::fatal("IO_ERROR", why);
            failed.workspace_changed = true;
            Err(failed)
        }
        _ => Ok(()),
    }
}

/// The refusal of a file that is another one by now, with how that begins.
pub(super) fn stale(target: &Target, now: &[u8]) -> ToolResult {
    /// How much of it is shown.
    const HEAD: usize = 2_000;
    let head = String::from_utf8_lossy(now.get(..now.len().min(HEAD)).unwrap_or_default());
    let begins = if head.is_empty() { String::new() } else { format!(" It now begins:\n{head}") };
    ToolResult::fatal(
        "STALE_FILE",
        format!(
            "'{}' has changed since it was read, and nothing was written. Read it again with \
             read_file.{begins}",
            target.told()
        ),
    )
}

fn failed(told: &str, error: &io::Error) -> ToolResult {
    let code = if error.kind() == io::ErrorKind::PermissionDenied {
        "PERMISSION_DENIED"
    } else {
        "IO_ERROR"
    };
    ToolResult::fatal(code, format!("'{told}' cannot be written: {error}."))
}
