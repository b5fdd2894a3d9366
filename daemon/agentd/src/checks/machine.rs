//! The daemon's own files and surroundings.

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

use super::{Check, Subject};

/// Free space below which somebody should look: the store's backups need room too.
const LITTLE_DISK: u64 = 1 << 30;
/// Free space below which writes are about to fail.
const NO_DISK: u64 = 64 << 20;
/// The day before this program existed: 2025-01-01. A clock that says so was never set.
const BEFORE_US_MS: i64 = 1_735_689_600_000;
/// How far a stored time may lie ahead of now; clocks are corrected by less than that.
const AHEAD_MS: i64 = 60_000;

pub(super) fn config(subject: &Subject<'_>) -> Check {
    const NAME: &str = "config";
    let file = subject.control.config_file();
    let shown = file
        .map_or_else(|| "no file: built-in defaults".to_owned(), |file| file.display().to_string());
    match subject.control.reload_failure() {
        Some(failure) => Check::fail(
            NAME,
            format!("{shown} was changed but is not in force: {failure}"),
            "correct it, then run `agentctl reload`",
        ),
        None => Check::ok(NAME, shown),
    }
}

pub(super) async fn store(subject: &Subject<'_>) -> Check {
    const NAME: &str = "store";
    let damage: Vec<String> = subject
        .control
        .warnings()
        .into_iter()
        .filter(|warning| warning.contains("store"))
        .collect();
    match subject.store.stats().await {
        Err(error) => Check::fail(NAME, error.to_string(), error.hint()),
        Ok(_) if !damage.is_empty() => Check::warn(
            NAME,
            damage.join("; "),
            "stop the daemon and run `agentd check` to see what is readable",
        ),
        Ok(stats) => Check::ok(
            NAME,
            format!("{} bytes in {}", stats.bytes_on_disk, subject.paths.store_dir().display()),
        ),
    }
}

pub(super) fn socket(subject: &Subject<'_>) -> Check {
    const NAME: &str = "socket";
    let socket = &subject.control.facts().socket;
    let shown = socket.display();
    let metadata = match std::fs::symlink_metadata(socket) {
        Ok(metadata) => metadata,
        Err(error) => {
            return Check::fail(NAME, format!("{shown}: {error}"), "restart the daemon");
        }
    };
    if !metadata.file_type().is_socket() {
        let remedy = "move it out of the way, then restart the daemon";
        return Check::fail(NAME, format!("{shown} is not a socket"), remedy);
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o007 != 0 {
        let remedy = format!("chmod o= {shown}");
        return Check::warn(NAME, format!("{shown} has mode {mode:o}"), remedy);
    }
    Check::ok(NAME, format!("{shown}, mode {mode:o}"))
}

pub(super) async fn disk(subject: &Subject<'_>) -> Check {
    const NAME: &str = "disk";
    let free = match subject.store.stats().await {
        Ok(stats) => stats.free_bytes,
        Err(_told_by_the_store_check) => None,
    };
    let dir = subject.paths.data_dir.display();
    let remedy = "make room on the file system, or move the data with AGENTD_HOME";
    match free {
        None => Check::skipped(NAME, format!("the free space of {dir} is not known")),
        Some(free) if free < NO_DISK => {
            Check::fail(NAME, format!("{} MiB free at {dir}", free >> 20), remedy)
        }
        Some(free) if free < LITTLE_DISK => {
            Check::warn(NAME, format!("{} MiB free at {dir}", free >> 20), remedy)
        }
        Some(free) => Check::ok(NAME, format!("{} MiB free at {dir}", free >> 20)),
    }
}

pub(super) async fn clock(subject: &Subject<'_>) -> Check {
    const NAME: &str = "clock";
    let now = subject.clock.now();
    let remedy = "set the time, best with a time service such as systemd-timesyncd or chrony";
    if now.0 < BEFORE_US_MS {
        return Check::fail(NAME, "the clock was never set", remedy);
    }
    // The most recently used comes first.
    match subject.store.sessions(None, 1).await {
        Ok(page) => match page.sessions.first() {
            Some(newest) if newest.updated_at.0 > now.0 + AHEAD_MS => Check::warn(
                NAME,
                format!(
                    "a session was changed {} s in the future: the clock was ahead, or is behind now",
                    (newest.updated_at.0 - now.0) / 1000
                ),
                remedy,
            ),
            _ => Check::ok(NAME, "no session lies in the future"),
        },
        Err(error) => Check::fail(NAME, error.to_string(), error.hint()),
    }
}
