//! Breadth-first search: visits all states; finds shortest counterexamples.
//!
//! The store holds the states in the order of discovery, so it is the queue. The path to
//! a state is kept as a link to its predecessor. Successors are inserted in batches.

use crate::cache_padded::buffer;
use crate::report::{Cut, Finding, Report};
use crate::store::{BATCH, Batch, StateId, Store, hash};
use crate::system::{Fault, Participants, System, Visitor};
use crate::trail::{Trail, fault_number};

/// The goals and limits of a search.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Maximum number of states.
    pub states_max: u32,
    /// Maximum number of steps from an initial state.
    pub depth_max: u32,
    /// Maximum size of the states in bytes.
    pub memory_bytes_max: u64,
    /// Report deadlocks: states without successors that are not valid end states.
    pub deadlocks: bool,
    /// Continue after an error; the first one is reported.
    pub all: bool,
    /// Use partial-order reduction ([`System::reduced`]), if the search supports it.
    pub reduces: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            states_max: u32::MAX,
            depth_max: u32::MAX,
            memory_bytes_max: u64::MAX,
            deadlocks: true,
            all: false,
            reduces: false,
        }
    }
}

/// Searches all states breadth-first. `go_on` is called from time to time with the number
/// of expanded and of known states; the search stops if it returns false.
pub fn breadth_first<S: System>(
    system: &S,
    options: &Options,
    go_on: &mut dyn FnMut(u64, u64) -> bool,
) -> Report {
    let mut search = Search {
        store: Store::new(options.states_max),
        batch: Batch::default(),
        from: NO_PARENT,
        successors: 0,
        transitions: 0,
        fault: None,
        full: false,
        all: options.all,
    };
    let mut scratch = system.scratch();
    system.initial(&mut scratch, &mut search);
    let mut run = Run {
        system,
        options,
        scratch,
        finding: search
            .fault
            .take()
            .map(|fault| (Finding::Fault(fault), Trail::default())),
        cut: None,
        depth: 0,
    };
    run.all(&mut search, go_on);
    // States found before the search stopped count as known.
    search.flush();
    Report {
        memory_bytes: run.memory_bytes(&search),
        finding: run.finding,
        cut: run.cut,
        states: search.store.len() as u64,
        transitions: search.transitions,
        depth: run.depth,
    }
}

/// Number of states expanded between two calls of `go_on`.
const STATES_BETWEEN_CALLS: usize = 1 << 12;
/// Number of states expanded between two checks of the memory limit; a state may have
/// many successors.
const STATES_BETWEEN_MEMORY_CHECKS: usize = 1 << 6;

/// The control of the search: the next state to expand, and the results so far.
struct Run<'a, S: System> {
    system: &'a S,
    options: &'a Options,
    scratch: S::Scratch,
    finding: Option<(Finding, Trail)>,
    cut: Option<Cut>,
    depth: u32,
}

