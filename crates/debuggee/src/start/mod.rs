//! Starting a program, and attaching to a running process.

pub(crate) mod attach;
pub(crate) mod executable;
pub(crate) mod launch;
mod launching;
mod repeatable;
pub(crate) mod spawn;
pub(crate) mod world;
