//! The breakpoint engine's side of a process: its inputs, its operations, and the
//! points that are asked of it.

pub(crate) mod driver;
mod follow_set;
pub(crate) mod operations;
mod points;
