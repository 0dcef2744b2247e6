//! The stack of a stopped thread: its frames, certain callers, frames that unwinding drops, and
//! pending returns.

pub mod callers;
pub mod frames;
pub mod overflow;
pub mod pending_returns;
pub mod reentry;
mod return_address;
pub mod unwinding;
