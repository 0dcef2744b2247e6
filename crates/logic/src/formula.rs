//! Abstract syntax of linear temporal logic with past operators and bounds.
//!
//! The operators are those of Stolz and Huch, *Runtime Verification of Concurrent Haskell
//! Programs*, section 3, with the past operators of Manna and Pnueli, *The Temporal Logic
//! of Reactive and Concurrent Systems* (1992), and with bounds.

use std::sync::Arc;

/// The propositions that are true at one step: bit n is proposition n.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Letter(pub u64);

impl Letter {
    /// Returns whether a proposition is true.
    pub fn has(self, proposition: u8) -> bool {
        self.0 & (1_u64 << (proposition & 63)) != 0
    }
}

/// The range of steps or times that a temporal operator covers; both ends are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// No bound: to the end of the run.
    Unbounded,
    /// A number of steps; the present step is 0.
    Steps {
        /// The nearest step.
        from: u32,
        /// The farthest step; `None` if unbounded.
        to: Option<u32>,
    },
    /// A time in nanoseconds from the present step.
    Time {
        /// The nearest time.
        from: u64,
        /// The farthest time; `None` if unbounded.
        to: Option<u64>,
    },
}

/// A formula. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Formula {
    /// True at every step.
    True,
    /// False at every step.
    False,
    /// The proposition with this bit is true.
    Proposition(u8),
    /// Negation.
    Not(Arc<Formula>),
    /// Conjunction.
    And(Arc<Formula>, Arc<Formula>),
    /// Disjunction.
    Or(Arc<Formula>, Arc<Formula>),
    /// Strong next, `X`: there is a next step, and the formula holds there.
    Next(Arc<Formula>),
    /// Weak next, the dual of `X`: if there is a next step, the formula holds there.
    WeakNext(Arc<Formula>),
    /// Until, `U`: the second holds at some step, and the first at all steps before it.
    Until(Arc<Formula>, Arc<Formula>, Bound),
    /// Release, `R`: the second holds up to and including the step at which the first
    /// holds, or forever if there is none.
    Release(Arc<Formula>, Arc<Formula>, Bound),
    /// Strong yesterday, `Y`: there is a previous step, and the formula held there.
    Yesterday(Arc<Formula>),
    /// Weak yesterday, the dual of `Y`: if there is a previous step, the formula held
    /// there.
    WeakYesterday(Arc<Formula>),
    /// Since, `S`: the second held at some step, and the first at all steps after it.
    Since(Arc<Formula>, Arc<Formula>, Bound),
    /// Trigger, the dual of `S`: the second has held since and including the step at
    /// which the first held, or from the beginning if there is none.
    Trigger(Arc<Formula>, Arc<Formula>, Bound),
}
