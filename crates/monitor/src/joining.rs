//! Creation of slices by joining existing slices with the binding of an event.
//!
//! The set of slices is closed under joins: if two slices are compatible (they agree on
//! the parameters that both bind), there is a slice with the bindings of both. So for
//! every binding there is one maximal slice.
//!
//! A new slice that would be in the same state as its parent after the event is not
//! created (it is *declined*), unless another slice was created between the two.
//! Nothing is lost, since the maximal slice for the binding is in the same state.
//!
//! The first parent of a binding, in the order from those that bind most, is its
//! maximal slice. Parents in a state that the event does not change decline and are not
//! looked at; so the existence of an earlier parent is checked when a later one would
//! create the slice.

use crate::automaton::Taken;
use crate::monitor::Monitor;
use crate::plan::Plan;
use crate::routing::Delivery;
use crate::slices::{BASE, Place};
use crate::words::{Word, join, mask_of};
use juror_language::{EvaluationError, StateId};
use std::cmp::Reverse;
use std::ops::Range;

/// The slices that an event could create from the parents with one set of parameters
/// and one binding of the event.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    /// The parameters that the parents bind.
    parents: u32,
    /// The range of the event's binding in the scratch buffer.
    union: Range<usize>,
    /// The parameters that the event binds.
    of_event: u32,
    /// The parameters that the slices would bind.
    mask: u32,
    /// True if some of the parents decline, as far as they were asked.
    declines: bool,
}

impl Monitor {
    /// Creates the slices that join parents with the bindings of the event in its
    /// roles.
    pub(crate) fn join(
        &mut self,
        plan: &Plan,
        delivery: Delivery<'_>,
    ) -> Result<(), EvaluationError> {
        self.scratch.created.clear();
        self.scratch.created_masks.clear();
        self.unite_roles(plan)?;
        let mut families = std::mem::take(&mut self.scratch.families);
        self.find_families(&mut families);
        let mut result = Ok(());
        for family in &mut families {
            result = result.and(self.bear_family(plan, delivery, family));
        }
        if !self.scratch.created.is_empty() {
            self.separate(plan, delivery, &mut families);
        }
        self.scratch.families = families;
        result
    }

    /// Collects all bindings that slices can have from the event: those of its roles,
    /// and those of several roles together, as far as the constraint admits them.
    fn unite_roles(&mut self, plan: &Plan) -> Result<(), EvaluationError> {
        let parameters = self.parameters;
        let scratch = &mut self.scratch;
        scratch.unions.clear();
        for role in scratch.role_words.chunks(parameters.max(1)) {
            let mask = mask_of(role);
            if mask == 0 || !plan.constraint.admits(role, mask, &self.words)? {
                continue;
            }
            let known = scratch.unions.len();
            scratch.unions.extend_from_slice(role);
            let mut start = 0;
            while start < known {
                let other = scratch.unions.get(start..start + parameters);
                let agrees = join(other.unwrap_or(&[]), role, &mut scratch.joined);
                start += parameters;
                if !agrees {
                    continue;
                }
                let joined = scratch.joined.as_slice();
                let mut all = scratch.unions.chunks(parameters);
                let is_new = !all.any(|union| union == joined);
                let mask = mask_of(joined);
                if is_new && plan.constraint.admits(joined, mask, &self.words)? {
                    scratch.unions.extend_from_slice(joined);
                }
            }
        }
        Ok(())
    }

    fn union_words(&self, family: &Family) -> &[Word] {
        let words = self.scratch.unions.get(family.union.clone());
        words.unwrap_or(&[])
    }

    /// Lists the families of slices that the event could create, those whose parents
    /// bind most first.
    fn find_families(&self, families: &mut Vec<Family>) {
        families.clear();
        let parameters = self.parameters.max(1);
        for parents in self.index.masks().chain([0]) {
            let unions = self.scratch.unions.chunks(parameters);
            for (number, union) in unions.enumerate() {
                let of_event = mask_of(union);
                let mask = of_event | parents;
                if mask != parents {
                    let union = number * parameters..(number + 1) * parameters;
                    families.push(Family {
                        parents,
                        union,
                        of_event,
                        mask,
                        declines: false,
                    });
                }
            }
        }
    }

