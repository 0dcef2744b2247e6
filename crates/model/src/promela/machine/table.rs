//! The transitions of all processes in one table, with what is known of them before
//! anything runs.
//!
//! Where a process stands is a range of the table. Most of what a search does is to
//! find that a transition is not possible, so it is worth knowing which channels it
//! could take a message from: who sends a message asks only those who could mean
//! its channel.

use super::independence::{Touched, may_be_independent};
use crate::promela::layout::bytes;
use crate::promela::program::{Code, Location, Node, Operation, Program, Source, Transition};

/// Channels by their numbers: bit n is for the channel n, and those that differ from
/// n by multiples of 64.
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

    /// Whether a channel may be one of these.
    pub fn may_have(self, number: i32) -> bool {
        self.0 & Channels::one(number).0 != 0
    }
}

/// A transition, with what it does.
#[derive(Debug)]
pub(in crate::promela) struct Way {
    pub transition: Transition,
    pub operation: Operation,
    /// From which channels it can take a message that is handed over.
    pub takes: Channels,
    /// It sends to a channel that keeps nothing, or receives from one.
    pub is_rendezvous: bool,
}

/// Where a process may stand.
#[derive(Debug)]
struct Stand {
    start: u32,
    end: u32,
    takes: Channels,
    touched: Option<Touched>,
}

/// Where processes may stand, kind by kind.
#[derive(Debug, Default)]
pub(in crate::promela) struct Table {
    /// By kind: its first stand.
    kinds: Vec<u32>,
    stands: Vec<Stand>,
    ways: Vec<Way>,
    /// Whether steps of processes may be independent of one another.
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
                let start = table.ways.len() as u32;
                let mut takes = Channels::NONE;
                for transition in &location.transitions {
                    let Some(instruction) = program.instruction(transition) else {
                        continue;
                    };
                    let operation = instruction.operation.clone();
                    let own = taken_by(program, &kind.locations, &operation);
                    takes = takes.with(own);
                    table.ways.push(Way {
                        is_rendezvous: is_rendezvous(program, &operation),
                        transition: *transition,
                        operation,
                        takes: own,
                    });
                }
                let end = table.ways.len() as u32;
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

    /// The transitions of a location of a kind of process.
    #[inline]
    pub fn ways(&self, kind: u16, location: u16) -> &[Way] {
        let stand = self.stand(kind, location);
        let ways = stand.and_then(|stand| self.ways.get(stand.start as usize..stand.end as usize));
        ways.unwrap_or(&[])
    }

    /// What the steps of a process that stands there touch, if that is known.
    #[inline]
    pub fn touched(&self, kind: u16, location: u16) -> Option<&Touched> {
        self.stand(kind, location)?.touched.as_ref()
    }

    /// From which channels a process that stands there can take a message.
    #[inline]
    pub fn takes(&self, kind: u16, location: u16) -> Channels {
        let stand = self.stand(kind, location);
        stand.map_or(Channels::NONE, |stand| stand.takes)
    }
}

/// The channels that an operation can take a message from.
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

/// Whether an operation is one half of a rendezvous, whatever the state is.
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

/// The bytes that an expression may mean among those that never change; nothing if it
/// means others.
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

/// The channels that an expression may name.
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
