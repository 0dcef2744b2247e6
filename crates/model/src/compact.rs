//! Hash compaction: breadth-first search that stores an 8-byte hash for each state (P.
//! Wolper, D. Leroy, *Reliable Hashing without Collision Detection*, 1993).
//!
//! Two states with the same hash are treated as one, and the successors of the second are
//! missed. So a search without a finding is incomplete; a finding is real, since the path
//! to it is recomputed.

use crate::breadth::Options;
use crate::report::{Cut, Finding, Report};
use crate::store::hash;
use crate::system::{Fault, Participants, System, Visitor};
use crate::trail::{Trail, fault_number};

const EMPTY: u64 = 0;
/// Number of states expanded between two calls of `go_on`.
const STATES_BETWEEN_CALLS: u64 = 1 << 12;
/// Marks that an initial state has no predecessor.
const NO_PARENT: u32 = u32::MAX;

/// Hashes of the visited states, each with its predecessor.
struct Visited {
    /// Hash table of state numbers plus one; 0 is empty.
    table: Vec<u32>,
    hashes: Vec<u64>,
    parents: Vec<u32>,
}

impl Visited {
    fn new() -> Visited {
        Visited {
            table: vec![0; 1 << 10],
            hashes: Vec::new(),
            parents: Vec::new(),
        }
    }

    /// Inserts a hash. Returns whether it is new.
    fn insert(&mut self, hash: u64, parent: u32) -> bool {
        let mask = self.table.len() - 1;
        let mut place = hash as usize & mask;
        while let Some(known) = self.table[place].checked_sub(1) {
            if self.hashes.get(known as usize) == Some(&hash) {
                return false;
            }
            place = (place + 1) & mask;
        }
        self.hashes.push(hash);
        self.parents.push(parent);
        self.table[place] = self.hashes.len() as u32;
        if self.hashes.len() * 4 > self.table.len() * 3 {
            self.grow();
        }
        true
    }

    fn grow(&mut self) {
        let mut table = vec![0; self.table.len() * 2];
        let mask = table.len() - 1;
        for (number, hash) in self.hashes.iter().enumerate() {
            let mut place = *hash as usize & mask;
            while table[place] != 0 {
                place = (place + 1) & mask;
            }
            table[place] = number as u32 + 1;
        }
        self.table = table;
    }

    fn memory_bytes(&self) -> u64 {
        let words = self.table.capacity() + self.parents.capacity();
        (words * size_of::<u32>() + self.hashes.capacity() * size_of::<u64>()) as u64
    }
}

struct Search<'a> {
    visited: Visited,
    /// The states to expand next, one after the other.
    bytes: Vec<u8>,
    queue: Vec<(usize, u32)>,
    from: u32,
    successors: usize,
    transitions: u64,
    fault: Option<Fault>,
    full: bool,
    options: &'a Options,
}

impl Visitor for Search<'_> {
    fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
        self.successors += 1;
        // 0 marks an empty slot.
        let hash = hash(state).max(EMPTY + 1);
        if self.visited.hashes.len() as u32 >= self.options.states_max {
            self.full = true;
            return false;
        }
        self.transitions += 1;
        if self.visited.insert(hash, self.from) {
            let number = self.visited.hashes.len() as u32 - 1;
            self.bytes.extend_from_slice(state);
            self.queue.push((self.bytes.len(), number));
        }
        true
    }

    fn fault(&mut self, fault: Fault) -> bool {
        self.successors += 1;
        self.fault.get_or_insert(fault);
        self.options.all
    }
}

