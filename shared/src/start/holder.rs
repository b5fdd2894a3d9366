//! Who holds the data directory: the kernel's lock tells whether, the lock file tells who.

use std::fs::{File, TryLockError};
use std::io::Read as _;

use crate::paths::Paths;

/// Longest content of a lock file that is looked at, in bytes: a process id and a line break.
const MAX_CONTENT: u64 = 32;

/// A daemon that has the data directory, whether it listens or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Its process id; none when it has not written one that makes sense.
    pub pid: Option<u32>,
}

/// Returns who holds the data directory; `None` when nobody does, or that cannot be found out.
pub fn data_dir_holder(paths: &Paths) -> Option<Holder> {
    let file = File::open(paths.instance_lock()).ok()?;
    // Shared, so that two who look do not see each other. A daemon that starts tries more than once.
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(Holder { pid: read_pid(file) }),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

/// Process 1 and 0 are never daemons of ours, and nobody should be told to kill them.
fn read_pid(file: File) -> Option<u32> {
    let mut text = String::new();
    file.take(MAX_CONTENT).read_to_string(&mut text).ok()?;
    text.trim().parse().ok().filter(|pid| *pid > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_held_lock_has_a_holder_whatever_the_file_says() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::under(dir.path());
        assert_eq!(data_dir_holder(&paths), None, "there is no file");
        std::fs::create_dir(&paths.data_dir).unwrap();
        let check = |content: &str, expect: Option<u32>| {
            std::fs::write(paths.instance_lock(), content).unwrap();
            assert_eq!(data_dir_holder(&paths), None, "{content:?}");
            let lock = File::open(paths.instance_lock()).unwrap();
            lock.lock().unwrap();
            assert_eq!(data_dir_holder(&paths), Some(Holder { pid: expect }), "{content:?}");
        };
        check("4711\n", Some(4711));
        check("1\n", None);
        check("", None);
        check("garbage", None);
        check("99999999999999999999\n", None);
    }
}
