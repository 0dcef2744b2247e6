//! The step of a thread whose accesses are watched.

use juror_stepping::Access;

/// An instruction that is being stepped, with its watched accesses.
#[derive(Debug, Default)]
pub(crate) struct WatchedStep {
    /// Its address in the program.
    pub(crate) address: u64,
    /// Its accesses.
    pub(crate) accesses: Vec<Access>,
}
