//! The daemon's own files and surroundings.

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

use agentd_shared::text::human_bytes;

use super::{Check, Subject};
use crate::control::{Topic, Warning};

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
    let stats = match subject.store.stats().await {
        Ok(stats) => stats,
        Err(error) => return Check::fail(NAME, error.to_string(), error.hint()),
    };
    let warnings = subject.control.warnings();
    if let Some(damage) = about(Topic::Store, &warnings) {
        let remedy = "stop the daemon and run `agentd check` to see what is readable";
        return Check::warn(NAME, damage, remedy);
    }
    if let Some(problem) = about(Topic::Backups, &warnings) {
        let remedy = "correct what it names: the daemon tries again every minute";
        return Check::warn(NAME, problem, remedy);
    }
    let dir = subject.paths.store_dir();
    Check::ok(NAME, format!("{} in {}", human_bytes(stats.bytes_on_disk), dir.display()))
}

/// What the warnings say about something.
fn about(topic: Topic, warnings: &[Warning]) -> Option<String> {
    let texts: Vec<&str> = warnings
        .iter()
        .filter(|warning| warning.topic == topic)
        .map(|warning| warning.text.as_str())
        .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
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
            Check::fail(NAME, format!("{} free at {dir}", human_bytes(free)), remedy)
        }
        Some(free) if free < LITTLE_DISK => {
            Check::warn(NAME, format!("{} free at {dir}", human_bytes(free)), remedy)
        }
        Some(free) => Check::ok(NAME, format!("{} free at {dir}", human_bytes(free))),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_counts_for_what_it_is_about_whatever_its_words() {
        let warnings = [
            (Topic::Config, "store.cache is now called store.cache_bytes"),
            (Topic::Store, "session s ends at seq 4 and was cut there"),
            (Topic::Backups, "the store could not be backed up"),
            (Topic::Store, "the newest 2 acknowledged changes are missing"),
        ]
        .map(|(topic, text)| Warning { topic, text: text.to_owned() });
        let damage = about(Topic::Store, &warnings).unwrap();
        assert_eq!(
            damage,
            "session s ends at seq 4 and was cut there; the newest 2 acknowledged changes are missing"
        );
        assert_eq!(about(Topic::Store, &warnings[..1]), None);
    }
}
