//! Counts what a process holds on its heap, so that tests judge what the program keeps and not what
//! the allocator keeps for it: resident memory moves by megabytes for reasons of its own.
//!
//! A program that is to be counted names [`CountingAllocator`] as its `#[global_allocator]`.

#![expect(unsafe_code, reason = "an allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The sums of all threads. They wrap: the thread that frees may be ahead of the one that counts.
static BYTES: AtomicUsize = AtomicUsize::new(0);
static BLOCKS: AtomicUsize = AtomicUsize::new(0);

/// What is allocated and not yet freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeapUse {
    /// Bytes as they were asked for, without what the allocator adds.
    pub bytes: usize,
    /// Allocations.
    pub blocks: usize,
}

impl HeapUse {
    /// Of this process, now. Zeros unless the program uses [`CountingAllocator`].
    pub fn now() -> Self {
        Self { bytes: BYTES.load(Ordering::Relaxed), blocks: BLOCKS.load(Ordering::Relaxed) }
    }
}

/// The system's allocator with a count beside it.
#[derive(Debug, Clone, Copy, Default)]
pub struct CountingAllocator;

fn grown(block: *mut u8, bytes: usize) {
    if !block.is_null() {
        BYTES.fetch_add(bytes, Ordering::Relaxed);
        BLOCKS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator as it came, and its answer back.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same.
        let block = unsafe { System.alloc(layout) };
        grown(block, layout.size());
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { System.alloc_zeroed(layout) };
        grown(block, layout.size());
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) };
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        BLOCKS.fetch_sub(1, Ordering::Relaxed);
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        let moved = unsafe { System.realloc(block, layout, bytes) };
        if !moved.is_null() {
            BYTES.fetch_add(bytes, Ordering::Relaxed);
            BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        }
        moved
    }
}
