//! Starting a program, and attaching to a running process.

pub(crate) mod attach;
pub(crate) mod executable;
pub(crate) mod launch;
mod launching;
pub(crate) mod spawn;
pub(crate) mod world;
