//! Partition of the letters into classes that a set of guards does not distinguish.
//!
//! There are as many letters as subsets of 64 propositions; a step depends on few of
//! them. The classes are found by splitting on one proposition at a time, as long as a
//! guard still depends on one.

use crate::work::Work;
use crate::{Guard, LogicError};

/// Maximum number of classes of one state.
const CLASSES_MAX: usize = 4_096;

impl Guard {
    /// Returns whether the guard accepts a letter.
    pub fn takes(self, letter: u64) -> bool {
        self.required & !letter == 0 && self.forbidden & letter == 0
    }

    /// Returns the propositions that the guard depends on.
    pub fn propositions(self) -> u64 {
        self.required | self.forbidden
    }

    /// Returns whether the guard accepts no letter.
    pub fn is_contradictory(self) -> bool {
        self.required & self.forbidden != 0
    }

    /// Returns whether some letter is accepted by both guards.
    fn meets(self, other: Guard) -> bool {
        (self.required | other.required) & (self.forbidden | other.forbidden) == 0
    }
}

/// Returns guards that partition the letters, such that each given guard accepts all
/// letters of a class or none.
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
    // Guards that accept some letters of the class and not others.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_told_apart_only_where_a_guard_depends_on_it() {
        let check = |guards: &[(u64, u64)], expected: &[(u64, u64)]| {
            let guards = guards.iter().map(|(required, forbidden)| Guard {
                required: *required,
                forbidden: *forbidden,
            });
            let found = classes(guards, &mut Work::new()).unwrap();
            let found: Vec<(u64, u64)> = found
                .iter()
                .map(|guard| (guard.required, guard.forbidden))
                .collect();
            assert_eq!(found, expected);
        };
        check(&[], &[(0, 0)]);
        check(&[(0b1, 0)], &[(0, 0b1), (0b1, 0)]);
        // No letter meets both: where one of them may, the other makes no difference.
        check(
            &[(0b011, 0), (0b100, 0b001)],
            &[(0, 0b101), (0b100, 0b001), (0b001, 0b010), (0b011, 0)],
        );
        check(&[(0b1, 0b1)], &[(0, 0)]);
    }
}
