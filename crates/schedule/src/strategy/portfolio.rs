//! Which strategy a run has, by its number: several in turn, as none finds all faults.

use super::{Groups, Pct, Relay, Strategy};
use crate::random::mix;

/// The strategies of many runs. A run has the same one wherever and in whichever order runs are
/// made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Portfolio {
    seed: u64,
    length: u64,
}

impl Portfolio {
    /// Returns the strategies of a seed. Run 0 is the usual one; `length` is the number of its
    /// decisions ([`Log::decisions`](crate::Log::decisions)), which is known after it.
    pub fn new(seed: u64, length: u64) -> Portfolio {
        Portfolio { seed, length }
    }

    /// Returns the strategy of a run: the usual one first, then chance and priorities in turn, with 1
    /// to 4 orders that priorities look for; once in four times priorities of groups of threads, and
    /// sometimes threads that hand on.
    pub fn strategy(&self, run: u64) -> Strategy {
        let seed = mix(self.seed ^ mix(run));
        match run {
            0 => Strategy::RunOn,
            _ if run % 16 == 13 => Strategy::Relay(Relay::new(seed)),
            _ if run % 8 == 3 || run % 8 == 6 => Strategy::Groups(Groups::new(self.length, seed)),
            _ if run.is_multiple_of(2) => Strategy::random(seed),
            _ => {
                // Depth 3 in every other of them.
                let depth = [3, 2, 3, 4, 3, 1][(run / 2 % 6) as usize];
                // Other schedules may be longer than the usual one.
                let length = self.length.saturating_mul(1 + run / 2 % 2);
                Strategy::Pct(Pct::new(depth, length, seed))
            }
        }
    }
}
