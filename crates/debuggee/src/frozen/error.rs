//! The reasons why a process cannot be kept, or not be restored, as sentences
//! for the user.

use std::io;

use nix::errno::Errno;

use crate::error::DebuggeeError;

/// The reason why no checkpoint of the process can be made.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    /// Its parent would see it end.
    #[error(
        "juror was attached to this process: its parent would see it end at a restore; for \
         checkpoints, start the program with juror"
    )]
    Attached,
    /// Its parent is the program that it was forked from.
    #[error(
        "this process is a child of another one, which would see it end at a restore: \
         make checkpoints of the program that juror started (set follow parent), or run this \
         program by itself"
    )]
    ForeignParent,
    /// No system call can be injected.
    #[error(
        "juror cannot inject system calls into this program (it has a seccomp filter, or no memory \
         is free near its code), so it cannot be copied"
    )]
    NoGadget,
    /// Functions are being called for the user.
    #[error(
        "an expression is calling a function (info evaluations): finish or abandon the call \
         first"
    )]
    InCall,
    /// A process shares its memory.
    #[error(
        "thread {0} waits for a vfork child that shares its memory: continue until the child has \
         started its program"
    )]
    InVfork(u32),
    /// The first thread has ended, and only that one can be copied with its
    /// number.
    #[error(
        "the program's first thread has ended, and only that one can be copied: make the \
         checkpoint before it ends (break pthread_exit, or the end of main)"
    )]
    NoFirstThread,
    /// It may not choose its process numbers.
    #[error(
        "the program has {threads} threads, and this user may not give a thread its old number: \
         {}", of_refusal(.refusal.as_deref())
    )]
    NotPermitted {
        /// The number of threads.
        threads: usize,
        /// The reason why the program has no PID namespace of its own, if it
        /// was to have one.
        refusal: Option<String>,
    },
    /// The kernel makes no more processes.
    #[error(
        "the kernel cannot make another process for the checkpoint ({0}): delete checkpoints that \
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
    /// Another failure.
    #[error(transparent)]
    Debuggee(#[from] DebuggeeError),
}

/// Returns what a user can do who may not choose process numbers.
fn of_refusal(refusal: Option<&str>) -> String {
    match refusal {
        Some(refusal) => format!("{refusal}; or run juror as root"),
        None => "give the program a PID namespace (set checkpoint-namespace on, then run it \
                 again), or run juror as root"
            .to_owned(),
    }
}

impl FreezeError {
    /// Returns why the kernel made no copy.
    pub(super) fn of_copy(errno: Errno) -> FreezeError {
        match errno {
            Errno::EAGAIN | Errno::ENOSPC => FreezeError::TooMany(errno.into()),
            Errno::ENOMEM => FreezeError::NoMemory(errno.into()),
            errno => DebuggeeError::system("copy the program")(errno).into(),
        }
    }
}

/// The reason why a process cannot be restored.
#[derive(Debug, thiserror::Error)]
pub enum ThawError {
    /// The copy has been killed.
    #[error("the process that held the checkpoint is gone: process {0} was killed from outside")]
    TemplateGone(u32),
    /// Its number is in use.
    #[error(
        "the process number {number} of the program is still in use as the process group of \
         process {by}, which the program has made: end that process first"
    )]
    PidTaken {
        /// The number.
        number: u32,
        /// The process that uses it.
        by: u32,
    },
    /// The process itself is still running.
    #[error(
        "process {0} has the number of the program (juror may have detached from it): end it \
         first"
    )]
    PidRuns(u32),
    /// Another failure; the present process is as it was.
    #[error(transparent)]
    Debuggee(#[from] DebuggeeError),
}