impl<S: System> Run<'_, S> {
    fn all(&mut self, search: &mut Search, go_on: &mut dyn FnMut(u64, u64) -> bool) {
        search.flush();
        let (mut state, mut before) = (Vec::new(), Predecessor::none());
        let mut searched = 0_usize;
        let mut next = search.store.first();
        let mut layer_end = search.store.end();
        while !self.is_over() {
            if next == layer_end {
                search.flush();
                self.note_full(search);
                layer_end = search.store.end();
                if next == layer_end || self.is_over() {
                    return;
                }
                // At the depth limit all states of the last layer have been checked.
                if self.depth >= self.options.depth_max {
                    let limit = self.options.depth_max;
                    self.cut = Some(Cut::Depth { limit });
                    return;
                }
                self.depth += 1;
            }
            if searched.is_multiple_of(STATES_BETWEEN_MEMORY_CHECKS) {
                self.check_limits(search, searched, go_on);
            }
            state.clear();
            state.extend_from_slice(search.store.get(next));
            before.load(search.store.note(next), |id, bytes| {
                bytes.clear();
                bytes.extend_from_slice(search.store.get(id));
            });
            self.expand(search, next, &state, &before.state);
            next = search.store.after(next);
            searched += 1;
        }
    }

    fn is_over(&self) -> bool {
        self.cut.is_some() || self.finding.is_some() && !self.options.all
    }

    fn memory_bytes(&self, search: &Search) -> u64 {
        let remembered = self.system.memory_bytes() + self.system.scratch_bytes(&self.scratch);
        search.store.memory_bytes() + remembered
    }

    fn check_limits(
        &mut self,
        search: &Search,
        searched: usize,
        go_on: &mut dyn FnMut(u64, u64) -> bool,
    ) {
        if self.memory_bytes(search) > self.options.memory_bytes_max {
            self.cut = Some(Cut::Memory {
                limit: self.options.memory_bytes_max,
            });
        } else if searched.is_multiple_of(STATES_BETWEEN_CALLS)
            && !go_on(searched as u64, search.store.len() as u64)
        {
            self.cut = Some(Cut::Interrupted);
        }
    }

    fn expand(&mut self, search: &mut Search, id: StateId, state: &[u8], before: &[u8]) {
        if let Some(fault) = self.system.wrong(&mut self.scratch, state) {
            self.report(search, id, Finding::Fault(fault), None);
            if self.is_over() {
                return;
            }
        }
        search.from = id.0;
        search.successors = 0;
        self.successors(search, state, before);
        if let Some(fault) = search.fault.take() {
            let number = fault_number(self.system, state, &fault);
            self.report(search, id, Finding::Fault(fault), number);
        }
        if search.successors == 0
            && self.options.deadlocks
            && !self.system.may_end(&mut self.scratch, state)
        {
            self.report(search, id, Finding::Deadlock, None);
        }
        self.note_full(search);
    }

    fn note_full(&mut self, search: &Search) {
        if search.full {
            self.cut = Some(Cut::States {
                limit: self.options.states_max,
            });
        }
    }

    /// Generates all successors, or a reduced set. A reduced set suffices only if one of
    /// its states is new: then a fully expanded state is found later on the path, and no
    /// step is postponed forever.
    fn successors(&mut self, search: &mut Search, state: &[u8], before: &[u8]) {
        let scratch = &mut self.scratch;
        if !self.options.reduces {
            // After a fault, the argument of `successors_after` does not hold.
            return if self.options.all || before.is_empty() {
                self.system.successors(scratch, state, search)
            } else {
                self.system.successors_after(scratch, before, state, search)
            };
        }
        search.flush();
        let known = search.store.len();
        let is_part = self.system.reduced(&mut self.scratch, state, search);
        search.flush();
        let suffices = search.store.len() > known || search.fault.is_some() || search.full;
        if is_part && !suffices {
            search.successors = 0;
            self.system.successors(&mut self.scratch, state, search);
        }
    }

    fn report(&mut self, search: &Search, id: StateId, finding: Finding, fault: Option<usize>) {
        if self.finding.is_none() {
            let states = search.path_to(id);
            let trail = Trail::through(self.system, &states, fault);
            self.finding = Some((finding, trail));
        }
    }
}

/// The predecessor of the state that is expanded; empty if there is none.
pub(crate) struct Predecessor {
    note: u32,
    pub state: Vec<u8>,
}

impl Predecessor {
    /// Returns no predecessor.
    pub fn none() -> Predecessor {
        Predecessor {
            note: NO_PARENT,
            state: buffer(),
        }
    }

    /// Sets the predecessor to the state of this note. The state is read only if it
    /// changes: states found together are expanded together.
    #[inline]
    pub fn load(&mut self, note: u32, read: impl FnOnce(StateId, &mut Vec<u8>)) {
        if note != self.note {
            self.note = note;
            read(StateId(note), &mut self.state);
        }
    }
}

/// Marks that an initial state has no predecessor.
const NO_PARENT: u32 = 0;

/// Collects the successors.
struct Search {
    /// The note of a state is its predecessor on the path.
    store: Store,
    /// States that were found and are not in the store yet.
    batch: Batch,
    /// The state being expanded.
    from: u32,
    /// Number of successors of the state being expanded, faults included.
    successors: usize,
    transitions: u64,
    /// The first faulty step.
    fault: Option<Fault>,
    full: bool,
    all: bool,
}

