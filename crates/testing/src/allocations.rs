//! An allocator that counts, for tests that something allocates nothing.
//!
//! An executable of tests installs it:
//!
//! ```
//! use juror_testing::CountingAllocator;
//!
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator;
//!
//! let before = CountingAllocator::allocations();
//! drop(vec![1, 2, 3]);
//! assert_eq!(CountingAllocator::allocations() - before, 1);
//! ```
//!
//! Invariant: each thread has a count of its own, so that tests that run side by side
//! in one process do not disturb each other.

#![allow(unsafe_code, reason = "an allocator is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The allocator of the system, which counts the allocations of each thread.
#[derive(Debug)]
pub struct CountingAllocator;

impl CountingAllocator {
    /// Returns how often the calling thread has allocated. It stays 0 in an executable
    /// that has another global allocator.
    pub fn allocations() -> u64 {
        ALLOCATIONS.with(Cell::get)
    }
}

// SAFETY: everything is passed on to the system's allocator; the counter is a
// constant-initialised thread local without a destructor, so that touching it
// never allocates.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `System` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}
