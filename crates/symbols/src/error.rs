//! The errors of opening a symbol file, each with a hint what to do.

use std::path::PathBuf;
use thiserror::Error;

/// The reason why the symbols of a file cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SymbolError {
    /// The file does not exist.
    #[error("{}: no such file", path.display())]
    NotFound {
        /// The requested file.
        path: PathBuf,
    },
    /// The file exists but cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The requested file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The path is a directory, device or pipe.
    #[error("{}: not a regular file", path.display())]
    NotAFile {
        /// The requested file.
        path: PathBuf,
    },
    /// The file is a script.
    #[error(
        "{}: a script, not an ELF program; debug its interpreter instead: {interpreter} {}",
        path.display(), path.display()
    )]
    Script {
        /// The requested file.
        path: PathBuf,
        /// The interpreter named in the first line.
        interpreter: String,
    },
    /// The file is not an ELF file.
    #[error("{}: not an ELF program", path.display())]
    NotElf {
        /// The requested file.
        path: PathBuf,
    },
    /// The file is an ELF file for 32-bit machines.
    #[error("{}: a 32-bit program; only 64-bit x86-64 programs can be debugged", path.display())]
    ThirtyTwoBit {
        /// The requested file.
        path: PathBuf,
    },
    /// The file is an ELF file for another machine.
    #[error("{}: a program for {machine}; only x86-64 programs can be debugged", path.display())]
    OtherMachine {
        /// The requested file.
        path: PathBuf,
        /// The machine's name, or its number in the ELF header.
        machine: String,
    },
    /// The file is an object file or core dump.
    #[error("{}: {kind}, not a program or a shared library", path.display())]
    NotLoadable {
        /// The requested file.
        path: PathBuf,
        /// The kind of the file, in words.
        kind: String,
    },
    /// The ELF file is truncated or inconsistent.
    #[error("{}: the ELF file is truncated or damaged: {what}", path.display())]
    Damaged {
        /// The requested file.
        path: PathBuf,
        /// The damaged part.
        what: String,
    },
}
