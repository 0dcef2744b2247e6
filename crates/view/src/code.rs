//! Machine code, memory, and lists of names.

use crate::Location;
use juror_highlight::Span;
use serde::Serialize;

/// Instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AssemblyView {
    /// The requested function; absent for a range of addresses.
    pub function: Option<String>,
    /// The instructions, in the order of their addresses.
    pub lines: Vec<AssemblyLine>,
    /// The reason why there are no more, if they could not be read.
    pub unreadable: Option<String>,
}

/// An instruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AssemblyLine {
    /// The address.
    pub address: u64,
    /// `function+4`.
    pub name: Option<String>,
    /// Its bytes in hexadecimal, without inserted breakpoints; empty unless requested.
    pub bytes: String,
    /// The instruction, in Intel syntax.
    pub text: String,
    /// Whether it is the selected frame's.
    pub current: bool,
    /// The source line that begins here; absent unless requested.
    pub source: Option<ShownLine>,
}

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownLine {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The text; absent if the file cannot be read.
    pub text: Option<String>,
    /// The tokens of the text, for colours; empty if they are not known or not wanted.
    #[serde(skip)]
    pub spans: Vec<Span>,
}

/// Memory as numbers or strings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MemoryView {
    /// The rows.
    pub rows: Vec<MemoryRow>,
    /// The reason why there are no more, if they could not be read.
    pub unreadable: Option<String>,
}

/// A row of memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MemoryRow {
    /// The address of its first element.
    pub address: u64,
    /// `variable+8`.
    pub name: Option<String>,
    /// The elements, safe for a terminal.
    pub cells: Vec<String>,
}

/// A function, variable or type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NameView {
    /// The name, with its scopes.
    pub name: String,
    /// The type of a variable; empty if unknown.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The location of a function or variable.
    pub location: Option<Location>,
}
