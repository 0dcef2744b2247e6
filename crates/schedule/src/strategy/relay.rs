//! Threads that hand on: who has written to memory lets another one go first.
//!
//! Some faults need two threads to answer one another many times, each as soon as the other has
//! written: choices by chance come to that once in a power of two, and priorities that change a few
//! times never.

use super::{any_hopeful, with_signal};
use crate::choice::Decision;
use crate::random::Random;
use crate::terms::AccessKind;

/// A decision is made otherwise once in so many times, or never.
const OTHERWISE: [Option<u64>; 4] = [None, Some(32), Some(16), Some(8)];

/// A thread that has written lets another one go first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Relay {
    random: Random,
    otherwise: Option<u64>,
    has_written: bool,
}

impl Relay {
    /// Returns the strategy, by its seed.
    pub fn new(seed: u64) -> Relay {
        let mut random = Random::new(seed);
        let rate = random.index(OTHERWISE.len());
        Relay {
            otherwise: OTHERWISE.get(rate).copied().flatten(),
            random,
            has_written: false,
        }
    }

    pub(super) fn choose(&mut self, decision: &Decision<'_>) -> usize {
        let plain = decision.offers.get(..decision.plain_count());
        let plain = plain.unwrap_or_default();
        if decision.is_wake() || plain.is_empty() {
            return match plain {
                [] if self.random.one_in(2) => any_hopeful(decision, &mut self.random),
                _ => decision.usual,
            };
        }
        let last = decision.moment.thread;
        let hands_on = self.has_written || decision.yields || decision.is_due;
        let is_otherwise = self.otherwise.is_some_and(|rate| self.random.one_in(rate));
        let threads = plain.iter().map(|offer| offer.choice.thread);
        let others = threads.clone().filter(|thread| *thread != last);
        let count = others.clone().count();
        let can_stay = threads.clone().any(|thread| thread == last);
        let stays = can_stay && (hands_on == is_otherwise || count == 0);
        let thread = if stays {
            Some(last)
        } else {
            others.clone().nth(self.random.index(count))
        };
        let index = thread.and_then(|thread| with_signal(decision, thread));
        let index = index.unwrap_or(decision.usual);
        let offer = decision.offers.get(index);
        self.has_written = offer.is_some_and(|offer| {
            let mut accesses = offer.footprint.accesses().iter();
            accesses.any(|access| access.kind == AccessKind::Write)
        });
        index
    }
}
