//! Layout of the state vector.
//!
//! The cost of a search is proportional to the size of its states, which are copied,
//! hashed, compared and stored. So a state omits everything constant: a global variable
//! that no instruction writes becomes a number, or a table of numbers (most channel
//! variables do); the location of a process takes one byte if no process type has more
//! than 256 locations; priorities are omitted if the model does not use them.
//!
//! Invariant: omitted parts are equal in all states, so states are equal without them
//! exactly if they are equal with them.

use super::machine::Machine;
use super::memory::load;
use super::peephole::optimize;
use super::program::{
    After, Cell, Field, GLOBALS_START, Node, Operation, Place, Program, Reception, Scope,
};
use super::syntax::Binary;
use crate::system::Fault;
use std::ops::Range;

/// Assigns the final offsets to the variables of a compiled program.
///
/// # Errors
/// The initial value of a global variable cannot be computed.
pub(super) fn lay_out(program: Program, wraps: bool) -> Result<Program, Fault> {
    let machine = Machine::new(program, wraps, Vec::new());
    let globals = machine.globals()?;
    let mut program = machine.program;
    let layout = Layout::new(&program, globals);
    layout.nodes(&mut program);
    layout.instructions(&mut program);
    layout.rest(&mut program);
    optimize(&mut program.nodes);
    Ok(program)
}

struct Layout {
    /// By byte of the global variables: its new offset; `None` if constant.
    moved: Vec<Option<u32>>,
    /// Initial global variables, in the old layout.
    globals: Vec<u8>,
    /// Whether the location of a process takes one byte.
    is_narrow: bool,
    /// Number of bytes saved per frame.
    narrowed: u32,
}

impl Layout {
    fn new(program: &Program, globals: Vec<u8>) -> Layout {
        let written = written(program);
        let changes = |range: &&Range<u32>| {
            let overlaps = |other: &Range<u32>| other.start < range.end && range.start < other.end;
            // The writes of a process in Rust are unknown.
            program.has_outside || written.iter().any(overlaps)
        };
        let mut moved = vec![None; globals.len()];
        let mut next = GLOBALS_START;
        for range in program.global_ranges.iter().filter(changes) {
            for byte in range.clone() {
                if let Some(place) = moved.get_mut(byte as usize) {
                    *place = Some(next);
                }
                next += 1;
            }
        }
        let mut kinds = program.kinds.iter();
        let is_narrow = kinds.all(|kind| kind.locations.len() <= 1 << u8::BITS);
        Layout {
            moved,
            globals,
            is_narrow,
            narrowed: u32::from(is_narrow) + u32::from(!program.priorities),
        }
    }

    /// Returns the new offset of a byte of a global variable; `None` if constant.
    fn moved(&self, offset: u32) -> Option<u32> {
        self.moved.get(offset as usize).copied().flatten()
    }

    /// Returns the value of a constant global variable.
    fn value(&self, cell: &Cell) -> i32 {
        load(&self.globals, 0, cell)
    }

    fn local(&self, cell: &mut Cell) {
        cell.offset -= self.narrowed;
    }

    /// Relocates a place. Returns whether its variable changes.
    fn place(&self, place: &mut Place) -> bool {
        if place.is_discard {
            return true;
        }
        match place.scope {
            Scope::Local => self.local(&mut place.cell),
            Scope::Global => match self.moved(place.cell.offset) {
                Some(offset) => place.cell.offset = offset,
                None => return false,
            },
        }
        true
    }

    fn reception(&self, reception: &mut Reception) {
        for field in &mut reception.fields {
            if let Field::Into(place) = field {
                self.place(place);
            }
        }
    }

    fn nodes(&self, program: &mut Program) {
        for node in &mut program.nodes {
            match node {
                Node::Global(cell) => match self.moved(cell.offset) {
                    Some(offset) => cell.offset = offset,
                    None => *node = Node::Number(self.value(cell)),
                },
                Node::Local(cell) => self.local(cell),
                Node::Compare(operator, Scope::Global, offset, number) => {
                    match self.moved(*offset) {
                        Some(moved) => *offset = moved,
                        None => {
                            let byte = self.globals.get(*offset as usize);
                            let left = byte.copied().map_or(0, i32::from);
                            let holds = super::evaluate::compare(*operator, left, *number);
                            *node = Node::Number(i32::from(holds));
                        }
                    }
                }
                Node::Compare(_, Scope::Local, offset, _) => *offset -= self.narrowed,
                Node::Indexed(place) => {
                    let changes = self.place(place);
                    if !changes {
                        *node = Node::Table(place.clone());
                    }
                }
                Node::Remote { place, .. } => {
                    self.place(place);
                }
                Node::Poll(reception) => self.reception(reception),
                _ => {}
            }
        }
    }

