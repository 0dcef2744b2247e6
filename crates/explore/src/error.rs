//! Why a program cannot be explored, or a run cannot be replayed.

use juror_debuggee::{DebuggeeError, LaunchError};

/// An error of a controlled run.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    /// The program cannot be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The process cannot be controlled.
    #[error(transparent)]
    Debuggee(#[from] DebuggeeError),
    /// It ended before its first own instruction.
    #[error("the program ended while its libraries were being loaded")]
    EndedEarly,
    /// A module is not the one that was run.
    #[error("{0} is not the one that was run: it was changed since")]
    Changed(String),
    /// A futex operation that is not known.
    #[error("the program makes a futex call that is not known here (operation {0})")]
    Futex(u64),
    /// The scheduler refused what the kernel reported.
    #[error("juror is at fault: the scheduler refused {0}")]
    Refused(String),
}
