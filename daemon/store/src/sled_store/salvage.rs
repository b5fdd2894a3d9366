//! Making a new store from a damaged one.
//!
//! Nothing is done to the damaged files: sled changes files while it opens them, so each attempt
//! works on a copy, and in the end the directory is only renamed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use crate::sled_store::backup::{self, remove_dir};
use crate::sled_store::copy::{Copied, CopyError, Mode, copy};
use crate::sled_store::disk::{self, DiskSync};
use crate::sled_store::fault::Fault;
use crate::sled_store::files::open_sled;
use crate::sled_store::open::{error_of, io_error};
use crate::sled_store::report::{SalvageReport, SalvageSource};
use crate::sled_store::{OpenError, SledOptions};

/// Suffix of the copy that an attempt works on.
const WORK: &str = "salvage-work";
/// Suffix of a new store while it is being written.
const NEW: &str = "salvage-new";
/// Suffix of the best new store so far.
const BEST: &str = "salvage-best";
/// Suffix of the new store when it is whole.
const READY: &str = "salvaged";

/// Which files an attempt leaves out, from the least to the most that may be lost with them. Without
/// its table of pages sled reads the whole log again; without its settings it takes ours.
const ATTEMPTS: &[fn(&str) -> bool] = &[
    |_all| true,
    |name| !name.starts_with("conf"),
    |name| !name.starts_with("snap."),
    |name| !name.starts_with("snap.") && !name.starts_with("conf"),
];

/// Puts a new store with what is readable in the place of `dir`.
pub(crate) fn salvage(
    dir: &Path,
    options: &SledOptions,
    cause: String,
) -> Result<SalvageReport, OpenError> {
    tracing::error!(%cause, dir = %dir.display(), "the store is damaged; salvaging what is readable");
    let result = make_new_store(dir, options, cause);
    for leftover in [WORK, NEW, BEST] {
        if let Err(error) = remove_dir(&disk::beside(dir, leftover)) {
            tracing::warn!(%error, leftover, "a directory of the salvage stays behind");
        }
    }
    result
}

fn make_new_store(
    dir: &Path,
    options: &SledOptions,
    cause: String,
) -> Result<SalvageReport, OpenError> {
    let mut best: Option<Copied> = None;
    for wanted in ATTEMPTS {
        attempt(dir, dir, options, *wanted, &mut best)?;
    }
    let mut source = SalvageSource::Files;
    if best.as_ref().is_none_or(|best| best.sessions == 0) {
        source = SalvageSource::Nothing;
        for backup in backups(options) {
            attempt(&backup, dir, options, |_all| true, &mut best)?;
            if best.as_ref().is_some_and(|best| best.sessions > 0) {
                source = SalvageSource::Backup(backup);
                break;
            }
        }
    }
    let new = disk::beside(dir, BEST);
    if best.is_none() {
        remove_dir(&new).map_err(|error| io_error(dir, error))?;
        open_sled(&new, options.cache_bytes).map_err(|fault| error_of(dir, fault))?;
    }
    let damaged_dir = swap(dir, &new).map_err(|error| io_error(dir, error))?;
    let Copied { sessions, events, cut, index_rebuilt, holes, .. } = best.unwrap_or_default();
    Ok(SalvageReport { cause, damaged_dir, source, sessions, events, cut, index_rebuilt, holes })
}

/// Copies what is readable of `from` with the wanted files, and keeps the result when it is the best
/// so far. Only an error of the file system ends the salvage; damage ends the attempt.
fn attempt(
    from: &Path,
    dir: &Path,
    options: &SledOptions,
    wanted: fn(&str) -> bool,
    best: &mut Option<Copied>,
) -> Result<(), OpenError> {
    let [work, new, best_dir] = [WORK, NEW, BEST].map(|suffix| disk::beside(dir, suffix));
    let prepared = remove_dir(&work)
        .and_then(|()| remove_dir(&new))
        .and_then(|()| disk::copy_sled_dir(from, &work, wanted));
    prepared.map_err(|error| io_error(dir, error))?;
    let copied = match copy_readable(&work, &new, options) {
        Ok(copied) => copied,
        Err(Fault::Damaged(detail)) => {
            tracing::info!(%detail, from = %from.display(), "an attempt to salvage failed");
            return Ok(());
        }
        Err(fault) => return Err(error_of(dir, fault)),
    };
    let better = best
        .as_ref()
        .is_none_or(|best| (copied.events, copied.commits) > (best.events, best.commits));
    if better {
        remove_dir(&best_dir)
            .and_then(|()| fs::rename(&new, &best_dir))
            .map_err(|error| io_error(dir, error))?;
        *best = Some(copied);
    }
    Ok(())
}

fn copy_readable(work: &Path, new: &Path, options: &SledOptions) -> Result<Copied, Fault> {
    let source = open_sled(work, options.cache_bytes)?;
    let target = open_sled(new, options.cache_bytes)?;
    let copied = copy(&source, &target, Mode::Salvage, &AtomicBool::new(false)).map_err(
        |error| match error {
            CopyError::Read(error) => error.into(),
            CopyError::Write(fault) => fault,
        },
    )?;
    drop(target);
    let mut sync = DiskSync::new(new).map_err(Fault::io)?;
    sync.all_blobs().and_then(|()| sync.log()).map_err(Fault::io)?;
    Ok(copied)
}

/// Whole backups, the newest first.
fn backups(options: &SledOptions) -> Vec<PathBuf> {
    let Some(entries) = options.backups.as_ref().and_then(|dir| fs::read_dir(dir).ok()) else {
        return Vec::new();
    };
    let mut found: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            if entry.file_name().to_string_lossy().ends_with(backup::UNFINISHED) {
                return None;
            }
            let metadata = entry.metadata().ok()?;
            metadata.is_dir().then_some((metadata.modified().ok()?, entry.path()))
        })
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_modified, path)| path).collect()
}

/// Renames the damaged directory and puts the new one in its place.
fn swap(dir: &Path, new: &Path) -> io::Result<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "part of a directory's name")]
    let now_ms = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_millis());
    let damaged = disk::beside(dir, &format!("damaged-{now_ms}"));
    let ready = disk::beside(dir, READY);
    remove_dir(&ready)?;
    fs::rename(new, &ready)?;
    fs::rename(dir, &damaged)?;
    fs::rename(&ready, dir)?;
    disk::sync_parent(dir)?;
    Ok(damaged)
}

/// Completes the swap of a start that was killed in it. A new store beside a directory that is still
/// there belongs to a start that had not begun to swap; the damage is met again.
pub(crate) fn finish_interrupted(dir: &Path) -> io::Result<()> {
    let ready = disk::beside(dir, READY);
    if !ready.try_exists()? {
        return Ok(());
    }
    if dir.try_exists()? { remove_dir(&ready) } else { fs::rename(&ready, dir) }
}
