//! Steps that lead where another way leads, too.
//!
//! Where a step of one process was followed by one of another process, and neither
//! changes what the other one reads or writes, the two could as well have come the other
//! way round, and the state is the same then. So of the two ways to it, one need not be
//! looked up: of a state that the process `q` has reached from another state, the steps of
//! a process with a higher number that are independent of what `q` did are told as
//! [`Visitor::known`](crate::system::Visitor::known). They are counted as all others;
//! only the state is not made, hashed and looked for. Sleep sets are of this kind
//! (P. Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*,
//! 1996, chapter 5), but leave the step out.
//!
//! Why nothing is missed: let `x = q(s)`, and `p(x)` be passed over, `p > q`. Then
//! `p(s)` is no further from the beginning than `x`, and its step by `q` leads to the same
//! state. If that one is passed over as well, then for a process with a number below `q`;
//! so some way to the state is taken, from a state of the same distance at the most. A
//! search that goes layer by layer therefore finds all states, in the same layers; one
//! that is alone also finds them in the same order, since `p(s)` is found before `q(s)`.
//!
//! Invariant: where nothing is known of what a place touches, nothing is passed over.

use super::{Here, Machine, Sink, Walk};
use crate::promela::evaluate::View;
use crate::promela::layout::bytes;
use crate::promela::memory::word;
use crate::promela::program::{
    Code, Element, Field, Node, Operation, Place, Program, Reception, Scope, Source, Transition,
};
use std::ops::Range;

/// Bytes of a state that no single process owns: bit n is for the byte n, and those that
/// differ from n by multiples of 64.
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

/// What some steps read and write beside the variables of their process.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Footprint {
    reads: Bytes,
    writes: Bytes,
}

impl Footprint {
    /// Whether the order of steps with these footprints makes no difference.
    fn is_independent_of(self, other: Footprint) -> bool {
        !(self.writes.meets(other.reads)
            || self.writes.meets(other.writes)
            || self.reads.meets(other.writes))
    }
}

/// What the steps from one place touch, as far as the text of the model tells.
#[derive(Debug, Default)]
pub(super) struct Touched {
    footprint: Footprint,
    /// The channels, and whether they are changed.
    channels: Vec<(Code, bool)>,
}

impl Touched {
    /// What transitions touch; nothing if that is not known.
    pub fn by(program: &Program, transitions: &[Transition]) -> Option<Touched> {
        let mut touched = Touched::default();
        let is_known = transitions.iter().all(|transition| {
            let operation = program.instruction(transition).map(|it| &it.operation);
            !transition.is_atomic && operation.is_some_and(|it| touched.operation(program, it))
        });
        is_known.then_some(touched)
    }

    /// Gives whether it is known what an operation touches, as all these do.
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
        if place.scope == Scope::Global && !place.is_nowhere {
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

    /// The same in a state, for the process of a view; nothing where a channel is not one,
    /// or keeps nothing: a message is handed over there, by two processes.
    fn footprint(&self, view: &View<'_>) -> Option<Footprint> {
        let mut footprint = self.footprint;
        for (code, is_changed) in &self.channels {
            let (_, channel) = view.channel(*code).ok()?;
            let kind = view.machine.channel_type(channel);
            if kind.capacity == 0 {
                return None;
            }
            let bytes = Bytes::of(channel.base..channel.base + kind.size);
            match is_changed {
                true => footprint.writes.add(bytes),
                false => footprint.reads.add(bytes),
            }
        }
        Some(footprint)
    }
}

/// Whether steps of the processes of a model may be independent: not where a process sees
/// the others' places, or the state says who was last.
pub(super) fn may_be_independent(program: &Program) -> bool {
    let is_watched = program.has_turns
        || program.uses_timeout
        || program.has_outside
        || program.last.is_some()
        || program.claim.is_some()
        || program.trace.is_some();
    !is_watched && !program.nodes.iter().any(Node::looks_at_others)
}

/// The step that has led to a state.
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
    /// The step from another state to this one, if one process alone has made it, and what
    /// it touches is known.
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

    /// Whether the steps of a process, one of which is possible, lead to states that
    /// others lead to, too. It is asked for the first of them.
    #[inline]
    pub(super) fn is_passed_over(&mut self, view: &View<'_>) -> bool {
        let Some(arrival) = self.arrival else {
            return false;
        };
        view.process > arrival.process
            && *self.passes_over.get_or_insert_with(|| {
                let footprint = self.machine.touched(view);
                footprint.is_some_and(|it| it.is_independent_of(arrival.footprint))
            })
    }

    /// Tells of a step of such a process.
    pub(super) fn pass_over(&mut self) -> bool {
        self.stopped |= !self.sink.known();
        true
    }
}
