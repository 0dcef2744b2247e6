//! The executable form of a model: tables of numbers, without names to resolve.
//!
//! A state vector is a sequence of bytes: the number of its shape (the list of
//! processes), the global variables that change, and for each process its location, its
//! variables, and its local channels. Only the youngest process can terminate, so its
//! frame is truncated from the end.

use super::external::Outside;
use super::memory::{byte, set_word, word};
use super::syntax::{Binary, Probe, Unary};
use super::trace::Trace;
use crate::Span;
use juror_logic::Formula;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// The names of the values of a set, the first that of 1.
pub(super) type Names = [Arc<str>];

/// The storage type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kept {
    Byte,
    Short,
    /// Unsigned, 16 bits.
    Word,
    Int,
}

impl Kept {
    pub fn size(self) -> u32 {
        match self {
            Kept::Byte => 1,
            Kept::Short | Kept::Word => 2,
            Kept::Int => 4,
        }
    }
}

/// The value range of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Scalar {
    pub kept: Kept,
    pub least: i32,
    pub greatest: i32,
    /// The number of the set of names that its values have.
    pub mtype: Option<u16>,
    pub is_channel: bool,
}

/// A value at a fixed offset of the state or of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub offset: u32,
    pub scalar: Scalar,
}

/// One array index of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Index {
    pub value: Code,
    pub length: u32,
    pub stride: u32,
}

/// An expression, as the number of its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Code(pub u32);

/// The scope of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Global,
    Local,
}

/// A variable or array element that can be assigned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub scope: Scope,
    pub cell: Cell,
    pub indices: Box<[Index]>,
    /// Whether it is `_`, which discards values.
    pub is_discard: bool,
}

/// The storage of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Global,
    Local,
    /// Constant data.
    Constants,
}

/// An element of an array of bytes with an index variable of one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    pub source: Source,
    /// Offset of the array.
    pub offset: u32,
    pub index_scope: Scope,
    pub index_offset: u32,
    pub length: u32,
    /// The index expression, whose value may be out of range.
    pub index: Code,
}

/// A node of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Number(i32),
    Global(Cell),
    Local(Cell),
    Indexed(Box<Place>),
    /// An element of a constant array.
    Table(Box<Place>),
    Unary(Unary, Code),
    Binary(Binary, Code, Code),
    /// A variable of one byte compared with a number.
    Compare(Binary, Scope, u32, i32),
    /// Optimized form of [`Node::Indexed`] and [`Node::Table`]: a single read.
    Element(Element),
    /// An element compared with a number.
    CompareElement(Binary, i32, Box<Element>),
    Conditional(Code, Code, Code),
    Itself,
    /// `run`; the value is the number of the new process.
    Run {
        kind: u16,
        arguments: Box<[Code]>,
        priority: u8,
    },
    Processes,
    Last,
    OwnPriority,
    Timeout,
    NonProgress,
    /// Whether some process is at an accept label.
    Accepting,
    Probe(Probe, Code),
    Poll(Box<Reception>),
    Enabled(Code),
    StateOf(Code),
    PriorityOf(Code),
    AtLabel {
        kind: u16,
        index: Option<Code>,
        label: u32,
    },
    Remote {
        kind: u16,
        index: Option<Code>,
        place: Box<Place>,
    },
}

impl Node {
    /// Returns whether the node depends on the location or variables of other processes,
    /// or on which process may run.
    pub fn reads_other_processes(&self) -> bool {
        matches!(
            self,
            Node::Last
                | Node::OwnPriority
                | Node::Enabled(_)
                | Node::StateOf(_)
                | Node::PriorityOf(_)
                | Node::AtLabel { .. }
                | Node::Remote { .. }
        )
    }
}

/// A field of a reception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    /// The field must have this value.
    Equal(Code),
    Into(Place),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reception {
    pub channel: Code,
    pub anywhere: bool,
    pub keeps: bool,
    pub fields: Box<[Field]>,
}

/// The effect of a transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operation {
    Skip,
    Else,
    Condition(Code),
    Assign(Place, Code),
    Send {
        channel: Code,
        sorted: bool,
        values: Box<[Code]>,
    },
    Receive(Reception),
    Assert(Code),
    Print(Arc<str>, Box<[Code]>),
    PrintName(Code),
    Run {
        kind: u16,
        arguments: Box<[Code]>,
        priority: u8,
    },
    /// Evaluates expressions with `run`, then uses their values.
    Running(Box<[Code]>, After),
    SetPriority(Code, Code),
    /// An event of a trace; a field of `None` matches any value.
    Event {
        sends: bool,
        channel: Code,
        fields: Box<[Option<i32>]>,
    },
    /// Terminates the process, if it is the youngest.
    End,
    /// A `d_step`, which starts at a location.
    Sequence(u32),
}

