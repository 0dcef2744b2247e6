//! Deadlocks that may happen in another schedule: circles in the order in which locks are taken.
//!
//! S. Bensalem, K. Havelund, *Dynamic Deadlock Analysis of Multi-threaded Programs* (HVC 2005):
//! that a thread takes a lock while it holds another is an edge. A circle of edges counts only if
//! its threads are different, if no two edges are made under a common lock (a *gate*), and if
//! neither is over before the other one begins, by the starts and ends of threads. What is found
//! is a prediction: [`LockCycle::goal`] is for the run that confirms it.

use crate::clock::{Clock, Clocks};
use crate::protocol::LockMode;
use crate::strategy::{Goal, Place};
use crate::terms::ThreadPath;
use alloc::vec;
use alloc::vec::Vec;

/// A lock that a thread holds, or takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Taken {
    lock: u64,
    is_shared: bool,
    count: u32,
    site: u64,
    /// The number of the thread's segment.
    segment: usize,
}

/// A thread takes a lock while it holds another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Edge {
    thread: usize,
    from: Taken,
    to: Taken,
    /// The other locks that it holds.
    gates: Vec<(u64, bool)>,
}

/// A thread takes a lock while it holds another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockEdge {
    /// The thread.
    pub thread: ThreadPath,
    /// The lock that it holds.
    pub from: u64,
    /// The lock that it takes.
    pub to: u64,
    /// The site at which it took the first.
    pub from_site: u64,
    /// The site at which it takes the second.
    pub to_site: u64,
}

/// Threads that may wait for one another: each holds what the one before wants.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LockCycle {
    /// The edges: each takes the lock that the next one holds.
    pub edges: Vec<LockEdge>,
}

impl LockCycle {
    /// Returns the goal that all threads stand before their second lock at once.
    pub fn goal(&self) -> Goal {
        let place = |edge: &LockEdge| Place {
            thread: Some(edge.thread),
            site: edge.to_site,
            object: Some(edge.to),
        };
        Goal {
            places: self.edges.iter().map(place).collect(),
            first: None,
        }
    }
}

/// The orders in which locks were taken in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct LockOrder {
    clocks: Clocks,
    /// The parts of threads between starts and ends of others: thread, count and clock.
    segments: Vec<(usize, u32, Clock)>,
    /// By thread: the segment it is in, and what it holds.
    threads: Vec<(usize, Vec<Taken>)>,
    edges: Vec<Edge>,
    is_cut: bool,
}

/// The edges that are kept.
const EDGES_MAX: usize = 4_096;
/// The longest circles that are looked for: first the short ones, of which there are most.
const CIRCLE_MAX: [usize; 2] = [6, 32];
/// The steps of a search.
const STEPS_MAX: usize = 200_000;

impl LockOrder {
    /// Returns the analysis of a run that has not begun.
    pub fn new() -> LockOrder {
        LockOrder::default()
    }

    /// A thread starts another one.
    pub fn started(&mut self, parent: ThreadPath, child: ThreadPath) {
        self.clocks.start(parent, child);
        for path in [parent, child] {
            let number = self.number(path);
            self.begin_segment(number);
        }
    }

    /// A thread has seen that another one has ended.
    pub fn joined(&mut self, joiner: ThreadPath, ended: ThreadPath) {
        self.clocks.end(joiner, ended);
        let number = self.number(joiner);
        self.begin_segment(number);
    }

    /// A thread takes a lock. Who only tried would not have waited for ever.
    pub fn takes(
        &mut self,
        (path, site): (ThreadPath, u64),
        lock: u64,
        mode: LockMode,
        is_tried: bool,
    ) {
        let thread = self.number(path);
        let Some((segment, held)) = self.threads.get_mut(thread) else {
            return;
        };
        if let Some(again) = held.iter_mut().find(|taken| taken.lock == lock) {
            again.count = again.count.saturating_add(1);
            return;
        }
        let to = Taken {
            lock,
            is_shared: mode == LockMode::Shared,
            count: 1,
            site,
            segment: *segment,
        };
        let before = held.clone();
        held.push(to);
        for from in before.iter().filter(|_| !is_tried) {
            let others = before.iter().filter(|other| other.lock != from.lock);
            let edge = Edge {
                thread,
                from: *from,
                to,
                gates: others.map(|other| (other.lock, other.is_shared)).collect(),
            };
            self.add(edge);
        }
    }

    /// A thread gives a lock back; perhaps one that another has taken.
    pub fn drops(&mut self, path: ThreadPath, lock: u64) {
        let own = self.number(path);
        let has = |held: &[Taken]| held.iter().any(|taken| taken.lock == lock);
        let is_own = self.threads.get(own).is_some_and(|(_, held)| has(held));
        let mut others = self.threads.iter();
        let other = others.position(|(_, held)| has(held)).filter(|_| !is_own);
        if let Some((_, held)) = self.threads.get_mut(other.unwrap_or(own)) {
            held.retain_mut(|taken| {
                taken.count -= u32::from(taken.lock == lock);
                taken.count != 0
            });
        }
    }

