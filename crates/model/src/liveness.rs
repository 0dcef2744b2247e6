//! Liveness: search for accepting infinite runs.
//!
//! The search is Couvreur's (*On-the-fly Verification of Linear Temporal Logic*, 1999):
//! it computes the strongly connected components of the product on the fly, with the
//! acceptance sets of each, and stops at the first component that has all of them. It
//! handles any number of sets, so fairness needs no counters and no copies of the states.
//!
//! If the formula is stutter-invariant, a reduced set of successors ([`System::reduced`])
//! suffices if none of them is known: then every cycle contains a fully expanded state.
//!
//! The counterexample is then a shortest path to that component, and a cycle within it
//! through all sets.

use crate::automaton::Automaton;
use crate::breadth::Options;
use crate::product::{Accepts, Expanded, Product, ProductEdge, split};
use crate::report::{Cut, Finding, Report};
use crate::store::{Insertion, StateId, Store};
use crate::system::System;
use crate::trail::Trail;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Searches for a run that the automaton accepts. With [`Options::reduces`] the automaton
/// must be stutter-invariant; with fairness nothing is reduced.
pub fn accepting_run<S: System>(
    system: &S,
    automaton: &Automaton,
    fair: bool,
    message: &str,
    options: &Options,
    go_on: &mut dyn FnMut(u64, u64) -> bool,
) -> Report {
    let product = Product {
        system,
        automaton,
        fair,
        scratch: system.scratch(),
    };
    let mut search = Search {
        product,
        options,
        message,
        store: Store::new(options.states_max),
        open: Vec::new(),
        roots: Vec::new(),
        path: Vec::new(),
        transitions: 0,
        depth: 0,
        cut: None,
        finding: None,
    };
    search.run(go_on);
    Report {
        states: search.store.len() as u64,
        transitions: search.transitions,
        depth: search.depth,
        memory_bytes: search.memory_bytes(),
        finding: search.finding,
        cut: search.cut,
    }
}

/// A strongly connected component that is not complete yet.
struct Root {
    /// Number of its first state.
    number: u32,
    /// Acceptance sets of its edges.
    accepts: Accepts,
    /// Acceptance sets of the edge that led into it.
    arriving: Accepts,
}

/// A state on the current path, with the edges that remain.
struct Frame {
    id: StateId,
    edges: std::vec::IntoIter<ProductEdge>,
}

/// Number of the states of completed components.
const SETTLED: u32 = 0;
/// Number of edges between two calls of `go_on`.
const STATES_BETWEEN_CALLS: u64 = 1 << 10;

struct Search<'a, S: System> {
    product: Product<'a, S>,
    options: &'a Options,
    message: &'a str,
    /// The note of a state is its number among the open states, from 1; [`SETTLED`] if
    /// its component is complete.
    store: Store,
    open: Vec<StateId>,
    roots: Vec<Root>,
    path: Vec<Frame>,
    transitions: u64,
    depth: u32,
    cut: Option<Cut>,
    finding: Option<(Finding, Trail)>,
}

