//! Errors, as sentences for the user who typed the command.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use juror_fault::CommandError;
use juror_stepping::ThreadId;
use nix::errno::Errno;

/// The reason why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The path does not exist.
    #[error("{}: there is no such file", .0.display())]
    NotFound(PathBuf),
    /// A name without a slash is in no directory of `PATH`.
    #[error(
        "{}: not found in any directory of PATH (for a program in this directory, type ./{})",
        .0.display(), .0.display()
    )]
    NotOnPath(OsString),
    /// The path names a directory.
    #[error("{}: this is a directory, not a program", .0.display())]
    IsDirectory(PathBuf),
    /// The file may not be executed by this user.
    #[error("{}: you have no permission to execute this file (chmod +x sets it)", .0.display())]
    NotPermitted(PathBuf),
    /// The file is a script, which another program runs.
    #[error(
        "{}: this is a script; the program that runs it is {interpreter}. To watch that program, give: {interpreter} {}",
        script.display(), script.display()
    )]
    Script {
        /// The script.
        script: PathBuf,
        /// The interpreter of its first line, with its argument.
        interpreter: String,
    },
    /// The file is neither a script nor an ELF file.
    #[error("{}: this is not an executable (no ELF header)", .0.display())]
    NotExecutable(PathBuf),
    /// An ELF file of a kind that cannot be run: an object file, a core file.
    #[error("{}: this is {kind}, not a program", path.display())]
    NotProgram {
        /// The file.
        path: PathBuf,
        /// Its kind.
        kind: &'static str,
    },
    /// The file is shorter than its header says.
    #[error("{}: this program is damaged: the file is truncated", .0.display())]
    Truncated(PathBuf),
    /// A 32-bit program.
    #[error("{}: this is a 32-bit program; juror works on 64-bit x86-64 programs", .0.display())]
    Narrow(PathBuf),
    /// A program for another processor.
    #[error("{}: this program is for {machine}; juror works on x86-64 programs", path.display())]
    ForeignMachine {
        /// The file.
        path: PathBuf,
        /// The machine, by name or number.
        machine: String,
    },
    /// The dynamic linker that the program requires does not exist.
    #[error(
        "{}: its dynamic linker {} does not exist on this machine (is the right C library installed?)",
        path.display(), interpreter.display()
    )]
    MissingInterpreter {
        /// The program.
        path: PathBuf,
        /// The dynamic linker.
        interpreter: PathBuf,
    },
    /// The working directory cannot be entered.
    #[error("cannot enter the working directory {}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The kernel's reason.
        source: io::Error,
    },
    /// A file for standard input, output or error cannot be opened.
    #[error("cannot open {} for standard {stream}: {source}", path.display())]
    Redirection {
        /// `input`, `output` or `error`.
        stream: &'static str,
        /// The file.
        path: PathBuf,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The kernel forbids tracing.
    #[error(
        "the kernel does not permit juror to trace {}: {hint}",
        path.display()
    )]
    Untraceable {
        /// The program.
        path: PathBuf,
        /// What to check.
        hint: String,
    },
    /// An argument, variable or path holds a zero byte.
    #[error("{what} contains a zero byte, which cannot be passed to a program")]
    ZeroByte {
        /// The argument, variable or path.
        what: &'static str,
    },
    /// The program ended before its first instruction.
    #[error("{}: the program died while it was being started", .0.display())]
    DiedEarly(PathBuf),
    /// The filter of its system calls cannot be installed.
    #[error(
        "cannot start {} with a filter of its system calls: {reason} (--system-calls all does \
         without it)",
        path.display()
    )]
    Filter {
        /// The program.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A system call of the start failed.
    #[error("cannot start {}: {what}: {source}", path.display())]
    System {
        /// The program.
        path: PathBuf,
        /// The attempted operation.
        what: &'static str,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The program was started but could not be prepared.
    #[error(transparent)]
    Debuggee(#[from] DebuggeeError),
}

/// The reason why juror could not attach to a process.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The number is that of no process.
    #[error("there is no process {0}")]
    NoSuchProcess(u32),
    /// The number is that of a thread.
    #[error("{thread} is a thread of process {process}; give the process: {process}")]
    Thread {
        /// The number that was given.
        thread: u32,
        /// The process of that thread.
        process: u32,
    },
    /// juror cannot stop itself.
    #[error("juror cannot attach to itself (process {0})")]
    Itself(u32),
    /// A thread of the kernel, which runs no program.
    #[error("process {process} ({name}) is a thread of the kernel: it runs no program")]
    KernelThread {
        /// The number.
        process: u32,
        /// Its name.
        name: String,
    },
    /// All threads of it have ended.
    #[error("process {0} has ended, and its parent has not waited for it yet")]
    HasEnded(u32),
    /// The kernel allows one tracer.
    #[error(
        "process {process} is traced by {name} (process {tracer}) already: detach or end that \
         tracer first"
    )]
    AlreadyTraced {
        /// The process.
        process: u32,
        /// The tracer.
        tracer: u32,
        /// The tracer's name.
        name: String,
    },
    /// The kernel forbids it.
    #[error("you may not trace process {process}, which belongs to {user}: {hint}")]
    NotPermitted {
        /// The process.
        process: u32,
        /// The user of the process.
        user: String,
        /// What to do.
        hint: String,
    },
    /// A 32-bit program.
    #[error("process {0} runs a 32-bit program; juror works on 64-bit x86-64 programs")]
    Narrow(u32),
    /// A system call failed.
    #[error("cannot attach to process {process}: {what}: {source}")]
    System {
        /// The process.
        process: u32,
        /// The attempted operation.
        what: &'static str,
        /// The kernel's reason.
        source: io::Error,
    },
    /// It was seized but could not be prepared.
    #[error(transparent)]
    Debuggee(#[from] DebuggeeError),
}

