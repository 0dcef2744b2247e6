//! What can go wrong, in sentences for the person who typed the command.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use juror_stepping::ThreadId;

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The path names nothing.
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
    /// An ELF file of a kind that is not run: an object file, a core file.
    #[error("{}: this is {kind}, not a program", path.display())]
    NotProgram {
        /// The file.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// The file ends before what its header announces.
    #[error("{}: this program is damaged: the file ends before its contents do", .0.display())]
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
    /// The dynamic linker that the program asks for does not exist.
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
        "the kernel does not let juror trace {}: {hint}",
        path.display()
    )]
    Untraceable {
        /// The program.
        path: PathBuf,
        /// What to look at.
        hint: String,
    },
    /// An argument, variable or path holds a zero byte.
    #[error("{what} holds a zero byte, which no program can be given")]
    ZeroByte {
        /// Which of them.
        what: &'static str,
    },
    /// The program ended before its first instruction.
    #[error("{}: the program died while it was being started", .0.display())]
    DiedEarly(PathBuf),
    /// A system call of the start failed.
    #[error("cannot start {}: {what}: {source}", path.display())]
    System {
        /// The program.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The program was started but could not be prepared.
    #[error(transparent)]
    Debuggee(#[from] DebuggeeError),
}

/// Why juror could not attach to a process.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The number names nothing.
    #[error("there is no process {0}")]
    NoSuchProcess(u32),
    /// The number is that of a thread.
    #[error("{thread} is a thread of process {process}; give the process: {process}")]
    Thread {
        /// What was asked for.
        thread: u32,
        /// Whose thread it is.
        process: u32,
    },
    /// juror cannot stop itself and go on.
    #[error("process {0} is this juror; another juror could attach to it")]
    Itself(u32),
    /// A thread of the kernel, which runs no program.
    #[error("process {process} ({name}) is a thread of the kernel: it runs no program")]
    KernelThread {
        /// The number.
        process: u32,
        /// Its name.
        name: String,
    },
    /// Nothing of it runs any more.
    #[error("process {0} has ended, and waits for its parent to take note")]
    HasEnded(u32),
    /// The kernel allows one tracer.
    #[error(
        "process {process} is traced by {name} (process {tracer}) already, and the kernel allows \
         one tracer: detach or end that one first"
    )]
    AlreadyTraced {
        /// The process.
        process: u32,
        /// Who traces it.
        tracer: u32,
        /// The tracer's name.
        name: String,
    },
    /// The kernel forbids it.
    #[error("you may not trace process {process}, which belongs to {user}: {hint}")]
    NotPermitted {
        /// The process.
        process: u32,
        /// Whose it is.
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
        /// What was tried.
        what: &'static str,
        /// The kernel's reason.
        source: io::Error,
    },
    /// It was seized but could not be prepared.
    #[error(transparent)]
    Debuggee(#[from] DebuggeeError),
}

/// Why an operation on a running program failed.
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
    /// Memory that is not there.
    #[error("cannot access {length} byte(s) of memory at {address:#x}")]
    Memory {
        /// The first address.
        address: u64,
        /// How many bytes.
        length: usize,
    },
    /// All debug registers hold execute breakpoints.
    #[error(
        "the processor has no debug register left for this; a breakpoint of \
         another kind needs none"
    )]
    NoDebugRegister,
    /// Text that should have been restored was not.
    #[error("the instruction at {address:#x} is not what it was before juror changed it")]
    TextDiffers {
        /// Where.
        address: u64,
    },
    /// A call needs more stack than there is.
    #[error("thread {} has no room for {length} bytes more on its stack", thread.0)]
    NoStack {
        /// The thread.
        thread: ThreadId,
        /// How many bytes.
        length: usize,
    },
    /// A system call failed.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// The kernel's reason.
        source: io::Error,
    },
}

impl DebuggeeError {
    /// Whether a thread, or all of the program, was killed meanwhile: no failure,
    /// since its last status is on its way.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self, DebuggeeError::ThreadGone(_) | DebuggeeError::Gone)
    }

    pub(crate) fn system(what: &'static str) -> impl FnOnce(nix::Error) -> DebuggeeError {
        move |errno| DebuggeeError::System {
            what,
            source: errno.into(),
        }
    }
}
