//! What can be wrong with a file, said so that a person can act on it.

use std::path::PathBuf;
use thiserror::Error;

/// Why the symbols of a file cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SymbolError {
    /// There is no such file.
    #[error("{}: no such file", path.display())]
    NotFound {
        /// The file that was asked for.
        path: PathBuf,
    },
    /// The file exists but cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The file that was asked for.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A directory, device or pipe.
    #[error("{}: not a regular file", path.display())]
    NotAFile {
        /// The file that was asked for.
        path: PathBuf,
    },
    /// The file is a script.
    #[error(
        "{}: a script, not an ELF program; debug its interpreter instead: {interpreter} {}",
        path.display(), path.display()
    )]
    Script {
        /// The file that was asked for.
        path: PathBuf,
        /// What the first line names.
        interpreter: String,
    },
    /// The file is no ELF file.
    #[error("{}: not an ELF program", path.display())]
    NotElf {
        /// The file that was asked for.
        path: PathBuf,
    },
    /// An ELF file for 32-bit machines.
    #[error("{}: a 32-bit program; only 64-bit x86-64 programs can be debugged", path.display())]
    ThirtyTwoBit {
        /// The file that was asked for.
        path: PathBuf,
    },
    /// An ELF file for another machine.
    #[error("{}: a program for {machine}; only x86-64 programs can be debugged", path.display())]
    OtherMachine {
        /// The file that was asked for.
        path: PathBuf,
        /// The machine's name, or its number in the ELF header.
        machine: String,
    },
    /// An object file or core dump.
    #[error("{}: {kind}, not a program or a shared library", path.display())]
    NotLoadable {
        /// The file that was asked for.
        path: PathBuf,
        /// What it is.
        kind: String,
    },
    /// The file ends too early or contradicts itself.
    #[error("{}: the ELF file is truncated or damaged: {what}", path.display())]
    Damaged {
        /// The file that was asked for.
        path: PathBuf,
        /// Which part is wrong.
        what: String,
    },
}