/// Searches all states by hash compaction.
pub(crate) fn compact<S: System>(
    system: &S,
    options: &Options,
    go_on: &mut dyn FnMut(u64, u64) -> bool,
) -> Report {
    let mut scratch = system.scratch();
    let mut report = Report::empty();
    let mut search = Search {
        visited: Visited::new(),
        bytes: Vec::new(),
        queue: Vec::new(),
        from: NO_PARENT,
        successors: 0,
        transitions: 0,
        fault: None,
        full: false,
        options,
    };
    system.initial(&mut scratch, &mut search);
    if let Some(fault) = search.fault.take() {
        report.finding = Some((Finding::Fault(fault), Trail::default()));
    }
    let mut searched = 0;
    while !search.queue.is_empty() && report.cut.is_none() {
        let layer = std::mem::take(&mut search.queue);
        let bytes = std::mem::take(&mut search.bytes);
        let mut start = 0;
        for (end, number) in layer {
            let state = bytes.get(start..end).unwrap_or(&[]);
            start = end;
            if report.finding.is_some() && !options.all || report.cut.is_some() {
                break;
            }
            if searched % STATES_BETWEEN_CALLS == 0 {
                let remembered = system.memory_bytes() + system.scratch_bytes(&scratch);
                report.cut = ask(&search, remembered, searched, go_on);
            }
            searched += 1;
            search.from = number;
            search.successors = 0;
            if let Some(fault) = system.wrong(&mut scratch, state) {
                tell(
                    system,
                    &search.visited,
                    number,
                    (Finding::Fault(fault), None),
                    &mut report,
                );
            }
            system.successors(&mut scratch, state, &mut search);
            if let Some(fault) = search.fault.take() {
                let step = fault_number(system, state, &fault);
                tell(
                    system,
                    &search.visited,
                    number,
                    (Finding::Fault(fault), step),
                    &mut report,
                );
            }
            if search.successors == 0 && options.deadlocks && !system.may_end(&mut scratch, state) {
                tell(
                    system,
                    &search.visited,
                    number,
                    (Finding::Deadlock, None),
                    &mut report,
                );
            }
        }
        if report.finding.is_some() && !options.all {
            break;
        }
        if search.full {
            report.cut = Some(Cut::States {
                limit: options.states_max,
            });
        } else if !search.queue.is_empty() {
            if report.depth >= options.depth_max {
                report.cut = Some(Cut::Depth {
                    limit: options.depth_max,
                });
            } else {
                report.depth += 1;
            }
        }
    }
    if report.finding.is_none() {
        report.cut = report.cut.or(Some(Cut::Hashes));
    }
    report.states = search.visited.hashes.len() as u64;
    report.transitions = search.transitions;
    report.memory_bytes = search.visited.memory_bytes();
    report
}

fn ask(
    search: &Search<'_>,
    remembered: u64,
    searched: u64,
    go_on: &mut dyn FnMut(u64, u64) -> bool,
) -> Option<Cut> {
    let limit = search.options.memory_bytes_max;
    if search.visited.memory_bytes() + remembered > limit {
        return Some(Cut::Memory { limit });
    }
    let known = search.visited.hashes.len() as u64;
    (!go_on(searched, known)).then_some(Cut::Interrupted)
}

fn tell<S: System>(
    system: &S,
    visited: &Visited,
    number: u32,
    (finding, step): (Finding, Option<usize>),
    report: &mut Report,
) {
    if report.finding.is_some() {
        return;
    }
    let mut path = Vec::new();
    let mut here = number;
    while let Some(hash) = visited.hashes.get(here as usize) {
        path.push(*hash);
        here = visited
            .parents
            .get(here as usize)
            .copied()
            .unwrap_or(NO_PARENT);
    }
    path.reverse();
    let states = recompute(system, &path);
    report.finding = Some((finding, Trail::through(system, &states, step)));
}

/// Recomputes the states with these hashes, one after the other.
fn recompute<S: System>(system: &S, path: &[u64]) -> Vec<Vec<u8>> {
    struct Finder {
        wanted: u64,
        found: Option<Vec<u8>>,
    }
    impl Visitor for Finder {
        fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
            if hash(state).max(EMPTY + 1) == self.wanted {
                self.found = Some(state.to_vec());
            }
            self.found.is_none()
        }
        fn fault(&mut self, _fault: Fault) -> bool {
            true
        }
    }
    let mut scratch = system.scratch();
    let mut states: Vec<Vec<u8>> = Vec::new();
    for wanted in path {
        let mut finder = Finder {
            wanted: *wanted,
            found: None,
        };
        match states.last() {
            None => system.initial(&mut scratch, &mut finder),
            Some(state) => system.successors(&mut scratch, state, &mut finder),
        }
        match finder.found {
            Some(state) => states.push(state),
            None => break,
        }
    }
    states
}
