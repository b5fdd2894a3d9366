//! Opening: prepare the directory, open sled, check, salvage when that fails, start the writer.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, mpsc};

use agentd_domain::SessionId;
use tokio::sync::Semaphore;

use crate::keyspace::{Direction, Heads, Key, Keyspace, Purge, open_value, seal, under};
use crate::sled_store::commit_mark::{CommitMark, LastRun};
use crate::sled_store::disk::{self, DiskSync};
use crate::sled_store::fault::{Fault, guarded};
use crate::sled_store::files::{Files, open_sled};
use crate::sled_store::report::OpenReport;
use crate::sled_store::writer::{PURGE_CHUNK, Writer};
use crate::sled_store::{
    OpenError, Opened, QUEUE_CAPACITY, READERS, SledOptions, SledStore, check, migrate, salvage,
};

/// Name of the meta record that counts commits.
pub(crate) const COMMITS: &str = "commits";

/// Name of the meta record that holds the version of the store.
const VERSION_NAME: &str = "version";

/// Version that this build writes. A change of keys or values that an older build would misread
/// raises it, and adds a step to [`migrate::STEPS`].
pub(crate) const VERSION: u32 = 1;

pub(crate) fn open(dir: &Path, options: SledOptions) -> Result<Opened, OpenError> {
    prepare(dir)?;
    let (mark, last) = CommitMark::open(dir).map_err(|error| io_error(dir, error))?;
    let (acknowledged, last_run) = last.unwrap_or((0, LastRun::Clean));
    let mut report = OpenReport { clean: last_run == LastRun::Clean, ..OpenReport::default() };

    let db = open_and_check(dir, &options, last_run, &mut report)?;
    let (commits, pending) =
        guarded(|| Ok((count_of_commits(&db)?.unwrap_or(0), tombstones(&db)?)))
            .map_err(|fault| error_of(dir, fault))?;
    report.lost_commits = acknowledged.saturating_sub(commits);
    let commits = commits.max(acknowledged);
    if report.lost_commits > 0 {
        // The loss is told now; the count goes on, so that it is not told at every start.
        set_count_of_commits(&db, commits).map_err(|fault| error_of(dir, fault))?;
    }
    mark.write(commits, LastRun::Open);

    let sync = DiskSync::new(dir).map_err(|error| io_error(dir, error))?;
    let files = Arc::new(Files::new(dir.to_owned(), options.cache_bytes, db));
    // One more than there are slots: the request to close needs none.
    let (queue, requests) = mpsc::sync_channel(QUEUE_CAPACITY + 1);
    let slots = Arc::new(Semaphore::new(QUEUE_CAPACITY));
    let told = Arc::new(AtomicU64::new(commits));
    let writer = Writer {
        files: Arc::clone(&files),
        options,
        queue: requests,
        slots: Arc::clone(&slots),
        mark,
        sync,
        commits,
        told: Arc::clone(&told),
        heads: Heads::default(),
        purge: Purge { inline_events: PURGE_CHUNK, pending },
        damage: None,
    };
    std::thread::Builder::new()
        .name("store-writer".to_owned())
        .spawn(move || writer.run())
        .map_err(|error| io_error(dir, error))?;
    for warning in report.warnings() {
        tracing::warn!("{warning}");
    }
    let readers = Arc::new(Semaphore::new(READERS));
    Ok(Opened { store: SledStore { files, queue, slots, readers, commits: told }, report })
}

/// Opens sled and looks at what is most likely to matter. Damage of sled's own files, which would
/// make reads fail at random, leads to a new store.
fn open_and_check(
    dir: &Path,
    options: &SledOptions,
    last_run: LastRun,
    report: &mut OpenReport,
) -> Result<sled::Db, OpenError> {
    let opened = open_sled(dir, options.cache_bytes).and_then(|db| {
        let version = version_of(&db)?;
        let damaged = match last_run {
            LastRun::Suspect => check::all(&db)?,
            LastRun::Open => check::recent_and_unfinished(&db)?,
            LastRun::Clean => check::unfinished(&db)?,
        };
        Ok((db, version, damaged))
    });
    let (db, version) = match opened {
        Ok((db, version, damaged)) => {
            report.damaged = damaged;
            (db, version)
        }
        Err(Fault::Damaged(cause)) => {
            report.salvage = Some(salvage::salvage(dir, options, cause)?);
            let db = open_sled(dir, options.cache_bytes).map_err(|fault| error_of(dir, fault))?;
            let version = version_of(&db).map_err(|fault| error_of(dir, fault))?;
            (db, version)
        }
        Err(fault) => return Err(error_of(dir, fault)),
    };
    match version {
        Some(VERSION) => Ok(db),
        None => {
            report.created = true;
            set_version(&db, VERSION).map_err(|fault| error_of(dir, fault))?;
            Ok(db)
        }
        Some(found) if found > VERSION => {
            Err(OpenError::NewerVersion { found, supported: VERSION })
        }
        Some(found) => {
            drop(db);
            report.migrated_from = Some(found);
            migrate::migrate(dir, options.cache_bytes, found, migrate::STEPS)
        }
    }
}