    /// Returns true if there was more than is kept or looked for.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn add(&mut self, edge: Edge) {
        let is_known = self.edges.iter().any(|known| {
            (known.thread, &known.gates) == (edge.thread, &edge.gates)
                && is_alike(&known.from, &edge.from)
                && is_alike(&known.to, &edge.to)
        });
        if is_known {
            return;
        }
        if self.edges.len() < EDGES_MAX {
            self.edges.push(edge);
        } else {
            self.is_cut = true;
        }
    }

    fn number(&mut self, path: ThreadPath) -> usize {
        let number = self.clocks.number(path);
        while self.threads.len() <= number {
            let new = self.threads.len();
            self.threads.push((0, Vec::new()));
            self.begin_segment(new);
        }
        number
    }

    fn begin_segment(&mut self, thread: usize) {
        let segment = (thread, self.clocks.now(thread), self.clocks.clock(thread));
        let number = self.segments.len();
        self.segments.push(segment);
        if let Some((current, _)) = self.threads.get_mut(thread) {
            *current = number;
        }
    }

    /// Returns true if a segment is over before the other one begins.
    fn is_before(&self, segment: usize, other: usize) -> bool {
        let (Some((thread, count, _)), Some((_, _, clock))) =
            (self.segments.get(segment), self.segments.get(other))
        else {
            return false;
        };
        clock.of(*thread) >= *count
    }

    /// Returns true if two edges may be parts of one deadlock.
    fn go_together(&self, one: &Edge, other: &Edge) -> bool {
        let is_gate = |(lock, is_shared): &(u64, bool)| {
            let mut gates = other.gates.iter();
            gates.any(|gate| gate.0 == *lock && !(gate.1 && *is_shared))
        };
        one.thread != other.thread
            && !one.gates.iter().any(is_gate)
            && !self.is_before(one.to.segment, other.from.segment)
            && !self.is_before(other.to.segment, one.from.segment)
    }

    /// Returns the deadlocks that may happen in another schedule.
    pub fn cycles(&mut self) -> Vec<LockCycle> {
        let mut found: Vec<LockCycle> = Vec::new();
        let edges = self.edges_of_circles();
        for circle_max in CIRCLE_MAX {
            let mut steps = 0;
            for start in 0..edges.len() {
                let search = (start, circle_max);
                self.cycles_from(&edges, search, &mut steps, &mut found);
            }
            self.is_cut |= steps >= STEPS_MAX;
        }
        found
    }

    /// Returns the edges without those that are parts of no circle, as nothing leads to them, or on
    /// from them.
    fn edges_of_circles(&self) -> Vec<Edge> {
        let mut edges = self.edges.clone();
        loop {
            let is_linked = |edge: &Edge| {
                let leads_on = |other: &Edge| other.from.lock == edge.to.lock;
                let leads_here = |other: &Edge| other.to.lock == edge.from.lock;
                edges.iter().any(leads_on) && edges.iter().any(leads_here)
            };
            let linked: Vec<Edge> = edges.iter().filter(|it| is_linked(it)).cloned().collect();
            if linked.len() == edges.len() {
                return linked;
            }
            edges = linked;
        }
    }

    /// Looks for the circles whose first edge is `start` and that have no earlier one, depth
    /// first with a stack of its own.
    fn cycles_from(
        &self,
        edges: &[Edge],
        (start, circle_max): (usize, usize),
        steps: &mut usize,
        found: &mut Vec<LockCycle>,
    ) {
        let mut path = vec![start];
        let mut pending = vec![start];
        while let (Some(next), Some(last)) = (pending.last_mut(), path.last()) {
            *next += 1;
            *steps += 1;
            let (Some(edge), Some(last)) = (edges.get(*next), edges.get(*last)) else {
                pending.pop();
                path.pop();
                continue;
            };
            if *steps >= STEPS_MAX {
                return;
            }
            let follows =
                last.to.lock == edge.from.lock && !(last.to.is_shared && edge.from.is_shared);
            let mut others = path.iter().filter_map(|index| edges.get(*index));
            if !follows || !others.all(|other| self.go_together(other, edge)) {
                continue;
            }
            let next = *next;
            path.push(next);
            if edges.get(start).is_some_and(|first| closes(first, edge)) {
                let circle = path.iter().filter_map(|index| edges.get(*index));
                self.report(circle, found);
            }
            if path.len() < circle_max {
                pending.push(start);
            } else {
                path.pop();
            }
        }
    }

    fn report<'a>(&self, circle: impl Iterator<Item = &'a Edge>, found: &mut Vec<LockCycle>) {
        let edges: Vec<LockEdge> = circle
            .map(|edge| LockEdge {
                thread: self.clocks.path(edge.thread),
                from: edge.from.lock,
                to: edge.to.lock,
                from_site: edge.from.site,
                to_site: edge.to.site,
            })
            .collect();
        let is_same = |known: &LockCycle| {
            let is_in = |edge: &LockEdge| {
                let alike = |other: &LockEdge| {
                    (other.thread, other.from, other.to) == (edge.thread, edge.from, edge.to)
                };
                known.edges.iter().any(alike)
            };
            known.edges.len() == edges.len() && edges.iter().all(is_in)
        };
        if !found.iter().any(is_same) {
            found.push(LockCycle { edges });
        }
    }
}

/// Returns true if an edge takes what the first one of its circle holds.
fn closes(first: &Edge, edge: &Edge) -> bool {
    edge.to.lock == first.from.lock && !(edge.to.is_shared && first.from.is_shared)
}

/// Returns true if the two differ in their sites at most.
fn is_alike(one: &Taken, other: &Taken) -> bool {
    (one.lock, one.is_shared, one.segment) == (other.lock, other.is_shared, other.segment)
}
