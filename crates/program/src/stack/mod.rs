//! The stack of a stopped thread: its frames, the callers that are certain, the frames
//! that an unwinding drops, and the returns that are awaited.

pub mod callers;
pub mod frames;
pub mod overflow;
pub mod pending_returns;
pub mod reentry;
mod return_address;
pub mod unwinding;
