//! Determines which `hidden` variables are not part of the state.
//!
//! Spin omits all of them: if a step reads what an earlier step wrote, states that differ
//! are treated as equal, and the search misses some. Here a hidden variable is omitted
//! only if that is exact: if it is dead (no step reads what another one wrote) at all
//! locations at which a process can be in a stored state. Other hidden variables are
//! treated as ordinary ones.

use super::Compiler;
use crate::promela::layout::bytes;
use crate::promela::program::{
    After, Beginning, Code, Element, Field, Location, Node, Operation, Place, Program, Reception,
    Scope, Source, Transition,
};
use std::ops::Range;

impl Compiler {
    /// Keeps in [`Program::hidden`] only the hidden variables that can be omitted.
    pub(super) fn mark_hidden(&mut self) {
        let hidden = std::mem::take(&mut self.program.hidden);
        let program = &self.program;
        let is_scratch = |range: &Range<u32>| {
            let variable = Variable { program, range };
            // The reads of a process in Rust are unknown.
            !program.has_outside && !variable.is_asked_about() && !variable.is_needed()
        };
        self.program.hidden = hidden.into_iter().filter(is_scratch).collect();
    }
}

/// A hidden variable, as a range of bytes.
struct Variable<'a> {
    program: &'a Program,
    range: &'a Range<u32>,
}

impl Variable<'_> {
    /// Returns whether anything besides the steps of processes reads it.
    fn is_asked_about(&self) -> bool {
        let program = self.program;
        let formulas = program.requirements.iter().flat_map(|it| &it.propositions);
        let provided = program
            .kinds
            .iter()
            .filter_map(|kind| kind.provided.as_ref());
        let trace = program.trace.iter().flat_map(|trace| &trace.scope);
        let beginnings = program.kinds.iter().flat_map(|kind| &kind.beginnings);
        let begun = beginnings.filter_map(|beginning| match beginning {
            Beginning::Value(_, code) => Some(code),
            Beginning::Channel(..) => None,
        });
        let mut all = formulas
            .chain(provided)
            .chain(trace.map(|(_, code)| code))
            .chain(begun);
        all.any(|code| self.reads(*code))
    }

    /// Returns whether some step reads it before writing it.
    fn is_needed(&self) -> bool {
        self.program.kinds.iter().any(|kind| {
            let live = self.live(&kind.locations);
            let stands = stands(self.program, &kind.locations, kind.start);
            let mut both = live.iter().zip(stands);
            both.any(|(live, stands)| *live && stands)
        })
    }

    /// Liveness analysis. Returns by location whether the variable may be read before it
    /// is written.
    fn live(&self, locations: &[Location]) -> Vec<bool> {
        let mut live = vec![false; locations.len()];
        loop {
            let now: Vec<bool> = locations
                .iter()
                .map(|location| {
                    location
                        .transitions
                        .iter()
                        .any(|it| self.through(it, &live))
                })
                .collect();
            if now == live {
                return live;
            }
            live = now;
        }
    }

    /// Returns whether a transition reads it, or it is live after the transition.
    fn through(&self, transition: &Transition, live: &[bool]) -> bool {
        let is_live = |location: u32| live.get(location as usize).copied().unwrap_or(false);
        let operation = self.program.instruction(transition).map(|it| &it.operation);
        match operation {
            Some(Operation::Sequence(start)) => is_live(*start),
            Some(Operation::End) | None => false,
            Some(operation) => {
                self.is_read_by(operation)
                    || is_live(transition.to) && !self.is_written_by(operation)
            }
        }
    }

    fn is_read_by(&self, operation: &Operation) -> bool {
        let reads = |code: &Code| self.reads(*code);
        match operation {
            Operation::Condition(code) | Operation::Assert(code) | Operation::PrintName(code) => {
                reads(code)
            }
            Operation::Assign(place, value) => self.is_index_of(place) || reads(value),
            Operation::Send {
                channel, values, ..
            } => reads(channel) || values.iter().any(reads),
            Operation::Receive(reception) => self.is_read_to_receive(reception),
            Operation::Print(_, values) => values.iter().any(reads),
            Operation::Run { arguments, .. } => arguments.iter().any(reads),
            Operation::Running(values, then) => {
                let is_index = matches!(then, After::Assign(place) if self.is_index_of(place));
                is_index || values.iter().any(reads)
            }
            Operation::SetPriority(process, value) => reads(process) || reads(value),
            Operation::Event { channel, .. } => reads(channel),
            Operation::Skip | Operation::Else | Operation::End | Operation::Sequence(_) => false,
        }
    }

    fn is_read_to_receive(&self, reception: &Reception) -> bool {
        self.reads(reception.channel)
            || reception.fields.iter().any(|field| match field {
                Field::Equal(code) => self.reads(*code),
                Field::Into(place) => self.is_index_of(place),
            })
    }

    fn is_read_through(&self, element: &Element) -> bool {
        let overlaps = |start: u32, end: u32| start < self.range.end && self.range.start < end;
        let (start, index) = (element.offset, element.index_offset);
        element.source == Source::Global && overlaps(start, start + element.length)
            || element.index_scope == Scope::Global && overlaps(index, index + 1)
    }

    fn is_index_of(&self, place: &Place) -> bool {
        place.indices.iter().any(|index| self.reads(index.value))
    }

    /// Returns whether an operation overwrites it completely.
    fn is_written_by(&self, operation: &Operation) -> bool {
        let is_it = |place: &Place| {
            let is_global = place.scope == Scope::Global && !place.is_discard;
            is_global && place.indices.is_empty() && bytes(place) == *self.range
        };
        match operation {
            Operation::Assign(place, _) | Operation::Running(_, After::Assign(place)) => {
                is_it(place)
            }
            Operation::Receive(reception) => {
                let mut fields = reception.fields.iter();
                fields.any(|field| matches!(field, Field::Into(place) if is_it(place)))
            }
            _ => false,
        }
    }

    /// Returns whether an expression reads it.
    fn reads(&self, code: Code) -> bool {
        let overlaps =
            |other: Range<u32>| other.start < self.range.end && self.range.start < other.end;
        let reads = |code: &Code| self.reads(*code);
        match self.program.node(code) {
            Node::Global(cell) => overlaps(cell.offset..cell.offset + cell.scalar.kept.size()),
            Node::Compare(_, Scope::Global, offset, _) => overlaps(*offset..*offset + 1),
            Node::Indexed(place) | Node::Table(place) => {
                place.scope == Scope::Global && overlaps(bytes(place)) || self.is_index_of(place)
            }
            Node::Unary(_, part)
            | Node::Probe(_, part)
            | Node::Enabled(part)
            | Node::StateOf(part)
            | Node::PriorityOf(part) => reads(part),
            Node::Binary(_, left, right) => reads(left) || reads(right),
            Node::Conditional(first, second, third) => {
                reads(first) || reads(second) || reads(third)
            }
            Node::Element(element) => self.is_read_through(element),
            Node::CompareElement(_, _, element) => self.is_read_through(element),
            Node::Run { arguments, .. } => arguments.iter().any(reads),
            Node::Poll(reception) => self.is_read_to_receive(reception),
            Node::AtLabel { index, .. } => index.as_ref().is_some_and(reads),
            Node::Remote { index, place, .. } => {
                index.as_ref().is_some_and(reads) || self.is_index_of(place)
            }
            Node::Number(_)
            | Node::Local(_)
            | Node::Compare(_, Scope::Local, ..)
            | Node::Itself
            | Node::Processes
            | Node::Last
            | Node::OwnPriority
            | Node::Timeout
            | Node::NonProgress
            | Node::Accepting => false,
        }
    }
}

