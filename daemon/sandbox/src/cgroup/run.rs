//! The group of one run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::write;
use crate::Limits;

/// Processes and threads of the box itself: bubblewrap, the supervisor and its threads.
const OF_THE_BOX: u64 = 8;

/// The time over which a share of the processors is counted, in microseconds; the kernel's own.
const PERIOD: u64 = 100_000;

/// How long a group is waited for that is not empty yet, and how often it is looked at.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

/// Which limits a run met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LimitsMet {
    /// Processes were killed because together they wanted more memory than allowed.
    pub memory: bool,
    /// It was refused a process or thread.
    pub processes: bool,
    /// It had to wait for its share of the processors.
    pub cpu: bool,
}

/// A group. When it is dropped, all that is in it is killed and it is removed.
#[derive(Debug)]
pub(crate) struct RunGroup {
    dir: PathBuf,
}

impl RunGroup {
    pub(super) fn make(dir: PathBuf, controllers: &[&str], limits: &Limits) -> io::Result<Self> {
        fs::create_dir(&dir)?;
        let group = Self { dir };
        let dir = &group.dir;
        if controllers.contains(&"memory") {
            write(dir, "memory.max", &limits.total_memory_bytes.to_string())?;
            // Not there when the kernel does not count what is swapped out.
            if dir.join("memory.swap.max").exists() {
                write(dir, "memory.swap.max", "0")?;
            }
        }
        if controllers.contains(&"pids") {
            let most = limits.processes.saturating_add(OF_THE_BOX);
            write(dir, "pids.max", &most.to_string())?;
        }
        if let Some(percent) = limits.cpu_percent.filter(|_| controllers.contains(&"cpu")) {
            let share = PERIOD * u64::from(percent) / 100;
            write(dir, "cpu.max", &format!("{share} {PERIOD}"))?;
        }
        Ok(group)
    }

    /// Takes in a process; what it starts from then on is in the group too.
    ///
    /// # Errors
    /// Of the system.
    pub(crate) fn take_in(&self, pid: u32) -> io::Result<()> {
        write(&self.dir, "cgroup.procs", &pid.to_string())
    }

    /// Kills all that is in it.
    pub(crate) fn kill(&self) {
        kill(&self.dir);
    }

    /// What the kernel counted.
    pub(crate) fn limits_met(&self) -> LimitsMet {
        let counted = |file: &str, name: &str| {
            let text = fs::read_to_string(self.dir.join(file)).unwrap_or_default();
            text.lines().any(|line| {
                line.split_once(' ').is_some_and(|(it, count)| it == name && count.trim() != "0")
            })
        };
        LimitsMet {
            memory: counted("memory.events", "oom_kill"),
            processes: counted("pids.events", "max"),
            cpu: counted("cpu.stat", "nr_throttled"),
        }
    }
}

impl Drop for RunGroup {
    fn drop(&mut self) {
        kill(&self.dir);
        let dir = std::mem::take(&mut self.dir);
        // The last ones may take a moment to be gone.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || remove(&dir))),
            Err(_no_runtime) => remove(&dir),
        }
    }
}

/// Kills all processes of a group and of those below it.
fn kill(dir: &Path) {
    if write(dir, "cgroup.kill", "1").is_ok() {
        return;
    }
    // Before Linux 5.14: one by one, again and again while it is removed.
    let inside = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    for pid in inside.lines().filter_map(|pid| pid.parse().ok()) {
        if let Some(pid) = rustix::process::Pid::from_raw(pid) {
            // It may have ended since.
            let _gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

/// Removes a group once it is empty.
#[expect(clippy::disallowed_methods, reason = "it is not on a thread of the runtime's tasks")]
fn remove(dir: &Path) {
    for _try in 0..TRIES {
        match fs::remove_dir(dir) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(_not_empty) => {
                kill(dir);
                std::thread::sleep(PAUSE);
            }
        }
    }
    tracing::warn!(group = %dir.display(), "a group of a run is not empty and stays");
}

/// Ends and removes a group and those directly below it.
pub(super) fn remove_all(dir: &Path) {
    if !dir.exists() {
        return;
    }
    kill(dir);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path());
        }
    }
    remove(dir);
}
