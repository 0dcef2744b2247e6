//! Models as they are executed: tables of numbers, without names to look up.
//!
//! A state is a sequence of bytes: the number of its shape (which processes
//! there are), the global variables that change, and then process by process where it
//! stands, its variables, and the channels that it brought. A process ends only
//! when it is the youngest, so what begins at its frame is cut off with it.

use super::external::Outside;
use super::memory::{byte, set_word, word};
use super::syntax::{Binary, Probe, Unary};
use super::trace::Trace;
use crate::Span;
use juror_logic::Formula;
use std::ops::Range;
use std::sync::Arc;

/// How a value is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kept {
    Byte,
    Short,
    /// 16 bits without a sign.
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

/// What values a variable has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Scalar {
    pub kept: Kept,
    pub least: i32,
    pub greatest: i32,
    pub is_mtype: bool,
    pub is_channel: bool,
}

/// A value at a fixed place: of the state, or of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub offset: u32,
    pub scalar: Scalar,
}

/// One step into an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Index {
    pub value: Code,
    pub length: u32,
    pub stride: u32,
}

/// An expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Code(pub u32);

/// Whose variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Global,
    Local,
}

/// Where a value goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub scope: Scope,
    pub cell: Cell,
    pub indices: Box<[Index]>,
    /// `_`, which forgets what it is given.
    pub is_nowhere: bool,
}

/// Where an element is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Global,
    Local,
    /// Among what never changes.
    Constants,
}

/// An element of an array of bytes; its index is a variable of one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    pub source: Source,
    /// Where the array begins.
    pub offset: u32,
    pub index_scope: Scope,
    pub index_offset: u32,
    pub length: u32,
    /// The index as it is written, which may be too large.
    pub index: Code,
}

/// One part of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Number(i32),
    Global(Cell),
    Local(Cell),
    Indexed(Box<Place>),
    /// An element of an array that never changes.
    Table(Box<Place>),
    Unary(Unary, Code),
    Binary(Binary, Code, Code),
    /// A variable of one byte compared with a number.
    Compare(Binary, Scope, u32, i32),
    /// What [`Node::Indexed`] and [`Node::Table`] become where that is one look.
    Element(Element),
    /// Such an element compared with a number.
    CompareElement(Binary, i32, Box<Element>),
    Conditional(Code, Code, Code),
    Itself,
    /// A process is run; the value is its number.
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
    /// Some process stands at a label that accepts.
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
    /// It asks where another process stands, what its variables are, or whose turn
    /// it is.
    pub fn looks_at_others(&self) -> bool {
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

/// A field of a message that is received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    /// It must be this.
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

/// What a transition does.
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
    /// Processes are run in values, and then something is done with these.
    Running(Box<[Code]>, After),
    SetPriority(Code, Code),
    /// An event of a trace: nothing in a field is for any value.
    Event {
        sends: bool,
        channel: Code,
        fields: Box<[Option<i32>]>,
    },
    /// The process goes, if it is the youngest.
    End,
    /// A deterministic sequence that is one step; it begins at a node.
    Sequence(u32),
}

/// What is done with values in which processes were run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum After {
    Assign(Place),
    Assert,
    Print(Arc<str>),
}

/// An operation and where it comes from.
#[derive(Debug, Clone)]
pub(super) struct Instruction {
    pub operation: Operation,
    pub span: Span,
    pub text: Arc<str>,
}

/// A way from a node of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Transition {
    pub instruction: u32,
    /// The node after it.
    pub to: u32,
    /// The process goes on without the others.
    pub is_atomic: bool,
    /// Which escape it belongs to; 0 is none. Those of one escape come one
    /// after the other, and before what they escape from.
    pub escape: u32,
}

/// Where a process may stand.
#[derive(Debug, Clone, Default)]
pub(super) struct Location {
    pub transitions: Vec<Transition>,
    pub is_end: bool,
    pub is_progress: bool,
    pub is_accept: bool,
    /// Inside a `d_step`.
    pub in_sequence: bool,
    /// Inside an atomic sequence, or behind its last step.
    pub in_atomic: bool,
    /// Its steps touch nothing but variables of the process.
    pub is_local: bool,
    pub labels: Vec<Arc<str>>,
}

/// A value with a name, for people.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub name: Arc<str>,
    pub cell: Cell,
    /// What it is, if that never changes: then no state has it.
    pub value: Option<i32>,
}

/// How a variable begins.
#[derive(Debug, Clone)]
pub(super) enum Beginning {
    Value(Cell, Code),
    /// A channel of a type is made.
    Channel(Cell, u16),
}

