//! A system that caches its successors.
//!
//! If several searches run over a system whose successors are expensive to compute, they
//! are computed once. The cache has a size limit; successors of states beyond it are
//! computed each time.

use crate::system::{Change, Fault, Participants, Step, System, Visitor};
use juror_logic::Letter;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum size of the cache in bytes.
const BYTES_MAX: usize = 64 << 20;
/// Overhead of a cached state in bytes.
const ENTRY_BYTES: usize = 96;

/// A system with a cache of successors.
#[derive(Debug)]
pub struct CachedSystem<'a, S> {
    system: &'a S,
    known: Mutex<Known>,
    bytes_max: usize,
}

/// The cache: successors by state.
#[derive(Debug, Default)]
struct Known {
    successors: FxHashMap<Box<[u8]>, Arc<Successors>>,
    bytes: usize,
}

/// Successor states one after the other, each with its end and its participants.
#[derive(Debug, Default)]
struct Successors {
    bytes: Vec<u8>,
    ends: Vec<(usize, Participants)>,
}

impl<'a, S> CachedSystem<'a, S> {
    /// Returns a system with an empty cache of at most a quarter of the memory that a
    /// search may use.
    pub fn new(system: &'a S, memory_bytes_max: u64) -> CachedSystem<'a, S> {
        let part = usize::try_from(memory_bytes_max / 4).unwrap_or(usize::MAX);
        CachedSystem {
            system,
            known: Mutex::default(),
            bytes_max: BYTES_MAX.min(part),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // No operation leaves the cache half updated.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, state: &[u8], found: Successors) {
        let ends = size_of_val(&found.ends[..]);
        let bytes = ENTRY_BYTES + state.len() + found.bytes.len() + ends;
        let mut known = self.known();
        if known.bytes + bytes <= self.bytes_max {
            known.bytes += bytes;
            known.successors.insert(state.into(), Arc::new(found));
        }
    }
}

/// Forwards successors to a visitor and records them.
struct Keeper<'v, V> {
    visitor: &'v mut V,
    found: Successors,
    /// Whether all successors were states, and the visitor wanted all of them.
    is_whole: bool,
}

impl<V: Visitor> Visitor for Keeper<'_, V> {
    fn next(&mut self, state: &[u8], participants: Participants) -> bool {
        self.found.bytes.extend_from_slice(state);
        let end = self.found.bytes.len();
        self.found.ends.push((end, participants));
        let more = self.visitor.next(state, participants);
        self.is_whole &= more;
        more
    }

    fn fault(&mut self, fault: Fault) -> bool {
        self.is_whole = false;
        self.visitor.fault(fault)
    }
}

impl<S: System> System for CachedSystem<'_, S> {
    type Scratch = S::Scratch;

    fn scratch(&self) -> S::Scratch {
        self.system.scratch()
    }

    fn memory_bytes(&self) -> u64 {
        self.system.memory_bytes() + self.known().bytes as u64
    }

    fn scratch_bytes(&self, scratch: &S::Scratch) -> u64 {
        self.system.scratch_bytes(scratch)
    }

    fn initial(&self, scratch: &mut S::Scratch, visitor: &mut impl Visitor) {
        self.system.initial(scratch, visitor);
    }

    fn successors(&self, scratch: &mut S::Scratch, state: &[u8], visitor: &mut impl Visitor) {
        let known = self.known().successors.get(state).map(Arc::clone);
        if let Some(known) = known {
            let mut start = 0;
            for (end, participants) in &known.ends {
                let next = known.bytes.get(start..*end).unwrap_or(&[]);
                start = *end;
                if !visitor.next(next, *participants) {
                    return;
                }
            }
            return;
        }
        let mut keeper = Keeper {
            visitor,
            found: Successors::default(),
            is_whole: true,
        };
        self.system.successors(scratch, state, &mut keeper);
        if keeper.is_whole {
            self.keep(state, keeper.found);
        }
    }

    fn reduced(&self, scratch: &mut S::Scratch, state: &[u8], visitor: &mut impl Visitor) -> bool {
        self.system.reduced(scratch, state, visitor)
    }

    fn may_end(&self, scratch: &mut S::Scratch, state: &[u8]) -> bool {
        self.system.may_end(scratch, state)
    }

    fn wrong(&self, scratch: &mut S::Scratch, state: &[u8]) -> Option<Fault> {
        self.system.wrong(scratch, state)
    }

    fn letter(&self, scratch: &mut S::Scratch, state: &[u8]) -> Result<Letter, Fault> {
        self.system.letter(scratch, state)
    }

    fn steps(&self, state: &[u8], number: usize) -> Vec<Step> {
        self.system.steps(state, number)
    }

    fn actors(&self, state: &[u8]) -> Vec<String> {
        self.system.actors(state)
    }

    fn values(&self, state: &[u8]) -> Vec<Change> {
        self.system.values(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Toy;
    use crate::{Cut, Options, Report, Search, search};

    fn run<S: System>(system: &S, kind: Search) -> Report {
        search(system, kind, &Options::default(), &mut |_, _| true)
    }

    #[test]
    fn the_cache_changes_nothing() {
        let toys = [
            Toy::ring(3000),
            Toy {
                stuck: Some(70),
                ..Toy::ring(100)
            },
            Toy {
                fault: Some(30),
                ..Toy::ring(100)
            },
        ];
        for toy in &toys {
            for bytes_max in [0, 10_000, BYTES_MAX] {
                let remembered = CachedSystem {
                    bytes_max,
                    ..CachedSystem::new(toy, u64::MAX)
                };
                for kind in [
                    Search::Breadth,
                    Search::Breadth,
                    Search::Parallel(2),
                    Search::Depth,
                ] {
                    let (known, new) = (run(&remembered, kind), run(toy, kind));
                    assert_eq!(known.finding, new.finding, "{kind:?}");
                    if new.finding.is_none() {
                        let counts = |it: &Report| (it.states, it.transitions, it.depth);
                        assert_eq!(counts(&known), counts(&new), "{kind:?}");
                    }
                }
                assert!(remembered.known().bytes <= bytes_max);
                assert_eq!(remembered.memory_bytes(), remembered.known().bytes as u64);
            }
        }
    }

    #[test]
    fn the_cache_counts_as_memory_of_the_search() {
        let toy = Toy::ring(10_000);
        let memory_bytes_max = 700_000;
        let options = Options {
            memory_bytes_max,
            ..Options::default()
        };
        for kind in [Search::Breadth, Search::Depth, Search::Parallel(2)] {
            let run = |remembered: &CachedSystem<'_, Toy>| {
                search(remembered, kind, &options, &mut |_, _| true)
            };
            let nothing = CachedSystem::new(&toy, 0);
            assert_eq!(run(&nothing).cut, None, "{kind:?}");
            let all = CachedSystem::new(&toy, u64::MAX);
            let limit = memory_bytes_max;
            assert_eq!(run(&all).cut, Some(Cut::Memory { limit }), "{kind:?}");
            let some = CachedSystem::new(&toy, memory_bytes_max / 8);
            let report = run(&some);
            assert_eq!(report.cut, None, "{kind:?}");
            assert!(report.memory_bytes > run(&nothing).memory_bytes);
        }
    }
}
