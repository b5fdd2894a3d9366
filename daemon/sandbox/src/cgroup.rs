//! A control group for each run: limits for all of its processes together, and their end at once.
//!
//! Only version 2, and only where the daemon may write: in the part of the hierarchy that systemd
//! has delegated to its unit, or as root at the top of the hierarchy. Elsewhere each process has its
//! limits (`inside/confine.rs`), and what is not held is told.
//!
//! No processes may be where limits are handed on, so the daemon moves into a group of its own
//! beside those of the runs: `BASE/agentd.daemon`, `BASE/agentd.PID.START/run-N`.

mod lookup;
mod own;
mod run;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use self::lookup::Groups;
pub use self::run::LimitsMet;
pub(crate) use self::run::RunGroup;
use crate::Limits;

/// Controllers that runs need.
const CONTROLLERS: [&str; 3] = ["memory", "pids", "cpu"];

/// What holds programs to their limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accounting {
    /// A control group holds all processes of a run together.
    Group {
        /// Controllers that are at hand, of `memory`, `pids` and `cpu`. Without any the group still
        /// ends all processes at once.
        controllers: Vec<&'static str>,
    },
    /// Each process has its limits.
    Processes {
        /// Why there is no group.
        why: String,
    },
}

impl Accounting {
    /// True when this controller holds a run.
    pub fn has(&self, controller: &str) -> bool {
        match self {
            Self::Group { controllers } => controllers.contains(&controller),
            Self::Processes { .. } => false,
        }
    }

    /// Why a controller is not there.
    pub(crate) fn why_not(&self) -> &str {
        match self {
            Self::Group { .. } => "the controller is not in cgroup v2 here",
            Self::Processes { why } => why,
        }
    }
}

impl fmt::Display for Accounting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group { controllers } if controllers.is_empty() => f.write_str(
                "limits of each process; a cgroup ends all of them, and has no controllers (they \
                 are in version 1)",
            ),
            Self::Group { controllers } => {
                write!(f, "cgroup v2 ({}) and limits of each process", controllers.join(", "))
            }
            Self::Processes { why } => write!(f, "limits of each process, no cgroup: {why}"),
        }
    }
}

/// The groups of the runs of this process.
#[derive(Debug)]
pub(crate) struct Cgroups {
    /// Where the groups of the runs are.
    runs: PathBuf,
    controllers: Vec<&'static str>,
    next: AtomicU64,
}

impl Cgroups {
    /// Those of this process, which are found and prepared until they are there. What a daemon that
    /// was killed has left is ended and removed then, which blocks.
    ///
    /// # Errors
    /// One line: why there are none.
    pub(crate) fn of_process() -> Result<Arc<Self>, String> {
        let mut groups = groups_of_process();
        if let Some(groups) = &*groups {
            return Ok(Arc::clone(groups));
        }
        let made = own::base().and_then(|base| Self::below(&base).map(Arc::new))?;
        Ok(Arc::clone(groups.insert(made)))
    }

    /// Prepares groups in `base`, which is this process's own.
    fn below(base: &Path) -> Result<Self, String> {
        own::remove_leftovers(base);
        let controllers = own::hand_on(base)?;
        let runs = base.join(own::name().map_err(|error| error.to_string())?);
        let wrong = |error: io::Error| format!("{}: {error}", runs.display());
        // After an upgrade this is the process that made it.
        run::remove_all(&runs);
        std::fs::create_dir(&runs).map_err(wrong)?;
        own::enable(&runs, &controllers).map_err(wrong)?;
        Ok(Self { runs, controllers, next: AtomicU64::new(0) })
    }

    /// Groups for tests that make none.
    #[cfg(test)]
    pub(crate) fn of_nobody() -> Self {
        Self { runs: PathBuf::new(), controllers: Vec::new(), next: AtomicU64::new(0) }
    }

    pub(crate) fn accounting(&self) -> Accounting {
        Accounting::Group { controllers: self.controllers.clone() }
    }

    /// A group for a run.
    ///
    /// # Errors
    /// Of the system.
    pub(crate) fn make(&self, limits: &Limits) -> io::Result<RunGroup> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        RunGroup::make(self.runs.join(format!("run-{number}")), &self.controllers, limits)
    }
}

/// The groups of the runs of this process, once they were made.
fn groups_of_process() -> MutexGuard<'static, Option<Arc<Cgroups>>> {
    static GROUPS: Mutex<Option<Arc<Cgroups>>> = Mutex::new(None);
    // What was made is put in whole.
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the groups of the runs of this process, and ends what is left in them, when it stops in order.
/// It blocks, for as long as what was killed takes to be gone. Without it the next start does the same.
pub fn remove_groups_of_process() {
    if let Some(groups) = groups_of_process().take() {
        run::remove_all(&groups.runs);
    }
}

/// A file of a group.
fn write(dir: &Path, file: &str, value: &str) -> io::Result<()> {
    // Never created: a file that the kernel does not have is an error.
    let mut options = std::fs::OpenOptions::new();
    let path = dir.join(file);
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let mut open = options.write(true).open(&path).map_err(named)?;
    io::Write::write_all(&mut open, value.as_bytes()).map_err(named)
}

#[cfg(test)]
mod tests;
