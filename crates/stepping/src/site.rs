//! A site: one address at which a trap stands for its owners.
//!
//! Inserts are counted by owner, so that a monitor may give its point back
//! while the developer's breakpoint at the same address stays.

use crate::{Owner, Owners, StepOver};

/// Who wants to know of arrivals at one address, and the way past it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    /// Inserts not yet taken back, by owner in declaration order.
    counts: [u32; 6],
    /// The owners whose count is not zero.
    owners: Owners,
    /// Chosen at the first insert.
    pub(crate) step_over: StepOver,
}

impl Site {
    /// A site that nobody wants yet.
    pub(crate) fn new(step_over: StepOver) -> Site {
        Site {
            counts: [0; 6],
            owners: Owners::empty(),
            step_over,
        }
    }

    /// The owners with at least one insert.
    pub(crate) fn owners(&self) -> Owners {
        self.owners
    }

    /// Counts one more insert of `owner`.
    pub(crate) fn add(&mut self, owner: Owner) {
        let count = self.count_mut(owner);
        *count = count.saturating_add(1);
        self.owners |= owner.into();
    }

    /// Takes one insert of `owner` back; nothing when it has none.
    pub(crate) fn subtract(&mut self, owner: Owner) {
        let count = self.count_mut(owner);
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.owners -= owner.into();
        }
    }

    /// The owners with their inserts, where there are any.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (Owner, u32)> + '_ {
        let owners = [
            Owner::Developer,
            Owner::Scenario,
            Owner::Monitor,
            Owner::Step,
            Owner::Return,
            Owner::Internal,
        ];
        let counted = owners.into_iter().zip(self.counts);
        counted.filter(|&(_, count)| count > 0)
    }

    fn count_mut(&mut self, owner: Owner) -> &mut u32 {
        let [developer, scenario, monitor, step, returned, internal] = &mut self.counts;
        match owner {
            Owner::Developer => developer,
            Owner::Scenario => scenario,
            Owner::Monitor => monitor,
            Owner::Step => step,
            Owner::Return => returned,
            Owner::Internal => internal,
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