impl<S: System> Search<'_, S> {
    fn run(&mut self, go_on: &mut dyn FnMut(u64, u64) -> bool) {
        let initial = match self.product.initial() {
            Ok(initial) => initial,
            Err(fault) => {
                self.finding = Some((Finding::Fault(fault), Trail::default()));
                return;
            }
        };
        for state in initial {
            self.transitions += 1;
            if let Insertion::New(id) = self.store.insert(&state) {
                self.enter(id, Accepts::default());
                self.component(go_on);
            }
            if self.finding.is_some() || self.cut.is_some() {
                return;
            }
        }
    }

    fn component(&mut self, go_on: &mut dyn FnMut(u64, u64) -> bool) {
        while self.finding.is_none() && self.cut.is_none() {
            if self.transitions.is_multiple_of(STATES_BETWEEN_CALLS) {
                self.check_limits(go_on);
            }
            let Some(frame) = self.path.last_mut() else {
                return;
            };
            let Some(edge) = frame.edges.next() else {
                let id = frame.id;
                self.leave(id);
                continue;
            };
            self.transitions += 1;
            match self.store.insert(&edge.to) {
                Insertion::New(id) => self.enter(id, edge.accepts),
                Insertion::Known(id) => {
                    let number = self.store.note(id);
                    if number != SETTLED && self.merge(number, edge.accepts) {
                        self.accepted();
                    }
                }
                Insertion::Full => {
                    self.cut = Some(Cut::States {
                        limit: self.options.states_max,
                    });
                }
            }
        }
    }

    fn memory_bytes(&self) -> u64 {
        let (system, scratch) = (self.product.system, &self.product.scratch);
        self.store.memory_bytes() + system.memory_bytes() + system.scratch_bytes(scratch)
    }

    fn check_limits(&mut self, go_on: &mut dyn FnMut(u64, u64) -> bool) {
        if self.memory_bytes() > self.options.memory_bytes_max {
            self.cut = Some(Cut::Memory {
                limit: self.options.memory_bytes_max,
            });
        } else if !go_on(self.store.len() as u64, self.store.len() as u64) {
            self.cut = Some(Cut::Interrupted);
        }
    }

    /// Returns all edges of a state, or a reduced set.
    fn expand(&mut self, state: &[u8]) -> Expanded {
        if self.options.reduces && !self.product.fair {
            let (expanded, is_part) = self.product.reduced(state);
            let is_new = |edge: &ProductEdge| self.store.find(&edge.to).is_none();
            if !is_part || expanded.fault.is_some() || expanded.edges.iter().all(is_new) {
                return expanded;
            }
        }
        self.product.expand(state)
    }

    fn enter(&mut self, id: StateId, arriving: Accepts) {
        let state = self.store.get(id).to_vec();
        let Expanded {
            edges,
            fault,
            deadlock,
        } = self.expand(&state);
        self.open.push(id);
        let number = self.open.len() as u32;
        self.store.set_note(id, number);
        self.roots.push(Root {
            number,
            accepts: Accepts::default(),
            arriving,
        });
        self.path.push(Frame {
            id,
            edges: edges.into_iter(),
        });
        self.depth = self.depth.max(self.path.len() as u32);
        let (_, node) = split(&state);
        if let Some((fault, step)) = fault {
            self.report(Finding::Fault(fault), step);
        } else if deadlock && self.options.deadlocks {
            self.report(Finding::Deadlock, None);
        } else if self.product.automaton.complete == Some(node) {
            let message = self.message.to_owned();
            self.report(Finding::Cycle { message }, None);
        } else if self.path.len() as u64 > u64::from(self.options.depth_max) {
            self.cut = Some(Cut::Depth {
                limit: self.options.depth_max,
            });
        }
    }

    /// Reports a finding at the end of the current path.
    fn report(&mut self, finding: Finding, fault: Option<usize>) {
        let Some(target) = self.path.last().map(|frame| frame.id) else {
            return;
        };
        let path = self.path_to(|id| id == target).unwrap_or_default();
        let mut trail = Trail::default();
        self.append(&mut trail, &path);
        let state = self.store.get(target).to_vec();
        let (system, _) = split(&state);
        match fault {
            Some(number) => trail.push(self.product.system, system, number),
            None => trail.end = Some(system.to_vec()),
        }
        self.finding = Some((finding, trail));
    }

    /// Closes a cycle back to a state. Returns true if its component has all acceptance
    /// sets.
    fn merge(&mut self, number: u32, accepts: Accepts) -> bool {
        let mut accepts = accepts;
        while let Some(root) = self.roots.last_mut() {
            if root.number <= number {
                root.accepts = root.accepts.with(accepts);
                return root.accepts == self.product.all();
            }
            accepts = accepts.with(root.accepts).with(root.arriving);
            self.roots.pop();
        }
        false
    }

    fn leave(&mut self, id: StateId) {
        self.path.pop();
        let number = self.store.note(id);
        if self.roots.last().is_none_or(|root| root.number != number) {
            return;
        }
        self.roots.pop();
        for id in self.open.split_off(number.saturating_sub(1) as usize) {
            self.store.set_note(id, SETTLED);
        }
    }

    /// Reports the run through the accepting component.
    fn accepted(&mut self) {
        let first = self
            .roots
            .last()
            .map_or(0, |root| root.number.saturating_sub(1) as usize);
        let component: FxHashSet<StateId> = self.open.iter().skip(first).copied().collect();
        let path = self
            .path_to(|id| component.contains(&id))
            .unwrap_or_default();
        let entry = path.last().map(|step| step.to);
        let entry = entry.or(self.open.get(first).copied());
        let mut trail = Trail::default();
        self.append(&mut trail, &path);
        if let Some(entry) = entry {
            let cycle = self.cycle(entry, &component);
            let start = trail.moves.len();
            self.append(&mut trail, &cycle);
            trail.cycle = Some(start);
            let state = self.store.get(entry).to_vec();
            trail.end = Some(split(&state).0.to_vec());
        }
        let message = self.message.to_owned();
        self.finding = Some((Finding::Cycle { message }, trail));
    }

    /// Appends the steps of the system on a path of the product to a trail.
    fn append(&self, trail: &mut Trail, path: &[PathStep]) {
        for step in path {
            let state = self.store.get(step.from);
            if let Some(number) = step.number {
                trail.push(self.product.system, split(state).0, number);
            }
        }
    }

    /// Returns a shortest path from the initial states to a state.
    fn path_to(&mut self, is_wanted: impl Fn(StateId) -> bool) -> Option<Vec<PathStep>> {
        let initial = self.product.initial().ok()?;
        let starts: Vec<StateId> = initial
            .iter()
            .filter_map(|state| self.store.find(state))
            .collect();
        if starts.iter().any(|start| is_wanted(*start)) {
            return Some(Vec::new());
        }
        self.shortest(&starts, |_| true, |step| is_wanted(step.to))
    }

    /// Returns a cycle through all acceptance sets.
    fn cycle(&mut self, entry: StateId, component: &FxHashSet<StateId>) -> Vec<PathStep> {
        let all = self.product.all();
        let mut cycle: Vec<PathStep> = Vec::new();
        let mut visited = Accepts::default();
        let mut here = entry;
        let inside = |id: StateId| component.contains(&id);
        while visited != all {
            let is_new = |step: &PathStep| visited.with(step.accepts) != visited;
            let Some(path) = self.shortest(&[here], inside, is_new) else {
                break;
            };
            for step in path {
                visited = visited.with(step.accepts);
                here = step.to;
                cycle.push(step);
            }
        }
        if here != entry || cycle.is_empty() {
            let back = self.shortest(&[here], inside, |step| step.to == entry);
            cycle.extend(back.unwrap_or_default());
        }
        cycle
    }

    /// Returns a shortest path over known states to an edge that satisfies a condition.
    fn shortest(
        &mut self,
        starts: &[StateId],
        may_pass: impl Fn(StateId) -> bool,
        is_wanted: impl Fn(&PathStep) -> bool,
    ) -> Option<Vec<PathStep>> {
        let mut before: FxHashMap<StateId, Option<PathStep>> = FxHashMap::default();
        let mut waiting: VecDeque<StateId> = starts.iter().copied().collect();
        before.extend(starts.iter().map(|start| (*start, None)));
        while let Some(from) = waiting.pop_front() {
            let state = self.store.get(from).to_vec();
            for edge in self.product.expand(&state).edges {
                let Some(to) = self.store.find(&edge.to).filter(|to| may_pass(*to)) else {
                    continue;
                };
                let step = PathStep {
                    from,
                    to,
                    accepts: edge.accepts,
                    number: edge.number,
                };
                if is_wanted(&step) {
                    return Some(backwards(&before, step));
                }
                before.entry(to).or_insert_with(|| {
                    waiting.push_back(to);
                    Some(step)
                });
            }
        }
        None
    }
}

/// One edge of a path.
#[derive(Debug, Clone, Copy)]
struct PathStep {
    from: StateId,
    to: StateId,
    accepts: Accepts,
    number: Option<usize>,
}

fn backwards(before: &FxHashMap<StateId, Option<PathStep>>, last: PathStep) -> Vec<PathStep> {
    let mut path = vec![last];
    let mut here = last.from;
    while let Some(Some(step)) = before.get(&here) {
        path.push(*step);
        here = step.from;
    }
    path.reverse();
    path
}
