//! Depth-first search: keeps only the current path besides the states.
//!
//! With a depth limit, all runs up to that length are explored. So a state that is
//! reached again by fewer steps is expanded again; its note is the least number of steps
//! so far.

use crate::breadth::Options;
use crate::report::{Cut, Finding, Report};
use crate::store::{Insertion, StateId, Store};
use crate::system::{Fault, Participants, System, Visitor};
use crate::trail::{Trail, fault_number};

/// Number of states expanded between two calls of `go_on`.
const STATES_BETWEEN_CALLS: u64 = 1 << 12;

/// A state on the current path.
struct Frame {
    state: Vec<u8>,
    next: std::vec::IntoIter<Vec<u8>>,
    /// Whether the steps from here are counted; false if they were counted before.
    counts: bool,
}

/// The successors of a state.
#[derive(Default)]
struct Found {
    states: Vec<Vec<u8>>,
    fault: Option<Fault>,
}

impl Visitor for Found {
    fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
        self.states.push(state.to_vec());
        true
    }

    fn fault(&mut self, fault: Fault) -> bool {
        self.fault.get_or_insert(fault);
        true
    }
}

struct Search<'a, S: System> {
    system: &'a S,
    options: &'a Options,
    scratch: S::Scratch,
    store: Store,
    path: Vec<Frame>,
    /// States at the depth limit that were not expanded.
    ends: Vec<StateId>,
    report: Report,
    searched: u64,
}

/// Searches all states depth-first.
pub(crate) fn depth_first<S: System>(
    system: &S,
    options: &Options,
    go_on: &mut dyn FnMut(u64, u64) -> bool,
) -> Report {
    let mut search = Search {
        system,
        options,
        scratch: system.scratch(),
        store: Store::new(options.states_max),
        path: Vec::new(),
        ends: Vec::new(),
        report: Report::empty(),
        searched: 0,
    };
    let mut found = Found::default();
    system.initial(&mut search.scratch, &mut found);
    if let Some(fault) = found.fault {
        search.report.finding = Some((Finding::Fault(fault), Trail::default()));
    }
    search.path.push(Frame {
        state: Vec::new(),
        next: found.states.into_iter(),
        counts: true,
    });
    search.all(go_on);
    if !search.is_over() && search.has_unexplored_states() {
        let limit = options.depth_max;
        search.report.cut = Some(Cut::Depth { limit });
    }
    search.report.states = search.store.len() as u64;
    search.report.memory_bytes = search.memory_bytes();
    search.report
}

impl<S: System> Search<'_, S> {
    fn is_over(&self) -> bool {
        self.report.cut.is_some() || self.report.finding.is_some() && !self.options.all
    }

    fn all(&mut self, go_on: &mut dyn FnMut(u64, u64) -> bool) {
        while !self.is_over() {
            let Some(frame) = self.path.last_mut() else {
                return;
            };
            let Some(state) = frame.next.next() else {
                self.path.pop();
                continue;
            };
            self.report.transitions += u64::from(frame.counts);
            match self.store.insert(&state) {
                Insertion::New(id) => self.enter(id, state, true, go_on),
                Insertion::Known(id) if self.is_nearer(id) => {
                    let counts = self.store.note(id) == self.options.depth_max;
                    self.enter(id, state, counts, go_on);
                }
                Insertion::Known(_) => {}
                Insertion::Full => {
                    self.report.cut = Some(Cut::States {
                        limit: self.options.states_max,
                    });
                }
            }
        }
    }

    /// Returns the depth of the next state. The first frame holds the initial states.
    fn depth(&self) -> u32 {
        self.path.len() as u32 - 1
    }

    /// Returns whether the current path to a known state is shorter than before, so that
    /// more states can be reached from it.
    fn is_nearer(&self, id: StateId) -> bool {
        self.options.depth_max != u32::MAX && self.depth() < self.store.note(id)
    }

    /// Returns whether some states are reachable only beyond the depth limit. If not, the
    /// steps from the last states are counted.
    fn has_unexplored_states(&mut self) -> bool {
        let mut ends = std::mem::take(&mut self.ends);
        ends.sort_unstable();
        ends.dedup();
        for id in ends {
            if self.store.note(id) < self.options.depth_max {
                continue;
            }
            let (state, mut found) = (self.store.get(id).to_vec(), Found::default());
            self.system
                .successors(&mut self.scratch, &state, &mut found);
            let is_new = |next: &Vec<u8>| self.store.find(next).is_none();
            if found.states.iter().any(is_new) {
                return true;
            }
            self.report.transitions += found.states.len() as u64;
        }
        false
    }

    fn memory_bytes(&self) -> u64 {
        let remembered = self.system.memory_bytes() + self.system.scratch_bytes(&self.scratch);
        self.store.memory_bytes() + remembered
    }

    fn check_limits(&mut self, go_on: &mut dyn FnMut(u64, u64) -> bool) {
        let known = self.store.len() as u64;
        if self.memory_bytes() > self.options.memory_bytes_max {
            self.report.cut = Some(Cut::Memory {
                limit: self.options.memory_bytes_max,
            });
        } else if !go_on(self.searched.min(known), known) {
            self.report.cut = Some(Cut::Interrupted);
        }
    }

    fn enter(
        &mut self,
        id: StateId,
        state: Vec<u8>,
        counts: bool,
        go_on: &mut dyn FnMut(u64, u64) -> bool,
    ) {
        if self.searched.is_multiple_of(STATES_BETWEEN_CALLS) {
            self.check_limits(go_on);
        }
        self.searched += 1;
        let depth = self.depth();
        self.store.set_note(id, depth);
        self.report.depth = self.report.depth.max(depth);
        let wrong = self.system.wrong(&mut self.scratch, &state);
        let mut found = Found::default();
        self.expand(&state, &mut found);
        let has_steps = !found.states.is_empty() || found.fault.is_some();
        let is_stuck =
            !has_steps && self.options.deadlocks && !self.system.may_end(&mut self.scratch, &state);
        let number = found
            .fault
            .as_ref()
            .and_then(|fault| fault_number(self.system, &state, fault));
        if depth >= self.options.depth_max && !found.states.is_empty() {
            self.ends.push(id);
            found.states.clear();
        }
        self.path.push(Frame {
            state,
            next: found.states.into_iter(),
            counts,
        });
        if let Some(fault) = wrong {
            self.tell(Finding::Fault(fault), None);
        }
        if let Some(fault) = found.fault {
            self.tell(Finding::Fault(fault), number);
        }
        if is_stuck {
            self.tell(Finding::Deadlock, None);
        }
    }

    fn expand(&mut self, state: &[u8], found: &mut Found) {
        if self.options.reduces && self.system.reduced(&mut self.scratch, state, found) {
            let is_new = |next: &Vec<u8>| self.store.find(next).is_none();
            if found.fault.is_some() || found.states.iter().any(is_new) {
                return;
            }
            *found = Found::default();
            self.system.successors(&mut self.scratch, state, found);
        } else if !self.options.reduces {
            self.system.successors(&mut self.scratch, state, found);
        }
    }

    fn tell(&mut self, finding: Finding, fault: Option<usize>) {
        if self.report.finding.is_none() {
            let states: Vec<Vec<u8>> = self
                .path
                .iter()
                .skip(1)
                .map(|frame| frame.state.clone())
                .collect();
            let trail = Trail::through(self.system, &states, fault);
            self.report.finding = Some((finding, trail));
        }
    }
}