impl Beginning {
    /// The variable.
    pub fn cell_mut(&mut self) -> &mut Cell {
        match self {
            Beginning::Value(cell, _) | Beginning::Channel(cell, _) => cell,
        }
    }
}

/// A type of channels.
#[derive(Debug, Clone)]
pub(super) struct ChannelType {
    pub capacity: u32,
    pub fields: Vec<Cell>,
    /// Of one message.
    pub message_size: u32,
    /// Of the channel: a length, and the messages.
    pub size: u32,
}

/// A type of processes.
#[derive(Debug, Clone, Default)]
pub(super) struct ProcessType {
    pub name: Arc<str>,
    pub span: Span,
    pub frame_size: u32,
    pub parameters: Vec<Cell>,
    pub beginnings: Vec<Beginning>,
    /// Names of the variables of the outermost block.
    pub variables: Vec<(Arc<str>, Variable)>,
    pub leaves: Vec<Leaf>,
    pub channels: Vec<u16>,
    pub provided: Option<Code>,
    /// Its steps come from Rust.
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
    /// By field: the channels that it brings.
    pub channels: Vec<Option<u16>>,
}

/// A process that is there from the beginning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Active {
    pub kind: u16,
    pub priority: u8,
}

/// A formula that the runs of a model fulfil, or do not.
#[derive(Debug, Clone)]
pub(super) struct Requirement {
    pub name: Arc<str>,
    pub text: Arc<str>,
    pub formula: Formula,
    /// What its propositions are.
    pub propositions: Vec<Code>,
}

/// So many bytes say where a process stands; one less in a narrow program.
const NODE_SIZE: u32 = 2;
/// Where the variables of a frame begin: behind that, and a priority. What of that is
/// not needed is left out in the end.
pub(super) const FRAME_START: u32 = NODE_SIZE + 1;
/// Where the globals begin: after the number of the shape.
pub(super) const GLOBALS_START: u32 = 2;

/// A model.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub nodes: Vec<Node>,
    pub node_spans: Vec<Span>,
    pub instructions: Vec<Instruction>,
    pub globals_end: u32,
    /// By global variable: its bytes, before they are laid out.
    pub global_ranges: Vec<Range<u32>>,
    /// The bytes of hidden variables that no state needs: they are as in the first state
    /// in all states that are kept.
    pub hidden: Vec<Range<u32>>,
    /// The global part of the first state.
    pub first_globals: Vec<u8>,
    /// The global variables as they begin, before they are laid out: those that never
    /// change are there.
    pub constants: Vec<u8>,
    /// Where a process stands takes one byte.
    pub is_narrow: bool,
    pub global_leaves: Vec<Leaf>,
    pub global_beginnings: Vec<Beginning>,
    pub global_channels: Vec<u16>,
    pub channels: Vec<ChannelType>,
    pub records: Vec<RecordType>,
    pub kinds: Vec<ProcessType>,
    pub active: Vec<Active>,
    /// By label that is asked about from outside: the node where it stands.
    pub labels: Vec<Option<u32>>,
    pub mtypes: Vec<Arc<str>>,
    /// The state has the process that moved last.
    pub last: Option<Cell>,
    /// The frames have priorities.
    pub priorities: bool,
    /// Whether a process may go on is not for itself alone to say: by priority, or by
    /// `provided`.
    pub has_turns: bool,
    pub uses_timeout: bool,
    /// Some kind of process is in Rust.
    pub has_outside: bool,
    /// The kind that is a never claim, if there is one.
    pub claim: Option<u16>,
    pub trace: Option<Trace>,
    pub requirements: Vec<Requirement>,
    /// No process stands at a label of progress.
    pub non_progress: Option<Code>,
    /// Some process stands at a label that accepts.
    pub accepting: Option<Code>,
}

impl Program {
    /// Where a frame has the priority of its process, if there are priorities.
    pub fn priority_offset(&self) -> u32 {
        NODE_SIZE - u32::from(self.is_narrow)
    }

    /// Where the process stands whose frame begins at `base`.
    #[inline]
    pub fn standing(&self, state: &[u8], base: u32) -> u16 {
        match self.is_narrow {
            true => u16::from(byte(state, base)),
            false => word(state, base),
        }
    }

    /// The process whose frame begins at `base` stands at a location.
    #[inline]
    pub fn stand(&self, state: &mut [u8], base: u32, location: u16) {
        if !self.is_narrow {
            set_word(state, base, location);
        } else if let Some(place) = state.get_mut(base as usize) {
            *place = location as u8;
        }
    }

    pub fn node(&self, code: Code) -> &Node {
        // Codes are made together with their nodes.
        self.nodes.get(code.0 as usize).unwrap_or(&Node::Number(0))
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

    /// The leaves of a variable: its single values, with their names.
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
