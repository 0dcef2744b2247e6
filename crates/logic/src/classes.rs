//! Letters that make no difference to a set of guards are one class.
//!
//! There are as many letters as subsets of 64 propositions; a step asks about a
//! few of them. The classes are found by asking one proposition at a time, and
//! only while a guard still depends on one.

use crate::work::Work;
use crate::{Guard, LogicError};

/// The most classes of one state.
const CLASSES_MAX: usize = 4_096;

impl Guard {
    /// Whether it takes a letter.
    pub fn takes(self, letter: u64) -> bool {
        self.required & !letter == 0 && self.forbidden & letter == 0
    }

    /// The propositions that it asks about.
    pub fn propositions(self) -> u64 {
        self.required | self.forbidden
    }

    /// Whether it takes no letter at all.
    pub fn is_contradictory(self) -> bool {
        self.required & self.forbidden != 0
    }

    /// Whether some letter is taken by both.
    fn meets(self, other: Guard) -> bool {
        (self.required | other.required) & (self.forbidden | other.forbidden) == 0
    }
}

/// A set of guards such that each letter is taken by exactly one, and no guard
/// of the given ones tells two letters of one of them apart.
pub(crate) fn classes(
    guards: impl Iterator<Item = Guard>,
    work: &mut Work,
) -> Result<Vec<Guard>, LogicError> {
    let mut guards: Vec<Guard> = guards.filter(|guard| !guard.is_contradictory()).collect();
    guards.sort_unstable();
    guards.dedup();
    let mut found = Vec::new();
    divide(Guard::default(), &guards, &mut found, work)?;
    Ok(found)
}

fn divide(
    class: Guard,
    guards: &[Guard],
    found: &mut Vec<Guard>,
    work: &mut Work,
) -> Result<(), LogicError> {
    work.spend(1 + guards.len() / 4)?;
    // Those that take some letters of the class and not others.
    let undecided: Vec<Guard> = guards
        .iter()
        .copied()
        .filter(|guard| guard.meets(class))
        .filter(|guard| guard.propositions() & !class.propositions() != 0)
        .collect();
    let asked = undecided
        .iter()
        .fold(0, |asked, guard| asked | guard.propositions())
        & !class.propositions();
    if asked == 0 {
        if found.len() == CLASSES_MAX {
            return Err(LogicError::TooManyWays { limit: CLASSES_MAX });
        }
        found.push(class);
        return Ok(());
    }
    let bit = 1 << asked.trailing_zeros();
    let (mut without, mut with) = (class, class);
    without.forbidden |= bit;
    with.required |= bit;
    divide(without, &undecided, found, work)?;
    divide(with, &undecided, found, work)
}
