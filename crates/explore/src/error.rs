//! Why a program cannot be explored, or a run cannot be replayed.

use juror_debuggee::{DebuggeeError, LaunchError, WorldError};
use juror_fault::SessionError;

/// An error of a controlled run.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    /// The program cannot be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The process cannot be controlled.
    #[error(transparent)]
    Debuggee(#[from] DebuggeeError),
    /// The changes that a run makes to files would stay.
    #[error(
        "what the runs do to files cannot be undone here: {0}. Nothing was run; with --real-files \
         the runs change the files"
    )]
    World(#[from] WorldError),
    /// Another program has ended the run.
    #[error(
        "a run was ended from outside: process {sender} sent the program signal {signal}, which is \
         no failure of the program"
    )]
    Outside {
        /// The signal.
        signal: i32,
        /// The process that sent it.
        sender: u32,
    },
    /// Another program has killed the run, most likely.
    #[error("a run was killed from outside, or for want of memory (SIGKILL)")]
    Killed,
    /// The user has ended the search.
    #[error("ended by the user")]
    Cancelled,
    /// It ended before its first own instruction.
    #[error("the program ended while its libraries were being loaded")]
    EndedEarly,
    /// A module is not the one that was run.
    #[error("{0} is not the one that was run: it was changed since")]
    Changed(String),
    /// A property is wrong, in itself or for this program.
    #[error(transparent)]
    Property(#[from] SessionError),
    /// A property cannot be evaluated.
    #[error("property {property} could not be evaluated: {message}")]
    NotEvaluated {
        /// Its name.
        property: String,
        /// The reason.
        message: String,
    },
    /// A property has a deadline.
    #[error(
        "the property has a deadline: time does not pass as usual when other orders of the threads \
         are tried"
    )]
    Deadline,
    /// A futex operation that is not known.
    #[error("the program makes a futex call that is not known here (operation {0})")]
    Futex(u64),
    /// A run that is made again did not end as before.
    #[error(
        "the run has gone another way: the program does not do the same in equal orders of its \
         threads (time, random numbers, files, other processes)"
    )]
    AnotherWay,
    /// A run that is made again is another one than the recorded one.
    #[error("the run is another one than the recorded one since its point {points}: {words}")]
    AnotherRun {
        /// The number of points up to which they were the same.
        points: u64,
        /// The difference.
        words: String,
    },
    /// Nothing is known of what follows.
    #[error("the run cannot be made further: {0}")]
    RecordingEnds(String),
    /// The file of a recording cannot be written.
    #[error("{path}: {reason}")]
    Recording {
        /// The file.
        path: String,
        /// The reason.
        reason: std::io::Error,
    },
    /// The user cannot choose this thread.
    #[error("{0}")]
    Choice(String),
    /// The scheduler refused what the kernel reported.
    #[error("juror is at fault: the scheduler refused {0}")]
    Refused(String),
}