impl Search {
    /// Returns the states on the path to a state, including it.
    fn path_to(&self, id: StateId) -> Vec<Vec<u8>> {
        let mut states = vec![self.store.get(id).to_vec()];
        let mut parent = self.store.note(id);
        while parent != NO_PARENT {
            states.push(self.store.get(StateId(parent)).to_vec());
            parent = self.store.note(StateId(parent));
        }
        states.reverse();
        states
    }

    /// Inserts the batch into the store.
    fn flush(&mut self) {
        if !self.batch.is_empty() {
            self.full |= !self.store.take(&mut self.batch);
        }
    }
}

impl Visitor for Search {
    fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
        self.successors += 1;
        self.transitions += 1;
        if self.batch.push(state, hash(state), self.from) == BATCH {
            self.flush();
        }
        !self.full
    }

    fn known(&mut self) -> bool {
        self.successors += 1;
        self.transitions += 1;
        !self.full
    }

    fn fault(&mut self, fault: Fault) -> bool {
        self.successors += 1;
        self.fault.get_or_insert(fault);
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Toy;
    use crate::{Verdict, system::Step};

    fn search(toy: &Toy, options: Options) -> Report {
        breadth_first(toy, &options, &mut |_, _| true)
    }

    #[test]
    fn all_states_are_counted_once() {
        let report = search(&Toy::ring(100), Options::default());
        assert_eq!(report.verdict(), Verdict::Holds);
        // Every number has two successors, and the initial state counts as one arrival.
        assert_eq!((report.states, report.transitions), (100, 201));
        assert_eq!(report.depth, 50);
        assert!(report.memory_bytes > 0);
    }

    #[test]
    fn the_way_to_a_deadlock_is_the_shortest() {
        let toy = Toy {
            stuck: Some(7),
            ..Toy::ring(20)
        };
        let report = search(&toy, Options::default());
        // States that were found before the search stopped are counted.
        assert_eq!((report.states, report.transitions), (15, 27));
        let (finding, trail) = report.finding.unwrap();
        assert_eq!(finding, Finding::Deadlock);
        let texts: Vec<&str> = trail.steps().map(|step: &Step| &*step.text).collect();
        assert_eq!(texts, ["up"; 7]);
        assert_eq!(trail.end.as_deref(), Some(&7_u32.to_le_bytes()[..]));
        let ends = Toy { ends: true, ..toy };
        assert_eq!(search(&ends, Options::default()).verdict(), Verdict::Holds);
    }

    #[test]
    fn a_step_that_goes_wrong_is_the_last_of_its_trail() {
        let toy = Toy {
            fault: Some(17),
            ..Toy::ring(20)
        };
        let report = search(&toy, Options::default());
        let (finding, trail) = report.finding.unwrap();
        assert!(matches!(finding, Finding::Fault(fault) if fault.code == "toy"));
        assert_eq!(trail.moves.len(), 3);
        assert_eq!(trail.end, None);
        let all = Options {
            all: true,
            ..Options::default()
        };
        assert_eq!(search(&toy, all).states, 19);
    }

    #[test]
    fn an_incomplete_search_does_not_hold() {
        let check = |options: Options, cut: Cut| {
            let report = search(&Toy::ring(1000), options);
            assert_eq!(
                (report.verdict(), report.cut),
                (Verdict::Incomplete, Some(cut))
            );
        };
        let options = Options::default();
        check(
            Options {
                states_max: 999,
                ..options
            },
            Cut::States { limit: 999 },
        );
        check(
            Options {
                depth_max: 499,
                ..options
            },
            Cut::Depth { limit: 499 },
        );
        check(
            Options {
                memory_bytes_max: 10,
                ..options
            },
            Cut::Memory { limit: 10 },
        );
        let exact = Options {
            states_max: 1000,
            depth_max: 500,
            ..options
        };
        assert_eq!(search(&Toy::ring(1000), exact).verdict(), Verdict::Holds);
        let interrupted = breadth_first(&Toy::ring(9), &options, &mut |_, _| false);
        assert_eq!(interrupted.cut, Some(Cut::Interrupted));
    }
}