/// The use of values whose evaluation runs processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum After {
    Assign(Place),
    Assert,
    Print(Arc<str>),
}

/// An operation with its source position.
#[derive(Debug, Clone)]
pub(super) struct Instruction {
    pub operation: Operation,
    pub span: Span,
    pub text: Arc<str>,
}

/// A transition of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Transition {
    pub instruction: u32,
    /// The target location.
    pub to: u32,
    /// Whether the process continues atomically.
    pub is_atomic: bool,
    /// Number of its escape; 0 if none. Transitions of one escape are adjacent, and
    /// precede those that they escape from.
    pub escape: u32,
}

/// A location (program counter value) of a process.
#[derive(Debug, Clone, Default)]
pub(super) struct Location {
    pub transitions: Vec<Transition>,
    pub is_end: bool,
    pub is_progress: bool,
    pub is_accept: bool,
    /// Whether it is inside a `d_step`.
    pub in_sequence: bool,
    /// Whether it is inside an atomic sequence, or after its last step.
    pub in_atomic: bool,
    /// Whether its steps touch only variables of the process.
    pub is_local: bool,
    pub labels: Vec<Arc<str>>,
}

/// A named value, for display.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub name: Arc<str>,
    pub cell: Cell,
    /// The value, if it is constant and therefore not in the state.
    pub value: Option<i32>,
}

/// The initialization of a variable.
#[derive(Debug, Clone)]
pub(super) enum Beginning {
    Value(Cell, Code),
    /// Creates a channel of a type.
    Channel(Cell, u16),
}

impl Beginning {
    /// Returns the same initialization of a variable this many bytes further on.
    pub fn moved(&self, by: u32) -> Beginning {
        let mut moved = self.clone();
        moved.cell_mut().offset += by;
        moved
    }

    /// Returns the variable.
    pub fn cell_mut(&mut self) -> &mut Cell {
        match self {
            Beginning::Value(cell, _) | Beginning::Channel(cell, _) => cell,
        }
    }
}

/// A channel type.
#[derive(Debug, Clone)]
pub(super) struct ChannelType {
    pub capacity: u32,
    pub fields: Vec<Cell>,
    /// Size of a message in bytes.
    pub message_size: u32,
    /// Size of the channel in bytes: its length and its messages.
    pub size: u32,
}

/// A process type.
#[derive(Debug, Clone, Default)]
pub(super) struct ProcessType {
    pub name: Arc<str>,
    pub span: Span,
    pub frame_size: u32,
    pub parameters: Vec<Cell>,
    pub beginnings: Vec<Beginning>,
    /// Variables of the outermost block, by name.
    pub variables: Vec<(Arc<str>, Variable)>,
    pub leaves: Vec<Leaf>,
    pub channels: Vec<u16>,
    pub provided: Option<Code>,
    /// Set if the process is implemented in Rust.
    pub outside: Option<Outside>,
    pub locations: Vec<Location>,
    pub start: u32,
}

/// A declared variable.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub kind: VariableKind,
    pub length: Option<u32>,
    pub offset: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VariableKind {
    Scalar(Scalar),
    Record(u16),
}

/// A `typedef`.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordType {
    pub fields: Vec<(Arc<str>, Variable)>,
    pub size: u32,
    /// Nesting depth of the records in it.
    pub depth: u32,
    /// The initializations of its fields and theirs, relative to the record.
    pub beginnings: Vec<Beginning>,
}

/// An initially active process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Active {
    pub kind: u16,
    pub priority: u8,
}

/// A temporal formula to check.
#[derive(Debug, Clone)]
pub(super) struct Requirement {
    pub name: Arc<str>,
    pub text: Arc<str>,
    pub formula: Formula,
    /// The propositions, as expressions.
    pub propositions: Vec<Code>,
}

/// Size of a location in bytes; one less in a narrow program.
const NODE_SIZE: u32 = 2;
/// Offset of the variables in a frame: after the location and a priority. The final
/// layout omits what is not needed.
pub(super) const FRAME_START: u32 = NODE_SIZE + 1;
/// Offset of the global variables: after the number of the shape.
pub(super) const GLOBALS_START: u32 = 2;

