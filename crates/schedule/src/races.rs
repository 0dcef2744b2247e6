//! Accesses of two threads that nothing orders: data races by happens-before.
//!
//! After C. Flanagan, S. Freund, *FastTrack* (PLDI 2009): of an access an *epoch* is kept, its
//! thread and the thread's count. As an access may touch a part of a cell of 8 bytes, and reads
//! of several threads do not order one another, a cell has a few records, as in
//! ThreadSanitizer; when they are full the oldest is forgotten. So a race may be missed, and none
//! is told that is not one. A race is shown to a user when both orders have been run
//! ([`Race::goals`]).

use crate::clock::{Clock, Clocks};
use crate::strategy::{Goal, Place};
use crate::terms::{Access, AccessKind, ThreadPath};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// An access, as it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RacingAccess {
    /// The thread.
    pub thread: ThreadPath,
    /// The address of the instruction.
    pub site: u64,
    /// Whether it writes.
    pub is_write: bool,
}

/// Two accesses that nothing orders, of which one writes at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Race {
    /// The first byte of the cell of 8 bytes.
    pub cell: u64,
    /// The access that came first in this run.
    pub first: RacingAccess,
    /// The other one.
    pub second: RacingAccess,
}

impl Race {
    /// Returns the goals that both stand before their accesses, and one of them goes first.
    pub fn goals(&self) -> [Goal; 2] {
        let place = |access: &RacingAccess| Place {
            thread: Some(access.thread),
            site: access.site,
            object: None,
        };
        [0, 1].map(|first| Goal {
            places: vec![place(&self.first), place(&self.second)],
            first: Some(first),
        })
    }
}

/// The last accesses of a cell, the oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Record {
    thread: usize,
    count: u32,
    /// The bytes, a bit for each.
    bytes: u8,
    is_write: bool,
    is_atomic: bool,
    site: u64,
}

impl Record {
    /// Returns true if another record of the same thread says all that this one says.
    fn is_covered_by(&self, other: &Record) -> bool {
        self.thread == other.thread
            && self.bytes & !other.bytes == 0
            && (other.is_write || !self.is_write)
            && (self.is_atomic || !other.is_atomic)
    }

    fn races_with(&self, other: &Record) -> bool {
        self.thread != other.thread
            && self.bytes & other.bytes != 0
            && (self.is_write || other.is_write)
            && !(self.is_atomic && other.is_atomic)
    }
}

/// The records of a cell.
const RECORDS_MAX: usize = 4;
/// The cells of an access that are looked at.
const ACCESS_CELLS_MAX: u64 = 64;
/// The races that are kept.
const RACES_MAX: usize = 256;

/// The accesses of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Races {
    clocks: Clocks,
    /// What comes before who takes a lock, or reads an atomic word next.
    objects: BTreeMap<u64, Clock>,
    cells: BTreeMap<u64, Vec<Record>>,
    cells_max: usize,
    races: Vec<Race>,
    is_cut: bool,
}

impl Races {
    /// Returns the analysis of a run that has not begun, which keeps so many cells.
    pub fn new(cells_max: usize) -> Races {
        Races {
            clocks: Clocks::default(),
            objects: BTreeMap::new(),
            cells: BTreeMap::new(),
            cells_max,
            races: Vec::new(),
            is_cut: false,
        }
    }

    /// A thread starts another one.
    pub fn started(&mut self, parent: ThreadPath, child: ThreadPath) {
        self.clocks.start(parent, child);
    }

    /// A thread has seen that another one has ended.
    pub fn joined(&mut self, joiner: ThreadPath, ended: ThreadPath) {
        self.clocks.end(joiner, ended);
    }

    /// A thread learns what was released at an object: it takes a lock.
    pub fn acquires(&mut self, path: ThreadPath, object: u64) {
        let number = self.clocks.number(path);
        if let Some(clock) = self.objects.get(&object) {
            self.clocks.join(number, clock);
        }
    }

    /// Who acquires the object next learns what the thread did: it drops a lock.
    pub fn releases(&mut self, path: ThreadPath, object: u64) {
        let number = self.clocks.number(path);
        let clock = self.clocks.clock(number);
        if self.objects.len() < self.cells_max || self.objects.contains_key(&object) {
            self.objects.entry(object).or_default().join(&clock);
            self.clocks.advance(number);
        } else {
            // An order that is forgotten would make a race of what is none.
            self.is_cut = true;
            self.cells.clear();
            self.cells_max = 0;
        }
    }

    /// A thread accesses memory. An atomic access orders what comes before and after it, and
    /// does not race with another one.
    pub fn access(&mut self, (path, site): (ThreadPath, u64), access: Access, is_atomic: bool) {
        let number = self.clocks.number(path);
        if is_atomic {
            self.acquires(path, access.address & !7);
        }
        let end = access.address.saturating_add(u64::from(access.length));
        let mut cell = access.address & !7;
        let mut left = ACCESS_CELLS_MAX;
        while cell < end && left != 0 {
            let record = Record {
                thread: number,
                count: self.clocks.now(number),
                bytes: bytes_within(cell, access.address, end),
                is_write: access.kind != AccessKind::Read,
                is_atomic,
                site,
            };
            self.note(cell, record);
            left -= 1;
            match cell.checked_add(8) {
                Some(next) => cell = next,
                None => break,
            }
        }
        self.is_cut |= cell < end && left == 0;
        if is_atomic {
            self.releases(path, access.address & !7);
        }
    }

    fn note(&mut self, cell: u64, record: Record) {
        if self.cells.len() >= self.cells_max && !self.cells.contains_key(&cell) {
            self.is_cut = true;
            return;
        }
        let records = self.cells.entry(cell).or_default();
        let is_known = |known: &Record| known.count == record.count && record.is_covered_by(known);
        if records.iter().any(is_known) {
            return;
        }
        for before in records.iter() {
            let is_ordered = self
                .clocks
                .is_before((before.thread, before.count), record.thread);
            if is_ordered || !before.races_with(&record) {
                continue;
            }
            let told = |record: &Record| RacingAccess {
                thread: self.clocks.path(record.thread),
                site: record.site,
                is_write: record.is_write,
            };
            let race = Race {
                cell,
                first: told(before),
                second: told(&record),
            };
            let is_same = |known: &Race| {
                (known.first, known.second) == (race.first, race.second)
                    || (known.first, known.second) == (race.second, race.first)
            };
            if self.races.len() < RACES_MAX && !self.races.iter().any(is_same) {
                self.races.push(race);
            }
        }
        records.retain(|known| !known.is_covered_by(&record));
        if records.len() == RECORDS_MAX {
            records.remove(0);
        }
        records.push(record);
    }

    /// Returns the races so far.
    pub fn races(&self) -> &[Race] {
        &self.races
    }

    /// Returns true if there was more than is kept.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

/// Returns the bytes of a cell between two addresses, a bit for each.
fn bytes_within(cell: u64, begin: u64, end: u64) -> u8 {
    let first = begin.saturating_sub(cell).min(8);
    let behind = end.saturating_sub(cell).min(8);
    let below = |count: u64| (1_u16 << count) - 1;
    (below(behind) & !below(first)) as u8
}
