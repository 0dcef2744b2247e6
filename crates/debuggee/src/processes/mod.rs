//! The processes that the debuggee makes: new ones, the one that is followed, those
//! that are debugged too, and those that are let go.

mod exec;
pub(crate) mod follow;
mod fork_children;
pub(crate) mod forks;
mod keeper;
pub(crate) mod multi_process;
mod pending_forks;
