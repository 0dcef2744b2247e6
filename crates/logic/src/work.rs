//! The work budget of a formula or an expression.
//!
//! Small formulas can have enormous automata: a count under a complement, or a bound
//! whose two ends are far apart. A limit on the number of states does not bound the time
//! to compute one of them. So all computation is counted in units of about equal time (a
//! node visited, a part of an expression, two clauses compared), and a machine that has
//! spent its budget returns an error.
//!
//! The budget grows with each new step, so a machine with cheap steps can run for long.
//! It counts work and not time: the same formula over the same run always ends the same
//! way.

use crate::LogicError;

/// Initial budget, and its maximum.
const UNITS_MAX: u64 = 1_000_000;

/// Units added for each new step, up to [`UNITS_MAX`].
const UNITS_EACH_STEP: u64 = 10_000;

/// A work budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    left: u64,
}

impl Work {
    /// Returns a full budget.
    pub fn new() -> Work {
        Work { left: UNITS_MAX }
    }

    /// Spends units of work.
    ///
    /// # Errors
    /// [`LogicError::TooMuchWork`] if the budget has fewer units left.
    #[inline]
    pub fn spend(&mut self, units: usize) -> Result<(), LogicError> {
        let left = self.left.checked_sub(units as u64);
        self.left = left.unwrap_or(0);
        match left {
            Some(_) => Ok(()),
            None => Err(LogicError::TooMuchWork { limit: UNITS_MAX }),
        }
    }

    /// Adds the units for a step that is not cached.
    pub fn begin_step(&mut self) {
        self.left = self.left.saturating_add(UNITS_EACH_STEP).min(UNITS_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_adds_to_the_budget() {
        let mut work = Work::new();
        let limit = UNITS_MAX;
        work.begin_step();
        assert_eq!(work, Work::new(), "a full budget grows");
        assert_eq!(work.spend(1_000_000), Ok(()));
        assert_eq!(work.spend(1), Err(LogicError::TooMuchWork { limit }));
        work.begin_step();
        assert_eq!(work.spend(10_000), Ok(()));
        assert_eq!(work.spend(1), Err(LogicError::TooMuchWork { limit }));
    }
}
