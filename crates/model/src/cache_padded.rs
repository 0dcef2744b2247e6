//! Keeps data that one thread writes on cache lines of its own (avoids false sharing).
//!
//! Processors transfer memory in cache lines of 64 bytes and prefetch them in pairs. A
//! thread that reads data next to data that another thread keeps writing waits for that
//! line again and again. The allocator places small buffers next to whatever was
//! allocated last.

/// Data on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct CachePadded<T>(pub T);

/// Initial capacity of a buffer in bytes: more than most states need, so that the buffer
/// rarely moves and its neighbours in memory are far from what is written.
const BUFFER_BYTES: usize = 1024;

/// Returns an empty buffer that one thread writes for each state.
pub(crate) fn buffer() -> Vec<u8> {
    Vec::with_capacity(BUFFER_BYTES)
}
