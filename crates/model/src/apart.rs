//! What one thread writes lies apart from what others read.
//!
//! Processors hand memory to each other in lines of 64 bytes, and fetch them in pairs. A
//! thread that reads something beside what another one writes all the time waits for that
//! line again and again, though neither wants what the other has. Small buffers come from
//! the allocator side by side with whatever else was asked for last.

/// Alone in its lines of memory.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Apart<T>(pub T);

/// So many bytes have room in a buffer of its own before it moves: more than most states
/// take, so what comes after it in memory is far away from what is written.
const ROOM_BYTES: usize = 1024;

/// An empty buffer that a thread writes for each state.
pub(crate) fn buffer() -> Vec<u8> {
    Vec::with_capacity(ROOM_BYTES)
}
