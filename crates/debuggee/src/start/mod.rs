//! Starting a program, and attaching to a running process.

pub(crate) mod attach;
pub(crate) mod executable;
pub(crate) mod launch;
pub(crate) mod spawn;