    /// Finds the parents of a family whose state satisfies `is_such`, in the order of
    /// their cells. Returns true if there may be others.
    fn find_parents(
        &self,
        family: &Family,
        is_such: &impl Fn(StateId) -> bool,
        parents: &mut Vec<Place>,
    ) -> bool {
        parents.clear();
        let mut looked_at_all = true;
        if family.parents == 0 {
            parents.push(BASE);
        } else {
            let union = (self.union_words(family), family.of_event);
            let of_family = family.parents;
            looked_at_all = self
                .index
                .parents(&self.slices, of_family, union, is_such, parents);
        }
        let found = parents.len();
        parents.retain(|&parent| is_such(self.slices.state(parent)));
        parents.sort_unstable();
        !looked_at_all || parents.len() < found
    }

    fn bear_family(
        &mut self,
        plan: &Plan,
        delivery: Delivery<'_>,
        family: &mut Family,
    ) -> Result<(), EvaluationError> {
        let mut parents = std::mem::take(&mut self.scratch.parents);
        let is_changed = |state| self.behaviour.is_changed_by(state, delivery.event);
        family.declines = self.find_parents(family, &is_changed, &mut parents);
        // Distinct parents of one family have distinct joined bindings.
        let union = self.union_words(family);
        let may_exist = self.index.may_contain(&self.slices, family.mask, union);
        let mut result = Ok(());
        for &parent in &parents {
            self.join_binding(family, parent);
            let joined = &self.scratch.joined;
            let is_known = may_exist
                && self
                    .index
                    .exact(&self.slices, joined, family.mask)
                    .is_some();
            if !is_known && !self.was_asked(family) {
                let is_born = self.bear_candidate(plan, delivery, family, parent);
                family.declines |= is_born != Ok(true);
                result = result.and(is_born.map(|_| ()));
            }
        }
        self.scratch.parents = parents;
        result
    }

    /// Writes the joined binding of the parent and the event to the scratch buffer.
    fn join_binding(&mut self, family: &Family, parent: Place) {
        let scratch = &mut self.scratch;
        let union = scratch.unions.get(family.union.clone());
        let parent = self.slices.binding(parent);
        join(union.unwrap_or(&[]), parent, &mut scratch.joined);
    }

    /// Returns true if a parent that comes before those of the family has the same
    /// joined binding.
    fn was_asked(&self, family: &Family) -> bool {
        let joined = &self.scratch.joined;
        let before = self.index.masks();
        let before = before.take_while(|&mask| mask != family.parents);
        let mut before =
            before.filter(|&mask| mask | family.of_event == family.mask && mask != family.mask);
        before.any(|mask| {
            let found = self.index.exact(&self.slices, joined, mask);
            found.is_some_and(|found| !self.scratch.created.contains(&found))
        })
    }

    /// Returns the state of a parent after the event, which it may itself take in
    /// another role.
    fn state_after(
        &mut self,
        delivery: Delivery<'_>,
        family: &Family,
        parent: Place,
    ) -> Result<StateId, EvaluationError> {
        let from = self.slices.state(parent);
        let binding = self.slices.binding(parent);
        Ok(match self.effects_at(binding, family.parents) {
            0 => from,
            own => self.take(delivery, own, parent)?.leads(from),
        })
    }

    /// Applies the event to the joined binding; returns `None` if the parent declines.
    fn take_joined(
        &mut self,
        delivery: Delivery<'_>,
        family: &Family,
        parent: Place,
    ) -> Result<Option<Taken>, EvaluationError> {
        let after = self.state_after(delivery, family, parent)?;
        let effects = self.effects_at(&self.scratch.joined, family.mask);
        let taken = self.take(delivery, effects, parent)?;
        let is_declined = if self.drops {
            taken.leads(self.slices.state(parent)) == after
        } else {
            taken == Taken::Ignored
        };
        Ok((!is_declined).then_some(taken))
    }

