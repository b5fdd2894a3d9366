//! Whose something is that may outlive a process: a name for one process of this machine, which no
//! other ever has, and for the program in it, which an upgrade exchanges.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher as _;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// When a process was started, in the kernel's ticks: with the id it stands for one process.
pub(crate) fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything. What follows is field 3; this is 22.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Where ids of processes mean what they mean here: this boot, and what numbers them.
fn world() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let ids = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{}/{}", boot.trim(), ids.display()))
}

/// What the program in this process was started as, unlike the one before an upgrade.
fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    // The hasher's keys are random.
    PROGRAM.get_or_init(|| format!("{:x}", RandomState::new().hash_one("program")))
}

/// The name of this process; none where the system does not tell.
pub(crate) fn own() -> Option<String> {
    let pid = std::process::id();
    Some(format!("{}/{pid}/{}/{}", world()?, started(pid)?, program()))
}

/// True when the process with this name is surely no more.
pub(crate) fn is_gone(name: &str) -> bool {
    let Some((boot, rest)) = name.split_once('/') else { return false };
    let Some(own) = world() else { return false };
    if !own.starts_with(&format!("{boot}/")) {
        // Of another boot, if it is a name of ours at all.
        return rest.split('/').count() == 4;
    }
    let parts: Vec<&str> = rest.split('/').collect();
    let &[ids, pid, start, of_program] = parts.as_slice() else { return false };
    let (Ok(pid), Ok(start)) = (pid.parse(), start.parse::<u64>()) else { return false };
    // In another numbering nobody here can tell.
    own.ends_with(ids) && is_over(pid, start, of_program)
}

fn is_over(pid: u32, start: u64, of_program: &str) -> bool {
    is_process_gone(pid, start) || (pid == std::process::id() && of_program != program())
}

/// True when the process that had this id and was started then is surely no more.
pub(crate) fn is_process_gone(pid: u32, start: u64) -> bool {
    match started(pid) {
        Some(now) => now != start,
        // /proc may show only a user's own processes.
        None => i32::try_from(pid)
            .ok()
            .and_then(Pid::from_raw)
            .is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_no_more_is_known_and_what_is_not_known_is_left_alone() {
        let own = own().expect("it runs");
        assert!(!is_gone(&own));
        let (process, program) = own.rsplit_once('/').expect("a program");
        assert!(is_gone(&format!("{process}/1")), "it was exchanged since");
        let (before, _) = process.rsplit_once('/').expect("a start");
        assert!(is_gone(&format!("{before}/1/{program}")), "the id belongs to another by now");
        let (ids, _) = before.rsplit_once('/').expect("an id");
        assert!(is_gone(&format!("{ids}/4194304/1/x")), "no process has this id");
        let (_, rest) = own.split_once('/').expect("a boot");
        assert!(is_gone(&format!("another-boot/{rest}")));
        for unknown in
            ["", "x", "a/b", &format!("{process}x/{program}"), &own.replace("pid:[", "pid:[9")]
        {
            assert!(!is_gone(unknown), "{unknown}");
        }
    }
}
