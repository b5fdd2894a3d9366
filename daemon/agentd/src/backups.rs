//! Copies of the store that the daemon makes by itself, for a start that finds nothing else readable.
//!
//! A copy is due when the newest one is older than the interval and something was committed since.
//! Both stand in its name, so that restarts neither put it off nor repeat it:
//! `auto-<Unix milliseconds>-<commits>`. Other directories beside them are the user's own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Clock, TimestampMs};
use agentd_store::{Store, StoreStats};
use tokio::sync::watch;

use crate::config::Config;
use crate::control::{Control, Topic};

/// Before what else the name tells.
const PREFIX: &str = "auto-";
/// What stays free on the disk beside a copy.
const SPARE_BYTES: u64 = 64 << 20;
/// How the store marks a copy that is not whole yet.
const UNFINISHED: &str = ".unfinished";
/// How often to look whether a copy is due; the clock may have been set, or the machine slept.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Makes copies until it is dropped.
#[derive(Debug)]
pub(crate) struct Backups {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) dir: PathBuf,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: watch::Receiver<Config>,
    pub(crate) control: Control,
}

/// A copy that is there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Copy {
    at: TimestampMs,
    commits: u64,
    path: PathBuf,
}

impl Backups {
    /// Looks again and again. A copy that is under way when this is dropped stays unfinished under
    /// another name, and the next one removes it.
    pub(crate) async fn run(self) {
        let started = self.clock.now();
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let (interval_ms, keep) = {
                let config = self.config.borrow();
                (config.store.backup_interval_ms, config.store.backup_keep)
            };
            if interval_ms == 0 {
                self.control.standing_warning(Topic::Backups, None);
                continue;
            }
            if let Err(problem) = self.copy_if_due(started, interval_ms, keep).await {
                let warning = format!("the store could not be backed up: {problem}");
                self.control.standing_warning(Topic::Backups, Some(warning));
            }
        }
    }

    async fn copy_if_due(
        &self,
        started: TimestampMs,
        interval_ms: u64,
        keep: u32,
    ) -> Result<(), String> {
        let dir = self.dir.clone();
        let copies = blocking(move || copies(&dir)).await?;
        let now = self.clock.now();
        // Copies from after now were made before the clock was set back: they must not put the next
        // one off for long.
        let from_later = copies.partition_point(|copy| copy.at <= now);
        let (copies, later) = copies.split_at(from_later);
        let newest = copies.last();
        let since = newest.map_or(started, |newest| newest.at);
        let interval = i64::try_from(interval_ms).unwrap_or(i64::MAX);
        if since <= now && now.0 - since.0 < interval {
            return Ok(());
        }
        let stats = self.store.stats().await.map_err(|error| error.to_string())?;
        if newest.into_iter().chain(later).any(|copy| copy.commits == stats.commits) {
            return Ok(());
        }
        check_space(&stats)?;
        let dir = self.dir.clone();
        blocking(move || make_room(&dir)).await?;
        let path = self.dir.join(format!("{PREFIX}{:013}-{}", now.0, stats.commits));
        let report = self.store.backup(&path).await.map_err(|error| error.to_string())?;
        tracing::info!(sessions = report.sessions, path = %path.display(), "the store was backed up");
        self.control.standing_warning(Topic::Backups, None);
        let keep = usize::try_from(keep).unwrap_or(usize::MAX);
        // Those from later first: nobody knows how they stand to the others, and they would never
        // become the oldest.
        let surplus = (copies.len() + later.len() + 1).saturating_sub(keep);
        let surplus: Vec<_> = later.iter().chain(copies).take(surplus).cloned().collect();
        blocking(move || remove(&surplus)).await
    }
}

/// A copy must not take the last of the disk: commits would be refused until it is given up.
fn check_space(stats: &StoreStats) -> Result<(), String> {
    let needed = stats.bytes_on_disk.saturating_add(SPARE_BYTES);
    match stats.free_bytes {
        Some(free) if free < needed => Err(format!(
            "it would need {needed} bytes, and {free} are free; make room, or set \
             store.backup_interval_ms = 0"
        )),
        _ => Ok(()),
    }
}

/// Runs what asks the disk where nobody waits for it.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

/// The daemon's own copies, the oldest first.
fn copies(dir: &Path) -> Result<Vec<Copy>, String> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("{}: {error}", dir.display())),
    };
    let mut copies: Vec<_> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| copy_named(&entry.file_name().into_string().ok()?, entry.path()))
        .collect();
    copies.sort();
    Ok(copies)
}

fn copy_named(name: &str, path: PathBuf) -> Option<Copy> {
    let (at, commits) = name.strip_prefix(PREFIX)?.split_once('-')?;
    Some(Copy { at: TimestampMs(at.parse().ok()?), commits: commits.parse().ok()?, path })
}

/// Makes the directory, and removes what a stop cut off.
fn make_room(dir: &Path) -> Result<(), String> {
    agentd_shared::ensure_private_dir(dir).map_err(|error| error.to_string())?;
    let entries = std::fs::read_dir(dir).map_err(|error| error.to_string())?;
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PREFIX) && name.ends_with(UNFINISHED) {
            std::fs::remove_dir_all(entry.path()).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

fn remove(copies: &[Copy]) -> Result<(), String> {
    for copy in copies {
        std::fs::remove_dir_all(&copy.path)
            .map_err(|error| format!("{} stays: {error}", copy.path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
