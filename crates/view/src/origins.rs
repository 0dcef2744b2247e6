//! The origins of a value.

use crate::Location;
use serde::Serialize;

/// The origins of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OriginsView {
    /// The expression.
    pub expression: String,
    /// Its value.
    pub value: String,
    /// The steps, each before those that it comes from.
    pub steps: Vec<OriginStepView>,
    /// Whether there are more.
    pub is_cut: bool,
}

/// A step of the origins of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OriginStepView {
    /// Its number, from 1.
    pub number: u32,
    /// The number of values with several sources that it is a source of.
    pub depth: u32,
    /// The kind of origin.
    pub origin: OriginKind,
    /// The object that has the value, if it is known.
    pub name: Option<String>,
    /// The value, if it is known.
    pub value: Option<String>,
    /// More words on the origin.
    pub remark: Option<String>,
    /// The source line.
    pub source: Option<String>,
    /// The place; none for what was there from the start of the run.
    pub place: Option<Location>,
    /// The number of the thread.
    pub thread: Option<u32>,
    /// The number of schedule points before it.
    pub points: Option<u64>,
    /// The system call that gave the value.
    pub call: Option<OriginCallView>,
}

/// A system call that gave a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OriginCallView {
    /// Its name.
    pub name: String,
    /// The descriptor, if it reads from one.
    pub descriptor: Option<u64>,
    /// The file behind it, if it is known.
    pub file: Option<String>,
    /// The place of the value in the file, if it is known.
    pub offset: Option<u64>,
}

/// The kind of an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// Written to memory.
    Written,
    /// Copied from somewhere else.
    Copied,
    /// Computed from other values.
    Computed,
    /// A constant of the code.
    Constant,
    /// Given by a system call.
    SystemCall,
    /// An argument or a variable of the environment.
    Argument,
    /// The initial data of a module, or of memory that was mapped.
    Initial,
    /// An address in a stack.
    StackAddress,
    /// Told by the processor: the time, a random number.
    Processor,
    /// Not known.
    Unknown,
}