    fn instructions(&self, program: &mut Program) {
        for instruction in &mut program.instructions {
            match &mut instruction.operation {
                Operation::Assign(place, _) => {
                    self.place(place);
                }
                Operation::Running(_, After::Assign(place)) => {
                    self.place(place);
                }
                Operation::Receive(reception) => self.reception(reception),
                _ => {}
            }
        }
    }

    fn rest(&self, program: &mut Program) {
        for leaf in &mut program.global_leaves {
            match self.moved(leaf.cell.offset) {
                Some(offset) => leaf.cell.offset = offset,
                None => leaf.value = Some(self.value(&leaf.cell)),
            }
        }
        if let Some(last) = &mut program.last
            && let Some(offset) = self.moved(last.offset)
        {
            last.offset = offset;
        }
        let hidden = program.hidden.iter().filter_map(|range| {
            let start = self.moved(range.start)?;
            Some(start..start + (range.end - range.start))
        });
        program.hidden = hidden.collect();
        if let Some(trace) = &mut program.trace
            && let Some(offset) = self.moved(trace.position.offset)
        {
            trace.position.offset = offset;
        }
        for kind in &mut program.kinds {
            kind.frame_size -= self.narrowed;
            kind.parameters.iter_mut().for_each(|cell| self.local(cell));
            kind.variables
                .iter_mut()
                .for_each(|(_, variable)| variable.offset -= self.narrowed);
            for beginning in &mut kind.beginnings {
                self.local(beginning.cell_mut());
            }
            for leaf in &mut kind.leaves {
                self.local(&mut leaf.cell);
            }
            if let Some(outside) = &mut kind.outside {
                self.local(&mut outside.cell);
            }
        }
        program.is_narrow = self.is_narrow;
        let (head, rest) = self.globals.split_at(GLOBALS_START as usize);
        let moved = self.moved.iter().skip(GLOBALS_START as usize);
        let changing = rest.iter().zip(moved).filter(|(_, moved)| moved.is_some());
        let mut first = head.to_vec();
        first.extend(changing.map(|(byte, _)| *byte));
        program.globals_end = first.len() as u32;
        program.first_globals = first;
        program.constants = self.globals.clone();
    }
}

/// Returns the ranges of global variables that instructions write.
fn written(program: &Program) -> Vec<Range<u32>> {
    let mut written = Vec::new();
    let mut add = |place: &Place| {
        if place.scope == Scope::Global && !place.is_discard {
            written.push(bytes(place));
        }
    };
    for instruction in &program.instructions {
        match &instruction.operation {
            Operation::Assign(place, _) => add(place),
            Operation::Running(_, After::Assign(place)) => add(place),
            Operation::Receive(reception) => {
                for field in &reception.fields {
                    if let Field::Into(place) = field {
                        add(place);
                    }
                }
            }
            _ => {}
        }
    }
    let trace = program.trace.iter().map(|trace| &trace.position);
    let last = program.last.iter().chain(trace);
    written.extend(last.map(|cell| cell.offset..cell.offset + cell.scalar.kept.size()));
    written
}

/// Returns the range of all bytes that a place may refer to.
pub(super) fn bytes(place: &Place) -> Range<u32> {
    let indices = place.indices.iter();
    let furthest = indices.map(|index| index.length.saturating_sub(1) * index.stride);
    let last = place.cell.offset + furthest.sum::<u32>();
    place.cell.offset..last + place.cell.scalar.kept.size()
}

/// Returns the node that compares a byte with a number, if the operands have this form.
pub(super) fn comparison(operator: Binary, left: &Node, right: &Node) -> Option<Node> {
    let Node::Number(number) = right else {
        return None;
    };
    let (scope, cell) = match left {
        Node::Global(cell) => (Scope::Global, cell),
        Node::Local(cell) => (Scope::Local, cell),
        _ => return None,
    };
    let is_comparison = matches!(
        operator,
        Binary::Equal
            | Binary::NotEqual
            | Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual
    );
    let is_byte = cell.scalar.kept == super::program::Kept::Byte;
    (is_comparison && is_byte).then_some(Node::Compare(operator, scope, cell.offset, *number))
}
