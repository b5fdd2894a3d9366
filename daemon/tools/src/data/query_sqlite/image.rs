//! The content of a database at one moment, read through the workspace's handle.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use agentd_domain::ToolResult;
use tokio_util::sync::CancellationToken;

use super::wal;
use crate::fs::{OpenedFile, Protected, open_plain_file, shown, version};
use crate::run::interrupted;

/// Largest database and log, in bytes each. They are held in memory while they are looked at.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// How often a file is read that somebody writes to meanwhile.
const TRIES: u32 = 3;

/// Bytes between two looks at the cancellation.
const CHUNK: usize = 1024 * 1024;

/// Begins every database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Begins a journal that holds what a broken off transaction had replaced.
const JOURNAL_MAGIC: &[u8] = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";

/// Where a database says that it has a write-ahead log, and what it says when it has none.
const LOG_FLAGS: std::ops::Range<usize> = 18..20;
const NO_LOG: u8 = 1;

/// See the module.
pub(super) struct Image {
    pub(super) bytes: Vec<u8>,
    /// Pages that come from the write-ahead log.
    pub(super) from_log: usize,
}

impl Image {
    /// Reads a database with its write-ahead log.
    ///
    /// # Errors
    /// When it is none, is too large, or is being written to all the time.
    pub(super) fn read(
        root: &Path,
        protected: &Protected,
        path: &str,
        cancel: &CancellationToken,
    ) -> Result<Self, ToolResult> {
        let open = |path: &str| open_plain_file(root, protected, path);
        for _ in 0..TRIES {
            let OpenedFile { file, metadata, place } = open(path)?;
            let before = version(&metadata);
            let beside = |suffix: &str| {
                let mut place = place.clone().into_os_string();
                place.push(suffix);
                let there = open(&place.to_string_lossy());
                match there {
                    Ok(opened) => Ok(Some(opened)),
                    Err(missing) if missing.error_code == "NOT_FOUND" => Ok(None),
                    Err(refused) => Err(refused),
                }
            };
            let stamp = || {
                let log = beside("-wal")?.map(|log| version(&log.metadata));
                let journal = beside("-journal")?.map(|journal| version(&journal.metadata));
                Ok::<_, ToolResult>((log, journal))
            };
            let beside_before = stamp()?;
            if let Some(mut journal) = beside("-journal")?
                && is_hot(&mut journal.file)
            {
                return Err(ToolResult::retryable(
                    "DATABASE_BUSY",
                    format!(
                        "A transaction on '{}' is under way or was broken off: its journal is not \
                         empty. It is not read until that is over.",
                        shown(path)
                    ),
                ));
            }
            let log = match beside("-wal")? {
                Some(log) => read_all(log.file, path, cancel)?,
                None => Vec::new(),
            };
            let mut bytes =
                read_all(file.try_clone().map_err(|error| unread(&error))?, path, cancel)?;
            let after = version(&file.metadata().map_err(|error| unread(&error))?);
            if after != before || stamp()? != beside_before {
                continue;
            }
            if !bytes.is_empty() && !bytes.starts_with(MAGIC) {
                return Err(ToolResult::fatal(
                    "NOT_A_DATABASE",
                    format!("'{}' is not a SQLite database, or is encrypted.", shown(path)),
                ));
            }
            let from_log = wal::replay(&mut bytes, &log, MAX_BYTES)
                .map_err(|wal::TooLarge| too_large(path))?;
            if let Some(flags) = bytes.get_mut(LOG_FLAGS) {
                // In memory there is no log.
                flags.fill(NO_LOG);
            }
            return Ok(Self { bytes, from_log });
        }
        Err(ToolResult::retryable(
            "DATABASE_BUSY",
            format!("'{}' was written to each time while it was read.", shown(path)),
        ))
    }
}

fn is_hot(journal: &mut File) -> bool {
    let mut start = [0; JOURNAL_MAGIC.len()];
    journal.read_exact(&mut start).is_ok() && start == JOURNAL_MAGIC
}

fn read_all(mut file: File, path: &str, cancel: &CancellationToken) -> Result<Vec<u8>, ToolResult> {
    let mut bytes = Vec::new();
    loop {
        if cancel.is_cancelled() {
            return Err(interrupted());
        }
        let chunk = u64::try_from(CHUNK).unwrap_or(u64::MAX);
        let read =
            file.by_ref().take(chunk).read_to_end(&mut bytes).map_err(|error| unread(&error))?;
        if read == 0 {
            return Ok(bytes);
        }
        if bytes.len() > MAX_BYTES {
            return Err(too_large(path));
        }
    }
}

fn unread(error: &std::io::Error) -> ToolResult {
    ToolResult::retryable("IO_ERROR", format!("The database cannot be read on: {error}."))
}

fn too_large(path: &str) -> ToolResult {
    ToolResult::fatal(
        "FILE_TOO_LARGE",
        format!(
            "'{}' or its log is larger than {} MiB; a command such as sqlite3 -readonly reads it.",
            shown(path),
            MAX_BYTES / (1024 * 1024)
        ),
    )
}
