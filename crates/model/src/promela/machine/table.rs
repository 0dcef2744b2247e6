//! The transitions of all processes in one table, with what is known of them before
//! anything runs.
//!
//! Where a process stands is a range of the table. Most of what a search does is to
//! find that a transition is not possible, so it is worth knowing which channels it
//! could take a message from: who sends a message asks only those who could mean
//! its channel.

use crate::promela::program::{
    Beginning, Cell, Code, Field, Node, Operation, Place, Program, Reception, Scope, Transition,
};

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
}

/// Where a process may stand.
#[derive(Debug, Clone, Copy)]
struct Stand {
    start: u32,
    end: u32,
    takes: Channels,
}

/// Where processes may stand, kind by kind.
#[derive(Debug, Default)]
pub(in crate::promela) struct Table {
    /// By kind: its first stand.
    kinds: Vec<u32>,
    stands: Vec<Stand>,
    ways: Vec<Way>,
}

impl Table {
    pub fn new(program: &Program) -> Table {
        let known = Known::new(program);
        let mut table = Table::default();
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
                    let own = known.taken_by(kind.locations.as_slice(), &operation);
                    takes = takes.with(own);
                    table.ways.push(Way {
                        transition: *transition,
                        operation,
                        takes: own,
                    });
                }
                let end = table.ways.len() as u32;
                table.stands.push(Stand { start, end, takes });
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

    /// From which channels a process that stands there can take a message.
    #[inline]
    pub fn takes(&self, kind: u16, location: u16) -> Channels {
        let stand = self.stand(kind, location);
        stand.map_or(Channels::NONE, |stand| stand.takes)
    }
}

/// What variables name which channels, as far as that never changes.
struct Known<'a> {
    program: &'a Program,
    /// Where in the state there are variables that name one from the beginning.
    numbers: Vec<(u32, i32)>,
    /// Which ranges of the state may get another channel.
    written: Vec<(u32, u32)>,
}

impl<'a> Known<'a> {
    fn new(program: &'a Program) -> Known<'a> {
        let mut known = Known {
            program,
            numbers: Vec::new(),
            written: Vec::new(),
        };
        let mut number = 0;
        for beginning in &program.global_beginnings {
            match beginning {
                Beginning::Channel(cell, _) => {
                    number += 1;
                    known.numbers.push((cell.offset, number));
                }
                Beginning::Value(cell, _) => known.write(cell, cell.offset),
            }
        }
        for instruction in &program.instructions {
            match &instruction.operation {
                Operation::Assign(place, _) => known.place(place),
                Operation::Receive(reception) => known.reception(reception),
                Operation::Run { into, .. } => {
                    into.iter().for_each(|(place, _)| known.place(place));
                }
                _ => {}
            }
        }
        known
    }

    fn reception(&mut self, reception: &Reception) {
        for field in &reception.fields {
            if let Field::Into(place) = field {
                self.place(place);
            }
        }
    }

    fn place(&mut self, place: &Place) {
        if place.scope == Scope::Global && !place.is_nowhere {
            self.write(&place.cell, last(place));
        }
    }

    fn write(&mut self, cell: &Cell, last: u32) {
        self.written
            .push((cell.offset, last + cell.scalar.kept.size()));
    }

    /// The channels that an operation can take a message from.
    fn taken_by(
        &self,
        locations: &[crate::promela::program::Location],
        operation: &Operation,
    ) -> Channels {
        match operation {
            Operation::Receive(reception) => self.named_by(reception.channel),
            Operation::Sequence(start) => {
                let first = locations.get(*start as usize);
                let first = first.and_then(|location| location.transitions.first());
                let first = first.and_then(|transition| self.program.instruction(transition));
                match first.map(|instruction| &instruction.operation) {
                    Some(Operation::Receive(reception)) => self.named_by(reception.channel),
                    _ => Channels::NONE,
                }
            }
            _ => Channels::NONE,
        }
    }

    /// The channels that an expression may name.
    fn named_by(&self, code: Code) -> Channels {
        let (cell, end) = match self.program.node(code) {
            Node::Global(cell) => (cell, cell.offset),
            Node::Indexed(place) if place.scope == Scope::Global => (&place.cell, last(place)),
            _ => return Channels::ANY,
        };
        let (start, end) = (cell.offset, end + cell.scalar.kept.size());
        let is_written = |(from, to): &(u32, u32)| *from < end && start < *to;
        if self.written.iter().any(is_written) {
            return Channels::ANY;
        }
        let inside = |(at, _): &&(u32, i32)| (start..end).contains(at);
        let named = self.numbers.iter().filter(inside);
        named.fold(Channels::NONE, |all, (_, number)| {
            all.with(Channels::one(*number))
        })
    }
}

/// Where the last value that a place can mean begins.
fn last(place: &Place) -> u32 {
    let indices = place.indices.iter();
    let furthest = indices.map(|index| index.length.saturating_sub(1) * index.stride);
    place.cell.offset + furthest.sum::<u32>()
}