/// Makes the directory, and finishes or undoes what an earlier start was doing to it.
fn prepare(dir: &Path) -> Result<(), OpenError> {
    salvage::finish_interrupted(dir).map_err(|error| io_error(dir, error))?;
    match fs::metadata(dir) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_file) => return Err(OpenError::NotADirectory(dir.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            disk::create_private_dir(dir).map_err(|error| io_error(dir, error))?;
        }
        Err(error) => return Err(io_error(dir, error)),
    }
    remove_unfinished_page_tables(dir).map_err(|error| io_error(dir, error))
}

/// sled writes the table of its pages under a temporary name. When it is killed there, the next
/// opening takes the half-written file for the newest table and fails.
fn remove_unfinished_page_tables(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("snap.") && name.ends_with(".generating"))
        {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The version of a store; none when it is new.
pub(crate) fn version_of(db: &sled::Db) -> Result<Option<u32>, Fault> {
    guarded(|| {
        let Some(value) = db.get(Key::meta(VERSION_NAME))? else {
            return match db.first()? {
                None => Ok(None),
                Some(_record) => Err(Fault::Damaged("the version record is missing".to_owned())),
            };
        };
        open_value(&value)
            .and_then(|payload| Some(u32::from_be_bytes(payload.try_into().ok()?)))
            .map(Some)
            .ok_or_else(|| Fault::Damaged("the version record is not readable".to_owned()))
    })
}

/// Writes the version record durably.
pub(crate) fn set_version(db: &sled::Db, version: u32) -> Result<(), Fault> {
    guarded(|| {
        db.insert(Key::meta(VERSION_NAME), seal(&version.to_be_bytes()))?;
        db.flush()?;
        Ok(())
    })
}

/// Commits that the store holds.
pub(crate) fn count_of_commits(db: &sled::Db) -> Result<Option<u64>, Fault> {
    let value = db.get(Key::meta(COMMITS))?;
    Ok(value.and_then(|value| Some(u64::from_be_bytes(open_value(&value)?.try_into().ok()?))))
}

fn set_count_of_commits(db: &sled::Db, commits: u64) -> Result<(), Fault> {
    guarded(|| {
        db.insert(Key::meta(COMMITS), seal(&commits.to_be_bytes()))?;
        db.flush()?;
        Ok(())
    })
}

/// Deleted sessions whose events are still there.
pub(crate) fn tombstones(db: &sled::Db) -> Result<HashSet<SessionId>, Fault> {
    let mut pending = HashSet::new();
    db.scan(under(&[Key::TOMBSTONE]), Direction::Forward, &mut |key, _empty| {
        pending.extend(Key::session_of(key));
        ControlFlow::Continue(())
    })?;
    Ok(pending)
}

pub(crate) fn io_error(dir: &Path, error: io::Error) -> OpenError {
    let path = dir.to_owned();
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            OpenError::NotWritable { path, source: error }
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            OpenError::DiskFull { path, source: error }
        }
        io::ErrorKind::NotADirectory => OpenError::NotADirectory(path),
        _ => OpenError::Io { path, source: error },
    }
}

pub(crate) fn error_of(dir: &Path, fault: Fault) -> OpenError {
    match fault {
        Fault::InUse => OpenError::InUse(dir.to_owned()),
        Fault::Full(error) | Fault::Io(error) => io_error(dir, error),
        Fault::Damaged(detail) => OpenError::Damaged { path: dir.to_owned(), detail },
    }
}
