//! Table of the transitions of all processes, with static information about them.
//!
//! A location is a range of the table. Most of a search evaluates transitions that are
//! disabled, so the table holds the channels from which a transition can receive, if they
//! are constant: a sender considers only the processes that may receive from its channel.

use super::independence::{Touched, may_be_independent};
use crate::promela::layout::bytes;
use crate::promela::program::{Code, Location, Node, Operation, Program, Source, Transition};

/// A set of channels. Bit n represents the channels congruent to n modulo 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::promela) struct Channels(u64);

impl Channels {
    const NONE: Channels = Channels(0);
    const ANY: Channels = Channels(u64::MAX);

    fn one(number: i32) -> Channels {
        Channels(1 << (number & 63))
    }

    fn with(self, other: Channels) -> Channels {
        Channels(self.0 | other.0)
    }

    /// Returns whether the set may contain a channel.
    pub fn may_have(self, number: i32) -> bool {
        self.0 & Channels::one(number).0 != 0
    }
}

/// A transition with its operation.
#[derive(Debug)]
pub(in crate::promela) struct Step {
    pub transition: Transition,
    pub operation: Operation,
    /// Channels from which it can receive a rendezvous message.
    pub takes: Channels,
    /// Whether it is half of a rendezvous in every state.
    pub is_rendezvous: bool,
}

/// A location of a process.
#[derive(Debug)]
struct Stand {
    start: u32,
    end: u32,
    takes: Channels,
    touched: Option<Touched>,
}

/// The locations of all process types.
#[derive(Debug, Default)]
pub(in crate::promela) struct Table {
    /// By process type: its first location.
    kinds: Vec<u32>,
    stands: Vec<Stand>,
    steps: Vec<Step>,
    /// Whether steps of processes may be independent.
    pub may_be_independent: bool,
}

impl Table {
    pub fn new(program: &Program) -> Table {
        let mut table = Table {
            may_be_independent: may_be_independent(program),
            ..Table::default()
        };
        for kind in &program.kinds {
            table.kinds.push(table.stands.len() as u32);
            for location in &kind.locations {
                let start = table.steps.len() as u32;
                let mut takes = Channels::NONE;
                for transition in &location.transitions {
                    let Some(instruction) = program.instruction(transition) else {
                        continue;
                    };
                    let operation = instruction.operation.clone();
                    let own = taken_by(program, &kind.locations, &operation);
                    takes = takes.with(own);
                    table.steps.push(Step {
                        is_rendezvous: is_rendezvous(program, &operation),
                        transition: *transition,
                        operation,
                        takes: own,
                    });
                }
                let end = table.steps.len() as u32;
                table.stands.push(Stand {
                    start,
                    end,
                    takes,
                    touched: Touched::by(program, &location.transitions),
                });
            }
        }
        table
    }

    fn stand(&self, kind: u16, location: u16) -> Option<&Stand> {
        let first = *self.kinds.get(kind as usize)?;
        self.stands.get(first as usize + location as usize)
    }

    /// Returns the transitions of a location of a process type.
    #[inline]
    pub fn steps(&self, kind: u16, location: u16) -> &[Step] {
        let stand = self.stand(kind, location);
        let steps =
            stand.and_then(|stand| self.steps.get(stand.start as usize..stand.end as usize));
        steps.unwrap_or(&[])
    }

    /// Returns the footprint of the steps from a location, if it is known.
    #[inline]
    pub fn touched(&self, kind: u16, location: u16) -> Option<&Touched> {
        self.stand(kind, location)?.touched.as_ref()
    }

    /// Returns the channels from which a process at a location can receive.
    #[inline]
    pub fn takes(&self, kind: u16, location: u16) -> Channels {
        let stand = self.stand(kind, location);
        stand.map_or(Channels::NONE, |stand| stand.takes)
    }
}

/// Returns the channels from which an operation can receive.
fn taken_by(program: &Program, locations: &[Location], operation: &Operation) -> Channels {
    match operation {
        Operation::Receive(reception) => named_by(program, reception.channel),
        Operation::Sequence(start) => {
            let first = locations.get(*start as usize);
            let first = first.and_then(|location| location.transitions.first());
            let first = first.and_then(|transition| program.instruction(transition));
            match first.map(|instruction| &instruction.operation) {
                Some(Operation::Receive(reception)) => named_by(program, reception.channel),
                _ => Channels::NONE,
            }
        }
        _ => Channels::NONE,
    }
}

/// Returns whether an operation is half of a rendezvous in every state.
fn is_rendezvous(program: &Program, operation: &Operation) -> bool {
    let code = match operation {
        Operation::Send { channel, .. } => *channel,
        Operation::Receive(reception) => reception.channel,
        _ => return false,
    };
    let keeps_nothing = |number: i32| {
        let index = usize::try_from(number - 1).ok();
        let kind = index.and_then(|index| program.global_channels.get(index));
        let kind = kind.and_then(|kind| program.channels.get(*kind as usize));
        kind.is_some_and(|kind| kind.capacity == 0)
    };
    match program.node(code) {
        Node::Number(number) => keeps_nothing(*number),
        node => constants(program, node).is_some_and(|numbers| {
            numbers
                .iter()
                .all(|number| keeps_nothing(i32::from(*number)))
        }),
    }
}

/// Returns the constant bytes that an expression may refer to; `None` if it may refer to
/// others.
fn constants<'a>(program: &'a Program, node: &Node) -> Option<&'a [u8]> {
    let bytes = match node {
        Node::Table(place) => bytes(place),
        Node::Element(element) if element.source == Source::Constants => {
            element.offset..element.offset + element.length
        }
        _ => return None,
    };
    let table = program
        .constants
        .get(bytes.start as usize..bytes.end as usize);
    Some(table.unwrap_or(&[]))
}

/// Returns the channels that an expression may evaluate to.
fn named_by(program: &Program, code: Code) -> Channels {
    match program.node(code) {
        Node::Number(number) => Channels::one(*number),
        node => constants(program, node).map_or(Channels::ANY, |numbers| {
            numbers.iter().fold(Channels::NONE, |all, number| {
                all.with(Channels::one(i32::from(*number)))
            })
        }),
    }
}