/// A compiled model.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub nodes: Vec<Node>,
    pub node_spans: Vec<Span>,
    pub instructions: Vec<Instruction>,
    pub globals_end: u32,
    /// By global variable: its range of bytes, before the final layout.
    pub global_ranges: Vec<Range<u32>>,
    /// Ranges of hidden variables that are not part of the state: in stored states they
    /// have their initial values.
    pub hidden: Vec<Range<u32>>,
    /// The initial global variables.
    pub first_globals: Vec<u8>,
    /// The initial global variables in the layout before the final one; contains the
    /// constants.
    pub constants: Vec<u8>,
    /// Whether a location takes one byte.
    pub is_narrow: bool,
    pub global_leaves: Vec<Leaf>,
    pub global_beginnings: Vec<Beginning>,
    pub global_channels: Vec<u16>,
    pub channels: Vec<ChannelType>,
    pub records: Vec<RecordType>,
    pub kinds: Vec<ProcessType>,
    pub active: Vec<Active>,
    /// By label that a remote reference names: its location.
    pub labels: Vec<Option<u32>>,
    /// The names of the values of `mtype`, then those of each `mtype:name`.
    pub mtypes: Vec<Vec<Arc<str>>>,
    /// By expression whose values have names: the number of their set.
    pub named: FxHashMap<Code, u16>,
    /// Location of `_last` in the state, if the model uses it.
    pub last: Option<Cell>,
    /// Whether frames contain priorities.
    pub priorities: bool,
    /// Whether processes can be disabled by priorities or `provided` clauses.
    pub has_run_conditions: bool,
    pub uses_timeout: bool,
    /// Whether some process type is implemented in Rust.
    pub has_outside: bool,
    /// The process type of the never claim, if there is one.
    pub claim: Option<u16>,
    pub trace: Option<Trace>,
    pub requirements: Vec<Requirement>,
    /// The expression "no process is at a progress label".
    pub non_progress: Option<Code>,
    /// The expression "some process is at an accept label".
    pub accepting: Option<Code>,
}

impl Program {
    /// Returns the offset of the priority in a frame, if there are priorities.
    pub fn priority_offset(&self) -> u32 {
        NODE_SIZE - u32::from(self.is_narrow)
    }

    /// Returns the location of the process whose frame starts at `base`.
    #[inline]
    pub fn standing(&self, state: &[u8], base: u32) -> u16 {
        if self.is_narrow {
            u16::from(byte(state, base))
        } else {
            word(state, base)
        }
    }

    /// Sets the location of the process whose frame starts at `base`.
    #[inline]
    pub fn stand(&self, state: &mut [u8], base: u32, location: u16) {
        if !self.is_narrow {
            set_word(state, base, location);
        } else if let Some(place) = state.get_mut(base as usize) {
            *place = location as u8;
        }
    }

    pub fn node(&self, code: Code) -> &Node {
        // Codes are created together with their nodes.
        self.nodes.get(code.0 as usize).unwrap_or(&Node::Number(0))
    }

    /// Returns the names of the values of an expression. A value whose type has none is
    /// shown with the name that it has as `mtype`.
    pub fn names_of(&self, code: Code) -> &Names {
        let set = self.named.get(&code).copied().unwrap_or(0);
        self.mtypes.get(usize::from(set)).map_or(&[], Vec::as_slice)
    }

    /// Returns the name of a value of a type, if it has one.
    pub fn name_of(&self, scalar: &Scalar, value: i32) -> Option<&Arc<str>> {
        let names = self.mtypes.get(usize::from(scalar.mtype?))?;
        names.get(usize::try_from(value).ok()?.checked_sub(1)?)
    }

    pub fn span_of(&self, code: Code) -> Span {
        self.node_spans
            .get(code.0 as usize)
            .copied()
            .unwrap_or_default()
    }

    pub fn instruction(&self, transition: &Transition) -> Option<&Instruction> {
        self.instructions.get(transition.instruction as usize)
    }

    /// Returns the leaves of a variable: its scalar values, with their names.
    pub fn leaves_of(&self, name: &str, variable: &Variable) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        let count = variable.length.unwrap_or(1);
        let size = self.size_of(variable.kind);
        for index in 0..count {
            let name = match variable.length {
                Some(_) => format!("{name}[{index}]"),
                None => name.to_owned(),
            };
            let offset = variable.offset + index * size;
            match variable.kind {
                VariableKind::Scalar(scalar) => leaves.push(Leaf {
                    name: name.into(),
                    cell: Cell { offset, scalar },
                    value: None,
                }),
                VariableKind::Record(record) => {
                    let Some(record) = self.records.get(record as usize) else {
                        continue;
                    };
                    for (field, inner) in &record.fields {
                        let inner = Variable {
                            offset: offset + inner.offset,
                            ..inner.clone()
                        };
                        leaves.extend(self.leaves_of(&format!("{name}.{field}"), &inner));
                    }
                }
            }
        }
        leaves
    }

    pub fn size_of(&self, kind: VariableKind) -> u32 {
        match kind {
            VariableKind::Scalar(scalar) => scalar.kept.size(),
            VariableKind::Record(record) => self
                .records
                .get(record as usize)
                .map_or(0, |record| record.size),
        }
    }
}
