//! Why a process cannot be kept, or not be brought back, in sentences for the
//! person who typed the command.

use std::io;

use nix::errno::Errno;

use crate::error::DebuggeeError;

/// Why no checkpoint of the process can be made.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    /// Its parent would see it end.
    #[error(
        "juror was attached to this process: its parent would see it end when it is brought back; \
         start the program by juror for checkpoints"
    )]
    Attached,
    /// Its parent is the program that it was forked from.
    #[error(
        "this process was made by another one, which would see it end when it is brought back: \
         make checkpoints of the program that juror started (set follow parent), or run this \
         program by itself"
    )]
    ForeignParent,
    /// No system call can be made in its name.
    #[error(
        "juror cannot make system calls in this program's name (its system calls are filtered, or \
         there is no room near its code), so it cannot be copied"
    )]
    NoGadget,
    /// Functions are being called for the user.
    #[error(
        "a function is being called for an expression (info evaluations): finish it or abandon it \
         first"
    )]
    InCall,
    /// A process shares its memory.
    #[error(
        "thread {0} waits for a process that shares its memory (vfork): continue until that has \
         started its program"
    )]
    InVfork(u32),
    /// The first thread is gone, and only that can be copied with its number.
    #[error(
        "the program's first thread has ended, and only that one can make the process again: make \
         the checkpoint before it ends (break pthread_exit, or the end of main)"
    )]
    NoFirstThread,
    /// It may not choose its numbers.
    #[error(
        "the program has {threads} threads, and this user may not give a thread its old number: \
         {}", of_refusal(.refusal.as_deref())
    )]
    NotPermitted {
        /// How many threads there are.
        threads: usize,
        /// Why the program has no numbers of its own, where it was to have them.
        refusal: Option<String>,
    },
    /// The kernel makes no more processes.
    #[error(
        "the kernel makes no further process for the checkpoint ({0}): delete checkpoints that \
         are not needed (delete checkpoint N), or raise the limit (ulimit -u, \
         /proc/sys/kernel/pid_max)"
    )]
    TooMany(#[source] io::Error),
    /// There is no memory left for the copy.
    #[error(
        "there is not enough memory for a copy of the program ({0}): delete checkpoints that are \
         not needed (delete checkpoint N)"
    )]
    NoMemory(#[source] io::Error),
    /// Something else went wrong.
    #[error(transparent)]
    Debuggee(#[from] DebuggeeError),
}

/// What a user can do who may not choose numbers.
fn of_refusal(refusal: Option<&str>) -> String {
    match refusal {
        Some(refusal) => format!("{refusal}; or run juror as root"),
        None => "give the program numbers of its own (set checkpoint-namespace on, then run it \
                 again), or run juror as root"
            .to_owned(),
    }
}

impl FreezeError {
    /// Why the kernel made no copy.
    pub(super) fn of_copy(errno: Errno) -> FreezeError {
        match errno {
            Errno::EAGAIN | Errno::ENOSPC => FreezeError::TooMany(errno.into()),
            Errno::ENOMEM => FreezeError::NoMemory(errno.into()),
            errno => DebuggeeError::system("copy the program")(errno).into(),
        }
    }
}

/// Why a process cannot be brought back.
#[derive(Debug, thiserror::Error)]
pub enum ThawError {
    /// Somebody has killed the copy.
    #[error(
        "the copy that the checkpoint was kept in is gone: process {0} was killed from outside"
    )]
    TemplateGone(u32),
    /// Its number is in use.
    #[error(
        "the number {number} of the program is still in use by process {by}, which the program \
         has made (it is the number of its process group): end that process first"
    )]
    PidTaken {
        /// The number.
        number: u32,
        /// Who uses it.
        by: u32,
    },
    /// The process itself goes on.
    #[error(
        "process {0} has the number of the program (juror may have been detached from it): end \
         it first"
    )]
    PidRuns(u32),
    /// Something else went wrong, with the present process as it was.
    #[error(transparent)]
    Debuggee(#[from] DebuggeeError),
}
