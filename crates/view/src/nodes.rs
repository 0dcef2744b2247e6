//! Values as trees: what front ends show of a value before they ask for its parts.

use serde::Serialize;

/// The identity of a value at a stop; never used again. 0 stands for a value without parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct NodeId(pub u64);

/// A value of the stopped program, or a group of values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Its identity, by which its parts are asked for; 0 if it has none.
    pub id: NodeId,
    /// Its name: of a variable, a member or a base class; `[3]` of an element, `["ham"]` of an
    /// entry.
    pub name: String,
    /// Its type, in the syntax of the language; none for a group.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// The value on one line, shortened; or the reason why there is none, in angle brackets.
    pub summary: String,
    /// The number of parts with names.
    pub named: u64,
    /// The number of parts that follow one another: elements and entries.
    pub indexed: u64,
    /// The expression that gives this value at the prompt in its frame.
    pub evaluate_name: Option<String>,
    /// The address of the value, if it is in memory.
    pub address: Option<u64>,
    /// The address of the memory to show for it: what a pointer points to, else the value.
    pub memory: Option<u64>,
    /// The size of the value, in bytes.
    pub size: Option<u64>,
    /// Whether the value can be set.
    pub writable: bool,
    /// The kind of the node.
    pub kind: NodeKind,
}

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// A value.
    Data,
    /// A pointer or a reference.
    Pointer,
    /// A base class of an object.
    Base,
    /// A virtual base class of an object.
    Virtual,
    /// A variable with a fixed address.
    Static,
    /// A register.
    Register,
    /// A group of values that is no value.
    Group,
    /// A value that a function has returned.
    Returned,
    /// A value that cannot be read: the summary has the reason.
    Error,
}

/// The values of a frame that are asked for together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// The arguments of the function.
    Arguments,
    /// The local variables.
    Locals,
    /// The value of the function that has just returned to the frame.
    ReturnValue,
    /// The registers.
    Registers,
    /// The global and static variables of the frame's source file.
    Statics,
}

/// The parts of a value that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartFilter {
    /// Parts with names.
    Named,
    /// Elements and entries.
    Indexed,
    /// All.
    All,
}
