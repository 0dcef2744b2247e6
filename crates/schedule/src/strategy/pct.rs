//! Random priorities that change at a few random steps.
//!
//! S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, *A Randomized Scheduler with
//! Probabilistic Guarantees of Finding Bugs* (ASPLOS 2010): with n threads and k steps, a fault
//! that needs d orders is found by a run with a probability of at least 1/(n·k^(d−1)). Two things
//! are added: a thread that yields, or had its share, falls behind the others, as it would wait
//! for them for ever; a yield does so half of the time only, as some faults need what comes
//! after it first. At a change of priority there may be an unusual choice instead.

use super::{any_hopeful, with_signal};
use crate::choice::{Choice, ChoiceKind, Decision};
use crate::random::Random;
use crate::terms::ThreadPath;
use alloc::vec::Vec;

/// Random priorities.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pct {
    depth: u32,
    random: Random,
    /// By thread; higher goes first.
    priorities: Vec<(ThreadPath, i64)>,
    /// The steps before which the priority of who would go on falls.
    changes: Vec<u64>,
    step: u64,
    /// The lowest priority so far, or 0.
    lowest: i64,
}

impl Pct {
    /// Returns priorities that change `depth − 1` times within the first `length` steps, which
    /// should be about those of a run.
    pub fn new(depth: u32, length: u64, seed: u64) -> Pct {
        let mut random = Random::new(seed);
        let count = depth.saturating_sub(1);
        let changes = (0..count).map(|_| 1 + random.below(length.max(1)));
        Pct {
            depth,
            changes: changes.collect(),
            random,
            priorities: Vec::new(),
            step: 0,
            lowest: 0,
        }
    }

    /// Returns the number of steps so far: of the longest run it is the next length.
    pub fn steps(&self) -> u64 {
        self.step
    }

    fn priority(&self, thread: ThreadPath) -> i64 {
        let found = self.priorities.iter().find(|known| known.0 == thread);
        found.map_or(0, |known| known.1)
    }

    fn set_priority(&mut self, thread: ThreadPath, priority: i64) {
        let found = self.priorities.iter_mut().find(|known| known.0 == thread);
        match found {
            Some(known) => known.1 = priority,
            None => self.priorities.push((thread, priority)),
        }
    }

    /// Puts a thread behind all others.
    fn put_last(&mut self, thread: ThreadPath) {
        self.lowest = self.lowest.saturating_sub(1);
        self.set_priority(thread, self.lowest);
    }

    fn first_of(&self, threads: &[ThreadPath]) -> Option<ThreadPath> {
        let threads = threads.iter().copied();
        threads.max_by_key(|thread| self.priority(*thread))
    }

    pub(super) fn choose(&mut self, decision: &Decision<'_>) -> usize {
        let plain = decision.offers.iter().take(decision.plain_count());
        let threads: Vec<ThreadPath> = plain.map(|offer| offer.choice.thread).collect();
        for thread in &threads {
            if !self.priorities.iter().any(|known| known.0 == *thread) {
                let above = i64::from(self.depth);
                let chance = self.random.below(1 << 40) as i64;
                self.priorities.push((*thread, above + chance));
            }
        }
        if decision.is_wake() {
            let kind = ChoiceKind::Wake;
            let picked = self.first_of(&threads);
            let index = picked.and_then(|thread| decision.index_of(Choice { kind, thread }));
            return index.unwrap_or(decision.usual);
        }
        self.step = self.step.saturating_add(1);
        let last = decision.moment.thread;
        if decision.is_due || decision.yields && self.random.one_in(2) {
            self.put_last(last);
        }
        let change = self.changes.iter().position(|step| *step == self.step);
        if let Some(number) = change {
            let unusual = decision.offers.len() > threads.len();
            if unusual && self.random.one_in(2) {
                let beyond = decision.offers.len() - threads.len();
                return threads.len() + self.random.index(beyond);
            }
            if let Some(first) = self.first_of(&threads) {
                let priority = i64::from(self.depth) - 1 - number as i64;
                self.set_priority(first, priority);
            }
        }
        match self.first_of(&threads) {
            Some(thread) => with_signal(decision, thread).unwrap_or(decision.usual),
            None if self.random.one_in(4) => any_hopeful(decision, &mut self.random),
            None => decision.usual,
        }
    }
}
