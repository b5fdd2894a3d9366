//! Whose something is that may outlive a process: a name for one process of this machine, which no
//! other ever has.

use std::fs;

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

/// The name of this process; none where the system does not tell.
pub(crate) fn own() -> Option<String> {
    let pid = std::process::id();
    Some(format!("{}/{pid}/{}", world()?, started(pid)?))
}

/// True when the process with this name is surely no more.
pub(crate) fn is_gone(name: &str) -> bool {
    let Some((boot, rest)) = name.split_once('/') else { return false };
    let Some(own) = world() else { return false };
    if !own.starts_with(&format!("{boot}/")) {
        // Of another boot, if it is a name of ours at all.
        return rest.split('/').count() == 3;
    }
    let mut parts = rest.split('/');
    let (Some(ids), Some(pid), Some(start)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let (Ok(pid), Ok(start)) = (pid.parse(), start.parse()) else { return false };
    // Another numbering: nobody here can tell.
    own.ends_with(ids) && started(pid) != Some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_no_more_is_known_and_what_is_not_known_is_left_alone() {
        let own = own().expect("it runs");
        assert!(!is_gone(&own));
        let (before, _) = own.rsplit_once('/').expect("a start");
        assert!(is_gone(&format!("{before}/1")), "the id belongs to another by now");
        let (_, rest) = own.split_once('/').expect("a boot");
        assert!(is_gone(&format!("another-boot/{rest}")));
        for unknown in ["", "x", "a/b", &format!("{own}x"), &own.replace("pid:[", "pid:[9")] {
            assert!(!is_gone(unknown), "{unknown}");
        }
    }
}
