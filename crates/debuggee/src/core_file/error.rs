//! Errors of opening and writing core files, as sentences for the user.

use std::io;
use std::path::PathBuf;

use juror_corefile::CoreError;

use crate::error::DebuggeeError;

/// The reason why a core file cannot be debugged.
#[derive(Debug, thiserror::Error)]
pub enum OpenCoreError {
    /// A file cannot be opened.
    #[error("{} cannot be opened: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The kernel's reason.
        source: io::Error,
    },
    /// It is no core file that juror can read.
    #[error("{}: {source}", path.display())]
    Core {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: CoreError,
    },
    /// It does not say of which program it is.
    #[error("{} does not name its program: give the program before it", .0.display())]
    NoProgram(PathBuf),
    /// The program that it names is not there.
    #[error(
        "{} is the core of {}, which cannot be opened: {source}; give the program before it",
        core.display(), program.display()
    )]
    MissingProgram {
        /// The core file.
        core: PathBuf,
        /// The program that it names.
        program: PathBuf,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The program is no ELF file.
    #[error("{}: this is not a 64-bit program", .0.display())]
    NotProgram(PathBuf),
    /// The program is another build.
    #[error(
        "{} is not the program of {}: its build id is {own}, that of the core file is {wanted}",
        program.display(), core.display()
    )]
    OtherBuild {
        /// The program.
        program: PathBuf,
        /// The core file.
        core: PathBuf,
        /// The build id of the program, or words.
        own: String,
        /// The build id in the core file, or words.
        wanted: String,
    },
    /// The program has no build id, and other headers.
    #[error(
        "{} is not the program of {}: its headers are not those in the core file",
        program.display(), core.display()
    )]
    OtherHeaders {
        /// The program.
        program: PathBuf,
        /// The core file.
        core: PathBuf,
    },
}

/// The reason why a core file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteCoreError {
    /// The debuggee is a core file.
    #[error(transparent)]
    Debuggee(#[from] DebuggeeError),
    /// A function is being called for the user.
    #[error("a function that was called is not over: its registers are not the program's own")]
    InCall,
    /// No thread is stopped.
    #[error("no thread is stopped")]
    NoThread,
    /// The user has interrupted it.
    #[error("interrupted: no core file was written")]
    Interrupted,
    /// The program's memory could not be listed.
    #[error("the mappings of the program cannot be read: {0}")]
    Mappings(io::Error),
    /// Memory that the program has could not be read.
    #[error("the memory at {0:#x} cannot be read: no core file was written")]
    Memory(u64),
    /// The file cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The kernel's reason.
        source: io::Error,
    },
}
