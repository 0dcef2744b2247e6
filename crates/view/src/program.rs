//! The process and its modules in detail, as `info proc`, `info auxv`, `info program`
//! and `info sharedlibrary` show them.

use crate::Location;
use serde::Serialize;

/// A loaded module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModuleView {
    /// The file.
    pub path: String,
    /// The difference between an address in the process and in the file.
    pub load_bias: u64,
    /// Whether the module has debug information, not only symbols.
    pub has_debug_info: bool,
}

/// The process, as `info program` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProgramView {
    /// The kernel's ID of the process.
    pub process: u32,
    /// Whether juror attached to the process instead of starting it.
    pub attached: bool,
    /// The number of its threads.
    pub thread_count: usize,
    /// juror's number of the selected thread.
    pub thread: u32,
    /// The location of the selected thread.
    pub location: Location,
}

/// A process as the kernel describes it. Only the requested parts are present.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ProcessInfoView {
    /// The kernel's ID of the process.
    pub process: u32,
    /// The command line, the program's name first.
    pub command_line: Option<Vec<String>>,
    /// The working directory.
    pub directory: Option<String>,
    /// The executable.
    pub program: Option<String>,
    /// The initial environment, each variable as `NAME=VALUE`.
    pub environment: Option<Vec<String>>,
    /// The open files.
    pub files: Option<Vec<OpenFileView>>,
    /// The lines of `/proc/PID/limits`.
    pub limits: Option<Vec<String>>,
    /// The lines of `/proc/PID/status`.
    pub status: Option<Vec<String>>,
    /// The memory mappings.
    pub mappings: Option<Vec<MappingView>>,
}

/// An open file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct OpenFileView {
    /// The file descriptor.
    pub descriptor: u32,
    /// The file, pipe or socket, as `/proc/PID/fd` names it.
    pub file: String,
}

/// A memory mapping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MappingView {
    /// The first address.
    pub start: u64,
    /// The address after the last.
    pub end: u64,
    /// The offset in the mapped file, in bytes.
    pub offset_bytes: u64,
    /// `r-xp`, as in `/proc/PID/maps`.
    pub permissions: String,
    /// The file, `[stack]` and the like; empty for anonymous memory.
    pub name: String,
}

/// An entry of the auxiliary vector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuxiliaryEntryView {
    /// Its number.
    pub number: u64,
    /// Its name, `AT_PHDR`.
    pub name: String,
    /// Its value.
    pub value: u64,
    /// The kind of the value.
    pub kind: AuxiliaryKind,
    /// The string at the address, for entries that point to one.
    pub text: Option<String>,
}

/// The meaning of the value of an entry of the auxiliary vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuxiliaryKind {
    /// An address or a set of bits.
    Address,
    /// A number.
    Number,
    /// The address of a string.
    String,
}
