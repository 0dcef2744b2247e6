//! Removal of redundant slices of formulas.
//!
//! A slice that has come to equal the slice below it is dropped: after a lock has been
//! released, its last holder no longer matters.
//!
//! **Invariant:** for every binding, the maximal slice is in the same state before and
//! after the removal.

use crate::monitor::Monitor;
use crate::slices::{BASE, Place, SliceId};
use crate::words::mask_of;
use juror_event::Verdict;

impl Monitor {
    /// Drops slices that equal the slice below them.
    pub(crate) fn prune(&mut self, touched: &[Place]) {
        let mut ranked = std::mem::take(&mut self.scratch.ranked);
        ranked.clear();
        for &place in touched {
            if self.may_be_as_below(place) {
                let bound = self.slices.mask(place).count_ones();
                ranked.push(u64::from(bound) << 32 | u64::from(place));
            }
        }
        // From those that bind least, in the order of their cells.
        ranked.sort_unstable();
        let mut lost_violation: Option<SliceId> = None;
        for &rank in &ranked {
            let place = rank as Place;
            let state = self.slices.state(place);
            let Some(below) = self.below(place) else {
                continue;
            };
            if self.slices.state(below) == state {
                if self.behaviour.verdict(state) == Verdict::Violated {
                    lost_violation = Some(self.slices.id(place));
                }
                self.forget(place);
            }
        }
        self.scratch.ranked = ranked;
        if lost_violation.is_some() {
            // The slice below reports the violation.
            let mut changes = std::mem::take(&mut self.changes);
            changes.retain(|change| self.is_live(change.slice) || !change.violates());
            self.changes = changes;
        }
    }

    /// Returns true if a slice that binds less may be in the same state.
    fn may_be_as_below(&self, place: Place) -> bool {
        if place == BASE || !self.slices.is_live(place) {
            return false;
        }
        let state = self.slices.state(place);
        let is_of_base = self.slices.state(BASE) == state;
        is_of_base || self.index.has_below(self.slices.mask(place), state)
    }

    /// Returns the maximal slice whose binding is a proper part of this slice's; `None`
    /// if there are several.
    pub(crate) fn below(&self, place: Place) -> Option<Place> {
        let binding = self.slices.binding(place);
        let mask = mask_of(binding);
        let (mut below, mut of_below) = (BASE, 0_u32);
        for inner in self.index.masks() {
            // A subset of the largest set found so far makes no difference.
            if inner & mask != inner || inner == mask || inner & of_below == inner {
                continue;
            }
            if let Some(found) = self.index.exact(&self.slices, binding, inner) {
                if of_below != 0 {
                    return None;
                }
                (below, of_below) = (found, inner);
            }
        }
        Some(below)
    }
}