    /// Creates the slice with the joined binding if the constraint admits it; returns
    /// false if its parent declines.
    fn bear_candidate(
        &mut self,
        plan: &Plan,
        delivery: Delivery<'_>,
        family: &Family,
        parent: Place,
    ) -> Result<bool, EvaluationError> {
        let joined = &self.scratch.joined;
        if !plan.constraint.admits(joined, family.mask, &self.words)? {
            return Ok(true);
        }
        let Some(taken) = self.take_joined(delivery, family, parent)? else {
            return Ok(false);
        };
        let from = self.slices.state(parent);
        let place = self.bear(delivery, parent, from, taken.leads(from), taken)?;
        if self.slices.is_live(place) {
            self.note_created(place, family.mask);
        }
        Ok(true)
    }

    /// Creates copies of parents that declined, where a newly created slice would
    /// otherwise be the maximal one for the binding. Proceeds from the slices that bind
    /// least, since a copy may require another.
    fn separate(&mut self, plan: &Plan, delivery: Delivery<'_>, families: &mut [Family]) {
        let mut parents = std::mem::take(&mut self.scratch.parents);
        families.sort_unstable_by_key(|family| {
            let most_bound_first = Reverse(family.parents.count_ones());
            let bound = family.mask.count_ones();
            (bound, most_bound_first, family.parents, family.union.start)
        });
        for family in families.iter().filter(|family| family.declines) {
            if !self.masks_between(family).any(|_| true) {
                continue;
            }
            self.find_parents(family, &|_| true, &mut parents);
            parents.retain(|parent| !self.scratch.created.contains(parent));
            for &parent in &parents {
                self.separate_from(plan, delivery, family, parent);
            }
        }
        self.scratch.parents = parents;
    }

    fn note_created(&mut self, place: Place, mask: u32) {
        self.scratch.created.push(place);
        if !self.scratch.created_masks.contains(&mask) {
            self.scratch.created_masks.push(mask);
        }
    }

    /// Returns the parameter sets of newly created slices that are proper subsets of
    /// those of the family.
    fn masks_between(&self, family: &Family) -> impl Iterator<Item = u32> + use<'_> {
        let whole = family.mask;
        let masks = self.scratch.created_masks.iter().copied();
        masks.filter(move |&mask| mask & whole == mask && mask != whole)
    }

    /// Returns true if the event created the slice that binds this part of the joined
    /// binding.
    fn created(&self, mask: u32) -> bool {
        let found = self.index.exact(&self.slices, &self.scratch.joined, mask);
        found.is_some_and(|found| self.scratch.created.contains(&found))
    }

    /// Creates a copy of one parent that declined, if a slice was created between the
    /// two.
    fn separate_from(
        &mut self,
        plan: &Plan,
        delivery: Delivery<'_>,
        family: &Family,
        parent: Place,
    ) {
        self.join_binding(family, parent);
        let joined = &self.scratch.joined;
        if !self.masks_between(family).any(|mask| self.created(mask))
            || self
                .index
                .exact(&self.slices, joined, family.mask)
                .is_some()
            || self.was_asked(family)
            || !matches!(
                plan.constraint.admits(joined, family.mask, &self.words),
                Ok(true)
            )
        {
            return;
        }
        // If the step has no value, the slice equals its parent. If it was created and
        // is gone, it was in a final state at once.
        if let Ok(Some(_)) = self.take_joined(delivery, family, parent) {
            return;
        }
        // The parent reports this error itself when it takes the event.
        let Ok(state) = self.state_after(delivery, family, parent) else {
            return;
        };
        let record = self.slices.last_record(parent);
        let place = self.settle(parent, state, Taken::Goes(state), record);
        self.note_created(place, family.mask);
    }
}