/// The reason why an operation on a running program failed.
#[derive(Debug, thiserror::Error)]
pub enum DebuggeeError {
    /// The process has ended.
    #[error("the program has ended")]
    Gone,
    /// There is no such thread, or it has ended.
    #[error("thread {} has ended", .0.0)]
    ThreadGone(ThreadId),
    /// The operation needs a stopped thread.
    #[error("thread {} is running; stop it first", .0.0)]
    NotStopped(ThreadId),
    /// `wait` was called although every thread is stopped: nothing can happen.
    #[error("every thread is stopped: resume one before waiting")]
    NothingRuns,
    /// The control of the threads cannot go on.
    #[error("{0}")]
    Schedule(String),
    /// The program was waited for in vain, and juror is to end.
    #[error(
        "the program does not stop: a thread waits in the kernel, and only its end interrupts it"
    )]
    Unstoppable,
    /// Memory that is not mapped.
    #[error("cannot access {length} byte(s) of memory at {address:#x}")]
    Memory {
        /// The first address.
        address: u64,
        /// The number of bytes.
        length: usize,
    },
    /// The debuggee is a core file.
    #[error("this needs a running program: this is a core file")]
    NeedsProcess,
    /// The core file has no such registers.
    #[error("{0} are not in the core file")]
    NotInCore(&'static str),
    /// Memory that the core file leaves out.
    #[error("{length} byte(s) of memory at {address:#x} are not in the core file")]
    NotStored {
        /// The first address.
        address: u64,
        /// The number of bytes.
        length: usize,
    },
    /// All debug registers hold execute breakpoints.
    #[error(
        "the processor has no debug register left; use a breakpoint that needs \
         none (break)"
    )]
    NoDebugRegister,
    /// The code in memory is not that of the file that the address is from.
    #[error("nothing is set at {address:#x}: {reason}")]
    OtherCode {
        /// The address.
        address: u64,
        /// The difference, as a sentence.
        reason: String,
    },
    /// Text that should have been restored was not.
    #[error("the original instruction at {address:#x} could not be restored")]
    TextDiffers {
        /// The address.
        address: u64,
    },
    /// A call needs more stack than there is.
    #[error("thread {} has less than {length} bytes of stack left", thread.0)]
    NoStack {
        /// The thread.
        thread: ThreadId,
        /// The number of bytes.
        length: usize,
    },
    /// A system call failed.
    #[error("cannot {what}: {source}")]
    System {
        /// The attempted operation.
        what: &'static str,
        /// The kernel's reason.
        source: io::Error,
    },
}

impl DebuggeeError {
    /// Returns true if a thread, or the whole program, was killed meanwhile: no
    /// failure, since its last status is still to come.
    pub fn is_end(&self) -> bool {
        matches!(self, DebuggeeError::ThreadGone(_) | DebuggeeError::Gone)
    }

    pub(crate) fn system(what: &'static str) -> impl FnOnce(nix::Error) -> DebuggeeError {
        move |errno| DebuggeeError::System {
            what,
            source: errno.into(),
        }
    }
}

impl From<DebuggeeError> for CommandError {
    fn from(error: DebuggeeError) -> CommandError {
        CommandError::new(error.to_string())
    }
}

/// Maps the error of a request: a thread that vanishes meanwhile is no failure.
pub(crate) fn gone_or(what: &'static str, thread: ThreadId) -> impl FnOnce(Errno) -> DebuggeeError {
    move |errno| match errno {
        Errno::ESRCH => DebuggeeError::ThreadGone(thread),
        errno => DebuggeeError::system(what)(errno),
    }
}

/// Ignores the failure of a request to a thread that has ended.
pub(crate) fn ignore_gone(outcome: Result<(), Errno>) -> Result<(), DebuggeeError> {
    match outcome {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(errno) => Err(DebuggeeError::system("resume or stop a thread")(errno)),
    }
}
