//! Independent steps: avoids lookups of states that are reached on another path.
//!
//! If a step of one process is followed by a step of another, and neither changes what
//! the other reads or writes, the steps commute: both orders lead to the same state, and
//! one of the two paths need not be looked up. So from a state that process `q` has
//! reached from another state, the steps of processes with higher numbers that are
//! independent of the step of `q` are reported as
//! [`Visitor::known`](crate::system::Visitor::known). They are counted as all others, but
//! their states are not created, hashed and looked up. Sleep sets are similar (P.
//! Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*, 1996,
//! chapter 5), but omit the step. Unlike with `--reduce`, no state and no transition is
//! missing from the counts.
//!
//! Completeness: let `x = q(s)`, and `p(x)` be skipped, `p > q`. Then `p(s)` is no
//! further from the initial state than `x`, and its step by `q` leads to the same state.
//! If that one is skipped too, it is because of a process with a number below `q`; so
//! some path to the state is followed, from a state at most as far away. A layered
//! (breadth-first) search therefore finds all states, in the same layers; with one thread
//! also in the same order, since `p(s)` is found before `q(s)`.
//!
//! Invariant: if the footprint of a location is unknown, nothing is skipped.

use super::{Here, Machine, Sink, Walk};
use crate::promela::evaluate::View;
use crate::promela::layout::bytes;
use crate::promela::memory::word;
use crate::promela::program::{
    Code, Element, Field, Node, Operation, Place, Program, Reception, Scope, Source, Transition,
};
use std::ops::Range;

/// A set of bytes of a state that belong to no single process. Bit n represents the bytes
/// congruent to n modulo 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Bytes(u64);

impl Bytes {
    fn of(range: Range<u32>) -> Bytes {
        let all = match range.len() {
            length @ 0..64 => (1 << length) - 1,
            _ => u64::MAX,
        };
        Bytes(u64::rotate_left(all, range.start % u64::BITS))
    }

    fn add(&mut self, other: Bytes) {
        self.0 |= other.0;
    }

    fn meets(self, other: Bytes) -> bool {
        self.0 & other.0 != 0
    }
}

/// The bytes that steps read and write, besides the variables of their process.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Footprint {
    reads: Bytes,
    writes: Bytes,
}

impl Footprint {
    /// Returns whether steps with these footprints commute.
    fn is_independent_of(self, other: Footprint) -> bool {
        !(self.writes.meets(other.reads)
            || self.writes.meets(other.writes)
            || self.reads.meets(other.writes))
    }
}

/// The static footprint of the steps from one location.
#[derive(Debug, Default)]
pub(super) struct Touched {
    footprint: Footprint,
    /// Channel expressions, and whether the channel is changed.
    channels: Vec<(Code, bool)>,
}

impl Touched {
    /// Returns the footprint of transitions; `None` if it is unknown.
    pub fn by(program: &Program, transitions: &[Transition]) -> Option<Touched> {
        let mut touched = Touched::default();
        let is_known = transitions.iter().all(|transition| {
            let operation = program.instruction(transition).map(|it| &it.operation);
            !transition.is_atomic && operation.is_some_and(|it| touched.operation(program, it))
        });
        is_known.then_some(touched)
    }

    /// Adds the footprint of an operation. Like the functions below, returns whether it
    /// is known.
    fn operation(&mut self, program: &Program, operation: &Operation) -> bool {
        match operation {
            Operation::Skip | Operation::Else => true,
            Operation::Condition(code) | Operation::Assert(code) | Operation::PrintName(code) => {
                self.value(program, *code)
            }
            Operation::Assign(place, code) => {
                self.writes(program, place) && self.value(program, *code)
            }
            Operation::Print(_, values) => self.values(program, values),
            Operation::Send {
                channel, values, ..
            } => self.channel(program, *channel, true) && self.values(program, values),
            Operation::Receive(reception) => self.reception(program, reception),
            _ => false,
        }
    }

    fn reception(&mut self, program: &Program, reception: &Reception) -> bool {
        self.channel(program, reception.channel, true)
            && reception.fields.iter().all(|field| match field {
                Field::Equal(code) => self.value(program, *code),
                Field::Into(place) => self.writes(program, place),
            })
    }

    fn channel(&mut self, program: &Program, channel: Code, is_changed: bool) -> bool {
        self.channels.push((channel, is_changed));
        self.value(program, channel)
    }

    fn writes(&mut self, program: &Program, place: &Place) -> bool {
        if place.scope == Scope::Global && !place.is_discard {
            self.footprint.writes.add(Bytes::of(bytes(place)));
        }
        self.indices(program, place)
    }

    fn indices(&mut self, program: &Program, place: &Place) -> bool {
        let mut indices = place.indices.iter();
        indices.all(|index| self.value(program, index.value))
    }

