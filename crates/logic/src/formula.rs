//! Formulas of linear temporal logic with past and bounds, as they are
//! written.
//!
//! The operators are those of Stolz and Huch, *Runtime Verification of
//! Concurrent Haskell Programs*, section 3, with the past operators of Manna and
//! Pnueli, *The Temporal Logic of Reactive and Concurrent Systems* (1992), and
//! with bounds.

use std::sync::Arc;

/// Which propositions are true at one step: bit n is proposition n.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Letter(pub u64);

impl Letter {
    /// Whether a proposition is true.
    pub fn has(self, proposition: u8) -> bool {
        self.0 & (1_u64 << (proposition & 63)) != 0
    }
}

/// How far a temporal operator looks; both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// As far as the run goes.
    Unbounded,
    /// A number of steps; the present one is 0.
    Steps {
        /// The nearest.
        from: u32,
        /// The farthest; nothing has no end.
        to: Option<u32>,
    },
    /// A time in nanoseconds from the present step.
    Time {
        /// The nearest.
        from: u64,
        /// The farthest; nothing has no end.
        to: Option<u64>,
    },
}

/// A formula. Cheap to copy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Formula {
    /// Holds.
    True,
    /// Does not hold.
    False,
    /// The proposition with this bit is true.
    Proposition(u8),
    /// Does not hold.
    Not(Arc<Formula>),
    /// Both hold.
    And(Arc<Formula>, Arc<Formula>),
    /// One or both hold.
    Or(Arc<Formula>, Arc<Formula>),
    /// There is a next step, and it holds there: `X`.
    Next(Arc<Formula>),
    /// If there is a next step, it holds there: the dual of `X`.
    WeakNext(Arc<Formula>),
    /// The second holds at some step, the first at all before it: `U`.
    Until(Arc<Formula>, Arc<Formula>, Bound),
    /// The second holds up to and with the step where the first holds, for
    /// ever when there is none: `R`.
    Release(Arc<Formula>, Arc<Formula>, Bound),
    /// There was a step before, and it held there: `Y`.
    Yesterday(Arc<Formula>),
    /// It held there if there was a step before: the dual of `Y`.
    WeakYesterday(Arc<Formula>),
    /// The second held at some step, the first at all after it: `S`.
    Since(Arc<Formula>, Arc<Formula>, Bound),
    /// The second has held since and with the step where the first held, from
    /// the beginning when there is none: the dual of `S`.
    Trigger(Arc<Formula>, Arc<Formula>, Bound),
}
