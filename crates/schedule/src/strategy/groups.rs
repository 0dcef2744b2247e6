//! Random priorities of groups of threads that run the same code.
//!
//! Many faults need one thread of many equal ones between the halves of another one's change: with
//! priorities by thread it is one in many that goes on then, with priorities by group one in few. A
//! group falls behind the others when a thread of it has come to a random point, counted in its own
//! points and rather an early one, so that long runs of many threads do not thin it out.

use super::{any_hopeful, with_signal};
use crate::choice::{Choice, ChoiceKind, Decision, Offer};
use crate::random::Random;
use crate::terms::ThreadPath;
use alloc::vec::Vec;

/// An unusual choice is made once in this many times.
const UNUSUAL: u64 = 64;

/// The groups of threads, with random priorities.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Groups {
    random: Random,
    /// The number of decisions of a run.
    length: u64,
    groups: Vec<Group>,
    /// The lowest priority so far, or 0.
    lowest: i64,
    /// Whether the last of a group goes first.
    is_backward: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Group {
    /// The first thread is a group of its own.
    is_main: bool,
    code: u64,
    priority: i64,
    /// The point of its threads at which it falls behind, once.
    change: Option<u64>,
}

impl Groups {
    /// Returns priorities for runs of about `length` decisions.
    pub fn new(length: u64, seed: u64) -> Groups {
        let mut random = Random::new(seed);
        Groups {
            is_backward: random.one_in(2),
            random,
            length,
            groups: Vec::new(),
            lowest: 0,
        }
    }

    /// Returns the index of the group of an offer's thread.
    fn group_of(&mut self, offer: &Offer) -> usize {
        let is_main = offer.choice.thread == ThreadPath::MAIN;
        let is_it = |group: &Group| (group.is_main, group.code) == (is_main, offer.code);
        if let Some(index) = self.groups.iter().position(is_it) {
            return index;
        }
        let chance = 1 + self.random.below(1 << 40) as i64;
        // It makes the others: often it should make all of them first.
        let is_first = is_main && self.random.one_in(2);
        let has_change = self.random.one_in(2);
        // As often one of 1 to 2 as one of 2 to 4.
        let bits = self
            .random
            .below(u64::from(64 - self.length.leading_zeros()).max(1));
        let change = 1 + self.random.below(2 << bits);
        self.groups.push(Group {
            is_main,
            code: offer.code,
            priority: if is_first { 1 << 41 } else { chance },
            change: has_change.then_some(change),
        });
        self.groups.len() - 1
    }

    /// Lets a group fall behind if a thread of it has come to the point for that.
    fn change(&mut self, index: usize, point: u64) {
        if let Some(group) = self.groups.get_mut(index)
            && group.change == Some(point)
        {
            group.change = None;
            self.lowest -= 1;
            group.priority = self.lowest;
        }
    }

    pub(super) fn choose(&mut self, decision: &Decision<'_>) -> usize {
        if decision.is_wake() {
            return decision.usual;
        }
        let count = decision.plain_count();
        let unusual = decision.offers.len() - count;
        if unusual != 0 && count != 0 && self.random.one_in(UNUSUAL) {
            return count + self.random.index(unusual);
        }
        let last = decision.moment.thread;
        let passes = decision.is_due || decision.yields && self.random.one_in(2);
        let mut best: Option<(i64, ThreadPath)> = None;
        for offer in decision.offers.iter().take(count) {
            let thread = offer.choice.thread;
            let index = self.group_of(offer);
            if thread == last {
                self.change(index, decision.moment.point);
            }
            let Some(group) = self.groups.get(index) else {
                continue;
            };
            let priority = if passes && thread == last {
                i64::MIN
            } else {
                group.priority
            };
            let is_better = best.is_none_or(|(highest, chosen)| {
                let goes_first = thread == last || self.is_backward && chosen != last;
                priority > highest || priority == highest && goes_first
            });
            if is_better {
                best = Some((priority, thread));
            }
        }
        match best {
            Some((_, thread)) => with_signal(decision, thread).unwrap_or_else(|| {
                let kind = ChoiceKind::Run;
                let index = decision.index_of(Choice { kind, thread });
                index.unwrap_or(decision.usual)
            }),
            None if self.random.one_in(4) => any_hopeful(decision, &mut self.random),
            None => decision.usual,
        }
    }
}
