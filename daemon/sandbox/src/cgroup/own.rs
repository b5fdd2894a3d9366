//! The daemon's own place in the hierarchy.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{CONTROLLERS, run, write};
use crate::owner::started;

/// Where the daemon itself is, beside its runs.
const DAEMON: &str = "agentd.daemon";

/// What names of groups of runs begin with.
const PREFIX: &str = "agentd.";

/// What to do where the daemon may not use its group.
const DELEGATE: &str = "run agentd as a service of systemd with Delegate=yes";

/// The directory below which this process may make groups.
///
/// # Errors
/// One line: why there is none.
pub(super) fn base() -> Result<PathBuf, String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").map_err(|error| error.to_string())?;
    let groups = fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
    let mount = mount_of(&mounts).ok_or("cgroup v2 is not mounted")?;
    let own = path_in(&groups).ok_or("this process is in no group of cgroup v2")?;
    if own.starts_with("/..") {
        return Err("the daemon's group is outside of what this container sees".to_owned());
    }
    let dir = mount.join(own.trim_start_matches('/'));
    // After an upgrade, or a second look.
    let base = if dir.ends_with(DAEMON) { dir.parent().unwrap_or(&dir).to_owned() } else { dir };
    let is_writable = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    if is_writable(&base) && is_writable(&base.join("cgroup.procs")) {
        Ok(base)
    } else {
        Err(format!("the daemon's group is not its own; {DELEGATE}"))
    }
}

/// Where version 2 is mounted.
fn mount_of(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        let is_version_2 = kind.split(' ').next() == Some("cgroup2");
        is_version_2.then(|| mount.split(' ').nth(4).map(PathBuf::from)).flatten()
    })
}

/// The group of version 2.
fn path_in(groups: &str) -> Option<&str> {
    groups.lines().find_map(|line| line.strip_prefix("0::"))
}

/// The name of the group that holds the runs of this process: no other process ever had it.
///
/// # Errors
/// When `/proc` does not tell.
pub(super) fn name() -> io::Result<String> {
    let pid = std::process::id();
    let start = started(pid).ok_or_else(|| io::Error::other("/proc/self/stat cannot be read"))?;
    Ok(format!("{PREFIX}{pid}.{start}"))
}

/// Ends and removes the groups of daemons that are no more.
pub(super) fn remove_leftovers(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((pid, start)) = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('.'))
        else {
            continue;
        };
        let (Ok(pid), Ok(start)) = (pid.parse::<u32>(), start.parse::<u64>()) else { continue };
        if started(pid) != Some(start) {
            tracing::info!(group = name, "what a daemon has left is ended and removed");
            run::remove_all(&entry.path());
        }
    }
}

/// Makes the controllers available to groups below `base`, and gives those that are.
///
/// # Errors
/// One line, when other processes are in the way.
pub(super) fn hand_on(base: &Path) -> Result<Vec<&'static str>, String> {
    let wrong = |error: io::Error| error.to_string();
    let listed = |file: &str| fs::read_to_string(base.join(file));
    let there = listed("cgroup.controllers").map_err(wrong)?;
    let has = |list: &str, name: &str| list.split_whitespace().any(|it| it == name);
    let controllers: Vec<&'static str> =
        CONTROLLERS.into_iter().filter(|name| has(&there, name)).collect();
    let on = listed("cgroup.subtree_control").map_err(wrong)?;
    // Only the top of the hierarchy, which has no type, may hold processes beside groups.
    let is_top = !base.join("cgroup.type").exists();
    let is_handed_on = controllers.iter().all(|name| has(&on, name));
    if !is_top && !is_handed_on {
        step_aside(base)?;
    }
    enable(base, &controllers)
        .map_err(|error| format!("controllers cannot be handed on: {error}; {DELEGATE}"))?;
    Ok(controllers)
}

/// Moves this process into a group of its own.
fn step_aside(base: &Path) -> Result<(), String> {
    let own = std::process::id().to_string();
    let inside =
        fs::read_to_string(base.join("cgroup.procs")).map_err(|error| error.to_string())?;
    if inside.lines().any(|pid| pid != own) {
        return Err(format!("other processes share the daemon's group; {DELEGATE}"));
    }
    let aside = base.join(DAEMON);
    let moved = match fs::create_dir(&aside) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => write(&aside, "cgroup.procs", &own),
    };
    moved.map_err(|error| format!("the daemon cannot move into a group of its own: {error}"))
}

/// Switches controllers on for the groups below a directory.
///
/// # Errors
/// Of the system.
pub(super) fn enable(dir: &Path, controllers: &[&str]) -> io::Result<()> {
    let text: Vec<String> = controllers.iter().map(|name| format!("+{name}")).collect();
    if text.is_empty() { Ok(()) } else { write(dir, "cgroup.subtree_control", &text.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_in_the_hierarchy_is_read_from_what_the_kernel_tells() {
        let mounts = "29 23 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro\n\
                      31 29 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      40 29 0:33 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw\n";
        assert_eq!(mount_of(mounts), Some(PathBuf::from("/sys/fs/cgroup/unified")));
        assert_eq!(mount_of("29 23 0:26 / /sys/fs/cgroup ro - tmpfs tmpfs ro\n"), None);
        let groups = "4:memory:/x\n0::/user.slice/user@1000.service/app.slice/agentd.service\n";
        assert_eq!(path_in(groups), Some("/user.slice/user@1000.service/app.slice/agentd.service"));
        assert_eq!(path_in("4:memory:/x\n"), None);
    }
}
