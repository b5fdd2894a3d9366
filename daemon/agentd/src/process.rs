//! What the system knows about this process.

/// Resident memory in bytes; 0 where `/proc` does not tell.
pub(crate) fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split(' ').nth(1).and_then(|field| field.parse().ok()).unwrap_or(0);
    pages * u64::try_from(rustix::param::page_size()).unwrap_or(4096)
}

/// Open file descriptors; 0 where `/proc` does not tell.
pub(crate) fn open_descriptors() -> u64 {
    let listed = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    u64::try_from(listed).unwrap_or(u64::MAX)
}
