//! Machine code, memory, and lists of names.

use crate::Location;
use serde::Serialize;

/// Instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AssemblyView {
    /// The function that was asked for; absent for a range of addresses.
    pub function: Option<String>,
    /// The instructions, in the order of their addresses.
    pub lines: Vec<AssemblyLine>,
    /// Why there are no more, if they could not be read.
    pub unreadable: Option<String>,
}

/// An instruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AssemblyLine {
    /// Where it is.
    pub address: u64,
    /// `function+4`.
    pub name: Option<String>,
    /// Its bytes in hexadecimal, as the program has them; empty unless asked
    /// for.
    pub bytes: String,
    /// The instruction, in Intel's notation.
    pub text: String,
    /// The selected frame stands here.
    pub current: bool,
    /// The source line that begins here; absent unless asked for.
    pub source: Option<ShownLine>,
}

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownLine {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What it says; absent when the file cannot be read.
    pub text: Option<String>,
}

/// Memory as numbers or texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MemoryView {
    /// The rows.
    pub rows: Vec<MemoryRow>,
    /// Why there are no more, if they could not be read.
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

/// A name in the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NameView {
    /// The name, with its scopes.
    pub name: String,
    /// Its type, of variables; empty when unknown.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Where it is: of functions and variables.
    pub location: Option<Location>,
}
