//! A site: one address at which a trap is inserted for its owners.
//!
//! Inserts are counted by owner, so that a monitor may remove its point while
//! the user's breakpoint at the same address stays.

use crate::{Owner, Owners, StepOver};

/// The owners of one address, and its step-over method.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    /// Inserts not yet removed, by owner in declaration order.
    counts: [u32; 7],
    /// The owners whose count is not zero.
    owners: Owners,
    /// Chosen at the first insert.
    pub(crate) step_over: StepOver,
}

impl Site {
    /// Returns a site without owners.
    pub(crate) fn new(step_over: StepOver) -> Site {
        Site {
            counts: [0; 7],
            owners: Owners::empty(),
            step_over,
        }
    }

    /// Returns the owners with at least one insert.
    pub(crate) fn owners(&self) -> Owners {
        self.owners
    }

    /// Counts one more insert of `owner`.
    pub(crate) fn add(&mut self, owner: Owner) {
        let count = self.count_mut(owner);
        *count = count.saturating_add(1);
        self.owners |= owner.into();
    }

    /// Removes one insert of `owner`; does nothing if there is none.
    pub(crate) fn subtract(&mut self, owner: Owner) {
        let count = self.count_mut(owner);
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.owners -= owner.into();
        }
    }

    /// Returns the owners that have inserts, with their counts.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (Owner, u32)> + '_ {
        let owners = [
            Owner::Developer,
            Owner::Scenario,
            Owner::Monitor,
            Owner::Step,
            Owner::Return,
            Owner::Internal,
            Owner::Schedule,
        ];
        let counted = owners.into_iter().zip(self.counts);
        counted.filter(|&(_, count)| count > 0)
    }

    fn count_mut(&mut self, owner: Owner) -> &mut u32 {
        let [
            developer,
            scenario,
            monitor,
            step,
            returned,
            internal,
            schedule,
        ] = &mut self.counts;
        match owner {
            Owner::Developer => developer,
            Owner::Scenario => scenario,
            Owner::Monitor => monitor,
            Owner::Step => step,
            Owner::Return => returned,
            Owner::Internal => internal,
            Owner::Schedule => schedule,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserts_are_counted_by_owner() {
        let mut site = Site::new(StepOver::InPlace);
        site.add(Owner::Monitor);
        site.add(Owner::Monitor);
        site.add(Owner::Developer);
        site.subtract(Owner::Monitor);
        assert_eq!(site.owners(), Owners::MONITOR | Owners::DEVELOPER);
        let counts: Vec<_> = site.counts().collect();
        assert_eq!(counts, [(Owner::Developer, 1), (Owner::Monitor, 1)]);
        site.subtract(Owner::Monitor);
        assert_eq!(site.owners(), Owners::DEVELOPER);
        site.subtract(Owner::Monitor);
        site.add(Owner::Monitor);
        assert_eq!(site.owners(), Owners::MONITOR | Owners::DEVELOPER);
    }
}