    fn reads(&mut self, range: Range<u32>) {
        self.footprint.reads.add(Bytes::of(range));
    }

    fn values(&mut self, program: &Program, values: &[Code]) -> bool {
        values.iter().all(|value| self.value(program, *value))
    }

    fn value(&mut self, program: &Program, code: Code) -> bool {
        match program.node(code) {
            Node::Number(_) | Node::Local(_) | Node::Itself => true,
            Node::Compare(_, Scope::Local, ..) => true,
            Node::Compare(_, Scope::Global, offset, _) => {
                self.reads(*offset..*offset + 1);
                true
            }
            Node::Global(cell) => {
                self.reads(cell.offset..cell.offset + cell.scalar.kept.size());
                true
            }
            Node::Indexed(place) => {
                if place.scope == Scope::Global {
                    self.reads(bytes(place));
                }
                self.indices(program, place)
            }
            Node::Table(place) => self.indices(program, place),
            Node::Element(element) => self.element(element),
            Node::CompareElement(_, _, element) => self.element(element),
            Node::Unary(_, part) => self.value(program, *part),
            Node::Binary(_, left, right) => self.values(program, &[*left, *right]),
            Node::Conditional(first, second, third) => {
                self.values(program, &[*first, *second, *third])
            }
            Node::Probe(_, channel) => self.channel(program, *channel, false),
            Node::Poll(reception) => self.reception(program, reception),
            _ => false,
        }
    }

    fn element(&mut self, element: &Element) -> bool {
        if element.index_scope == Scope::Global {
            self.reads(element.index_offset..element.index_offset + 1);
        }
        if element.source == Source::Global {
            self.reads(element.offset..element.offset + element.length);
        }
        true
    }

    /// Returns the footprint in a state, for the process of a view; `None` for an invalid
    /// channel or a rendezvous channel, since a rendezvous involves two processes.
    fn footprint(&self, view: &View<'_>) -> Option<Footprint> {
        let mut footprint = self.footprint;
        for (code, is_changed) in &self.channels {
            let (_, channel) = view.channel(*code).ok()?;
            let kind = view.machine.channel_type(channel);
            if kind.capacity == 0 {
                return None;
            }
            let bytes = Bytes::of(channel.base..channel.base + kind.size);
            if *is_changed {
                footprint.writes.add(bytes)
            } else {
                footprint.reads.add(bytes)
            }
        }
        Some(footprint)
    }
}

/// Returns whether steps of a model may be independent: not if processes observe each
/// other's locations, or the state contains the last process.
pub(super) fn may_be_independent(program: &Program) -> bool {
    let is_observed = program.has_run_conditions
        || program.uses_timeout
        || program.has_outside
        || program.last.is_some()
        || program.claim.is_some()
        || program.trace.is_some();
    !is_observed && !program.nodes.iter().any(Node::reads_other_processes)
}

/// The step that led to a state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    process: usize,
    footprint: Footprint,
}

impl Machine {
    fn touched(&self, view: &View<'_>) -> Option<Footprint> {
        let frame = view.shape.frames.get(view.process)?;
        let standing = self.program.standing(view.state, frame.base);
        self.table.touched(frame.kind, standing)?.footprint(view)
    }
}

impl<S: Sink> Walk<'_, S> {
    /// Returns the step from another state to this one, if one process alone made it, and
    /// its footprint is known.
    pub(super) fn arrival(&self, before: &[u8], here: Here<'_>) -> Option<Arrival> {
        let program = &self.machine.program;
        if word(before, 0) != here.shape.number {
            return None;
        }
        let frames = here.shape.frames.iter().enumerate();
        let mut moved = frames.filter(|(_, frame)| {
            program.standing(before, frame.base) != program.standing(here.state, frame.base)
        });
        let (process, _) = moved.next()?;
        if moved.next().is_some() {
            return None;
        }
        let before = Here {
            state: before,
            shape: here.shape,
        };
        let view = self.view(before, process, false);
        let footprint = self.machine.touched(&view)?;
        Some(Arrival { process, footprint })
    }

    /// Returns whether the steps of a process lead to states that are reached on another
    /// path too. Called for its first enabled step.
    #[inline]
    pub(super) fn is_skipped(&mut self, view: &View<'_>) -> bool {
        let Some(arrival) = self.arrival else {
            return false;
        };
        view.process > arrival.process
            && *self.skips.get_or_insert_with(|| {
                let footprint = self.machine.touched(view);
                footprint.is_some_and(|it| it.is_independent_of(arrival.footprint))
            })
    }

    /// Reports a skipped step. Returns true: the step counts as made.
    pub(super) fn skip(&mut self) -> bool {
        self.stopped |= !self.sink.known();
        true
    }
}
