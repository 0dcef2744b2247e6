//! Choices, the moments of decisions, and the log of a run as deviations.

use crate::terms::{Footprint, ThreadPath};
use alloc::vec::Vec;

/// The kind of a choice. The order is that in which offers are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChoiceKind {
    /// The thread goes on.
    Run,
    /// The thread gets its pending signal with the lowest number, and goes on.
    Deliver,
    /// The moment comes for which the thread waits, and it goes on.
    TimeOut,
    /// The thread's wait ends for no reason, and it goes on.
    Spurious,
    /// Of those who wait for a word, this one is woken.
    Wake,
}

/// A choice: its kind, and the thread that it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Choice {
    /// The kind.
    pub kind: ChoiceKind,
    /// To which thread.
    pub thread: ThreadPath,
}

/// A choice that is possible, with what its step touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Offer {
    /// The choice.
    pub choice: Choice,
    /// The accesses of the step.
    pub footprint: Footprint,
    /// The site at which the thread stands, or 0.
    pub site: u64,
    /// The object there, or 0.
    pub object: u64,
    /// The number of the function that the thread runs, or 0: equal for threads that do the same.
    pub code: u64,
}

/// The moment of a decision: the n-th point of the thread that ran last, and which decision
/// since. It does not count what other threads did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// The thread that ran last.
    pub thread: ThreadPath,
    /// The number of its points so far.
    pub point: u64,
    /// The number of decisions since its last point.
    pub part: u32,
}

/// A decision that was not the usual one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Deviation {
    /// When.
    pub moment: Moment,
    /// The choice.
    pub choice: Choice,
}

/// A decision that is to be made.
#[derive(Debug)]
pub struct Decision<'a> {
    /// When.
    pub moment: Moment,
    /// The offers: at least one.
    pub offers: &'a [Offer],
    /// The index of the usual choice: run on until blocked, then the next thread by path.
    pub usual: usize,
    /// Whether the thread that ran last stands where it yields.
    pub yields: bool,
    /// Whether it had its share, and others should go on.
    pub is_due: bool,
}

impl Decision<'_> {
    /// Returns the usual offer's choice.
    pub fn usual_choice(&self) -> Option<Choice> {
        self.offers.get(self.usual).map(|offer| offer.choice)
    }

    /// Returns the index of the offer to let a thread go on.
    pub fn index_of(&self, choice: Choice) -> Option<usize> {
        self.offers.iter().position(|offer| offer.choice == choice)
    }

    /// Returns the number of offers at the beginning that let a thread go on or wake it; the
    /// others are unusual: signals, time-outs, spurious wake-ups.
    pub fn plain_count(&self) -> usize {
        let is_plain =
            |offer: &&Offer| matches!(offer.choice.kind, ChoiceKind::Run | ChoiceKind::Wake);
        self.offers.iter().take_while(is_plain).count()
    }

    /// Returns true if it is about whom to wake, and not about who goes on.
    pub fn is_wake(&self) -> bool {
        let first = self.offers.first();
        first.is_some_and(|offer| offer.choice.kind == ChoiceKind::Wake)
    }
}

/// The log of a run: its deviations in the order in which they were made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Log {
    deviations: Vec<Deviation>,
    decisions: u64,
}

impl Log {
    /// Notes a decision.
    pub(crate) fn note(&mut self, moment: Moment, choice: Choice, usual: Option<Choice>) {
        self.decisions = self.decisions.saturating_add(1);
        if usual != Some(choice) {
            self.deviations.push(Deviation { moment, choice });
        }
    }

    /// Returns the deviations in the order in which they were made.
    pub fn deviations(&self) -> &[Deviation] {
        &self.deviations
    }

    /// Returns the number of decisions.
    pub fn decisions(&self) -> u64 {
        self.decisions
    }
}
