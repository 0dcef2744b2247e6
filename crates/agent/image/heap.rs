//! The memory of the scheduler: blocks by powers of two, all of which are forgotten between runs.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::null_mut;

const SIZE: usize = 32 << 20;
/// The smallest block has 16 bytes, and the largest `SIZE`.
const SMALLEST: u32 = 4;
const CLASSES: usize = 22;

#[repr(C, align(4096))]
struct Heap {
    bytes: UnsafeCell<[u8; SIZE]>,
    used: UnsafeCell<usize>,
    free: UnsafeCell<[*mut u8; CLASSES]>,
}

// SAFETY: the agent has one thread, and is not entered while it runs.
unsafe impl Sync for Heap {}

#[global_allocator]
static HEAP: Heap = Heap {
    bytes: UnsafeCell::new([0; SIZE]),
    used: UnsafeCell::new(0),
    free: UnsafeCell::new([null_mut(); CLASSES]),
};

fn class(layout: Layout) -> usize {
    let size = layout.size().max(layout.align()).max(1 << SMALLEST);
    (size.next_power_of_two().trailing_zeros() - SMALLEST) as usize
}

// SAFETY: blocks are disjoint, and aligned to their sizes.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let class = class(layout);
        if class >= CLASSES {
            return null_mut();
        }
        // SAFETY: one thread uses the heap; a free block holds the address of the next one.
        unsafe {
            let free = &mut *self.free.get();
            let first = free[class];
            if !first.is_null() {
                free[class] = *first.cast::<*mut u8>();
                return first;
            }
            let size = 1_usize << (class as u32 + SMALLEST);
            let used = &mut *self.used.get();
            let start = used.next_multiple_of(size.min(64));
            if start + size > SIZE {
                return null_mut();
            }
            *used = start + size;
            self.bytes.get().cast::<u8>().add(start)
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let class = class(layout);
        // SAFETY: as above; the block has at least 16 bytes, and is no longer used.
        unsafe {
            let free = &mut *self.free.get();
            *block.cast::<*mut u8>() = free[class];
            free[class] = block;
        }
    }
}

/// Forgets all blocks.
///
/// # Safety
/// Nothing that has been allocated is used any more.
pub unsafe fn forget_all() {
    // SAFETY: one thread uses the heap.
    unsafe {
        *HEAP.used.get() = 0;
        *HEAP.free.get() = [null_mut(); CLASSES];
    }
}