/// Returns by location whether a process can be there in a stored state. In an atomic
/// sequence, it can where it may be blocked, and when its message is handed over in a
/// rendezvous.
fn stands(program: &Program, locations: &[Location], start: u32) -> Vec<bool> {
    let mut stands = vec![false; locations.len()];
    let mut mark = |location: u32| {
        if let Some(place) = stands.get_mut(location as usize) {
            *place = true;
        }
    };
    mark(start);
    let is_inside = |to: u32| locations.get(to as usize).is_some_and(|to| to.in_sequence);
    for location in locations {
        for transition in &location.transitions {
            if location.in_sequence {
                // A jump may also leave a `d_step`.
                if !is_inside(transition.to) {
                    mark(transition.to);
                }
                continue;
            }
            let operation = program.instruction(transition).map(|it| &it.operation);
            let is_send = matches!(operation, Some(Operation::Send { .. }));
            let to = locations.get(transition.to as usize);
            let waits = program.has_run_conditions || to.is_none_or(|to| may_wait(program, to));
            if !transition.is_atomic || is_send || waits {
                mark(transition.to);
            }
        }
    }
    stands
}

/// Returns whether all transitions of a location may be disabled.
fn may_wait(program: &Program, location: &Location) -> bool {
    !location.transitions.iter().any(|transition| {
        let operation = program.instruction(transition).map(|it| &it.operation);
        matches!(
            operation,
            Some(
                Operation::Skip
                    | Operation::Else
                    | Operation::Assign(..)
                    | Operation::Assert(_)
                    | Operation::Print(..)
                    | Operation::PrintName(_)
                    | Operation::Run { .. }
                    | Operation::Running(..)
                    | Operation::SetPriority(..)
            )
        )
    })
}
