//! What else runs, as `/proc` tells it.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;

use rustix::process::{Pid, Signal, getpid, getuid, kill_process};

/// All processes that this one or its descendants started and that have not ended.
pub(super) fn descendants() -> Vec<Pid> {
    let parents: HashMap<i32, i32> = pids().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let own = getpid().as_raw_nonzero().get();
    let is_ours = |pid: i32| {
        let mut at = pid;
        // No chain is longer than there are processes; a pid used again could make a ring.
        for _ in 0..=parents.len() {
            match parents.get(&at) {
                Some(parent) if *parent == own => return true,
                Some(parent) => at = *parent,
                None => return false,
            }
        }
        false
    };
    parents.keys().copied().filter(|pid| is_ours(*pid)).filter_map(Pid::from_raw).collect()
}

/// Sends a signal to all descendants.
pub(super) fn signal(signal: Signal) {
    for pid in descendants() {
        // It may have ended since.
        let _gone = kill_process(pid, signal);
    }
}

/// Processes and threads of this user.
pub(super) fn of_user() -> u64 {
    let own = getuid().as_raw();
    let threads = |pid: i32| {
        let path = format!("/proc/{pid}/task");
        let is_own = fs::metadata(&path).is_ok_and(|metadata| metadata.uid() == own);
        if is_own { fs::read_dir(path).map_or(0, Iterator::count) } else { 0 }
    };
    pids().map(threads).map(|count| u64::try_from(count).unwrap_or(u64::MAX)).sum()
}

fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The parent of a process that has not ended.
fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything, brackets too.
    let name_end = memrchr(&stat)?;
    let rest = String::from_utf8_lossy(stat.get(name_end + 1..)?).into_owned();
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.next()?.parse().ok()
}

fn memrchr(stat: &[u8]) -> Option<usize> {
    stat.iter().rposition(|byte| *byte == b')')
}
