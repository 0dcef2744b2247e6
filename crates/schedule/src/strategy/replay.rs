//! A log is followed.

use super::Verdict;
use crate::choice::{Decision, Deviation};
use alloc::vec::Vec;

/// A log that is followed: its deviations are made at their moments, all else is as usual.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Replay {
    /// By moment.
    deviations: Vec<Deviation>,
    is_strict: bool,
    made: usize,
}

impl Replay {
    /// Returns a replay in which each deviation must be possible: the run was recorded so.
    pub fn new(deviations: &[Deviation]) -> Replay {
        Replay::with(deviations, true)
    }

    /// Returns a replay that leaves out what is not possible: the deviations are some of those
    /// of a run.
    pub fn of_some(deviations: &[Deviation]) -> Replay {
        Replay::with(deviations, false)
    }

    fn with(deviations: &[Deviation], is_strict: bool) -> Replay {
        let mut deviations = deviations.to_vec();
        deviations.sort_by_key(|deviation| deviation.moment);
        Replay {
            deviations,
            is_strict,
            made: 0,
        }
    }

    /// Returns the number of deviations that have been made; fewer than there are at the end of
    /// a strict replay: it was another run.
    pub fn made(&self) -> usize {
        self.made
    }

    /// Returns the number of deviations.
    pub fn count(&self) -> usize {
        self.deviations.len()
    }

    pub(super) fn choose(&mut self, decision: &Decision<'_>) -> Verdict {
        let found = self
            .deviations
            .binary_search_by_key(&decision.moment, |deviation| deviation.moment);
        let choice = found.ok().and_then(|index| self.deviations.get(index));
        let Some(deviation) = choice else {
            return Verdict::Take(decision.usual);
        };
        match decision.index_of(deviation.choice) {
            Some(index) => {
                self.made = self.made.saturating_add(1);
                Verdict::Take(index)
            }
            None if self.is_strict => Verdict::Diverged,
            None => Verdict::Take(decision.usual),
        }
    }
}
