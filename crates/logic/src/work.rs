//! How much may be computed for a formula or an expression.
//!
//! Small demands can have enormous automata: a count under a complement, or a
//! bound whose two ends are far apart. Limits on the number of states do not say
//! how long one of them takes. So all that is computed is counted, in units of
//! about the same time (a node looked at, a part of an expression, two clauses
//! compared), and a machine that has used up its allowance says so.
//!
//! An allowance grows with the steps that are made anew, so that a machine that
//! needs little for each of them can go on for long. It counts work and not time:
//! the same formula over the same run always comes to the same end.

use crate::LogicError;

/// The units for making a machine and for each of its steps.
const UNITS_MAX: u64 = 1_000_000;

/// The units that each new step adds, up to the most.
const UNITS_EACH_STEP: u64 = 10_000;

/// What is left of an allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    left: u64,
}

impl Work {
    /// The whole allowance.
    pub fn new() -> Work {
        Work { left: UNITS_MAX }
    }

    /// Takes units; fails where there are not so many left.
    #[inline]
    pub fn spend(&mut self, units: usize) -> Result<(), LogicError> {
        let left = self.left.checked_sub(units as u64);
        self.left = left.unwrap_or(0);
        match left {
            Some(_) => Ok(()),
            None => Err(LogicError::TooMuchWork { limit: UNITS_MAX }),
        }
    }

    /// A step is made that was not made before.
    pub fn begin_step(&mut self) {
        self.left = self.left.saturating_add(UNITS_EACH_STEP).min(UNITS_MAX);
    }
}
