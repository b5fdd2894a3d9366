//! Keeping glibc's allocator from holding on to what was freed (ADR 0011).
//!
//! By default glibc takes each large block that is freed as a reason to cut the next ones, up to 32 MiB,
//! out of its heaps, of which it has eight a core. After one answer of some megabytes, buffers of that
//! size lie between small things in whichever heap the thread had that read it: memory that is free,
//! resident, and of use to nobody else.

/// Sets the allocator up. Meant for the start of `main`, before there are other threads. With another C
/// library there is nothing to do. False: it was refused, and memory may be held for longer.
pub fn give_back_what_is_freed() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    return glibc::set_up();
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    return true;
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    #![expect(unsafe_code, reason = "it calls the C library")]

    use libc::{M_ARENA_MAX, M_MMAP_THRESHOLD, c_int, mallopt};

    /// Heaps that threads share. The daemon's threads wait more than they allocate.
    const HEAPS: c_int = 2;
    /// Blocks from this size on are mapped, and given back to the system when they are freed. glibc
    /// begins with this size; setting it is what keeps it (mallopt(3)).
    const MAPPED_FROM_BYTES: c_int = 128 * 1024;

    pub(super) fn set_up() -> bool {
        let settings = [(M_ARENA_MAX, HEAPS), (M_MMAP_THRESHOLD, MAPPED_FROM_BYTES)];
        // SAFETY: mallopt takes two numbers, which it checks, and keeps no reference to anything.
        settings.into_iter().all(|(name, value)| unsafe { mallopt(name, value) } == 1)
    }
}

#[cfg(test)]
mod tests {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn a_large_block_goes_back_to_the_system_whatever_was_freed_before() {
        use super::give_back_what_is_freed;
        use crate::process::resident_bytes;

        const LARGE: usize = 24 << 20;
        assert!(give_back_what_is_freed());
        // What glibc would take as a reason to cut the next one out of a heap.
        drop(std::hint::black_box(vec![1_u8; LARGE]));
        let large = std::hint::black_box(vec![1_u8; LARGE]);
        // Behind it, so that the end of a heap could not shrink past it.
        let small = std::hint::black_box(vec![vec![1_u8; 100_000]; 10]);
        let held = resident_bytes();
        drop(large);
        let given_back = held.saturating_sub(resident_bytes());
        assert!(given_back > (LARGE as u64) * 3 / 4, "{given_back} of {LARGE} bytes");
        drop(small);
    }
}
