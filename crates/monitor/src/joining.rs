//! New slices, from what there is and what an event binds, and their end.
//!
//! The slices are closed: when two of them contradict nothing, a slice has the
//! bindings of both. So for every binding one slice knows most of it.
//!
//! A new slice that would be as its parent is after the event is left out
//! (*declined*), unless another slice came into being between the two. Of
//! formulas, a slice that has become as the one below it is dropped again: when
//! a lock has been released, nothing need be known of who held it. Nothing is
//! lost by either, since the slice that now knows most of the binding is in the
//! same state.
//!
//! The first parent of a binding, from those that bind most, is the one that
//! knows most of it.

use crate::automaton::Taken;
use crate::hashing;
use crate::monitor::Monitor;
use crate::plan::Plan;
use crate::routing::Delivery;
use crate::slices::{BASE, Place, SliceId};
use crate::words::{UNBOUND, Word, contains, hash_words, join, mask_of};
use juror_event::Verdict;
use juror_language::{EvaluationError, StateId};
use std::cmp::Reverse;

/// A slice that an event could make: from this parent with this binding of the
/// event, by number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub parent: Place,
    pub union: u32,
    /// What the parent binds, and its name: the order in which they are asked.
    mask: u32,
    id: SliceId,
}

/// A binding that no slice has after a parent was asked for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settled {
    candidate: Candidate,
    /// The state that its parent is in after the event; nothing when a slice
    /// had the binding and was forgotten at once, or its step had no value.
    state: Option<StateId>,
}

impl Monitor {
    /// New slices from parents and all that the event binds in its roles.
    pub(crate) fn join(
        &mut self,
        plan: &Plan,
        delivery: Delivery<'_>,
    ) -> Result<(), EvaluationError> {
        self.scratch.settled.clear();
        self.scratch.settled_numbers.clear();
        self.scratch.created.clear();
        self.unite_roles(plan)?;
        let mut result = Ok(());
        let left_out = self.find_candidates(delivery, false);
        result = result.and(self.bear_candidates(plan, delivery));
        if left_out && !self.scratch.created.is_empty() {
            self.find_candidates(delivery, true);
            result = result.and(self.bear_candidates(plan, delivery));
        }
        self.separate();
        result
    }

    /// All bindings that slices can have of the event: those of its roles, and
    /// those of several roles together that the constraint admits.
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

    fn union_words(&self, union: u32) -> &[Word] {
        let start = union as usize * self.parameters;
        let words = self.scratch.unions.get(start..start + self.parameters);
        words.unwrap_or(&[])
    }

    /// The parents that contradict nothing, those that bind most first. `all`:
    /// those too that the event meets in no parameter and cannot change. Gives
    /// whether such were left out.
    fn find_candidates(&mut self, delivery: Delivery<'_>, all: bool) -> bool {
        let mut candidates = std::mem::take(&mut self.scratch.candidates);
        let mut parents = std::mem::take(&mut self.scratch.parents);
        candidates.clear();
        let mut left_out = false;
        let unions = self.scratch.unions.len() / self.parameters.max(1);
        let is_changed = |state| all || self.behaviour.is_changed_by(state, delivery.event);
        for union in 0..unions as u32 {
            let binding = self.union_words(union);
            parents.clear();
            let mask = mask_of(binding);
            left_out |= self
                .index
                .parents(&self.slices, binding, mask, &is_changed, &mut parents);
            candidates.extend(parents.iter().map(|&parent| Candidate {
                parent,
                union,
                mask: self.slices.mask(parent),
                id: self.slices.id(parent),
            }));
        }
        candidates.sort_unstable_by_key(|candidate| {
            let most_bound_first = Reverse(candidate.mask.count_ones());
            let Candidate {
                mask, id, union, ..
            } = *candidate;
            (most_bound_first, mask, id, union)
        });
        self.scratch.candidates = candidates;
        self.scratch.parents = parents;
        left_out
    }

    fn bear_candidates(
        &mut self,
        plan: &Plan,
        delivery: Delivery<'_>,
    ) -> Result<(), EvaluationError> {
        let candidates = std::mem::take(&mut self.scratch.candidates);
        let mut result = Ok(());
        for &candidate in &candidates {
            result = result.and(self.bear_candidate(plan, delivery, candidate));
        }
        self.scratch.candidates = candidates;
        result
    }

    /// Puts what the parent and the event bind together into the scratch.
    fn join_binding(&mut self, candidate: Candidate) -> u32 {
        let start = candidate.union as usize * self.parameters;
        let scratch = &mut self.scratch;
        let union = scratch.unions.get(start..start + self.parameters);
        let parent = self.slices.binding(candidate.parent);
        join(union.unwrap_or(&[]), parent, &mut scratch.joined);
        mask_of(&scratch.joined)
    }

    fn bear_candidate(
        &mut self,
        plan: &Plan,
        delivery: Delivery<'_>,
        candidate: Candidate,
    ) -> Result<(), EvaluationError> {
        let mask = self.join_binding(candidate);
        let joined = &self.scratch.joined;
        let known = self.index.exact(&self.slices, joined, mask).is_some();
        if known || self.is_settled(mask) {
            return Ok(());
        }
        if !plan.constraint.admits(joined, mask, &self.words)? {
            return Ok(());
        }
        let parent = candidate.parent;
        let from = self.slices.state(parent);
        // A parent that takes the event itself, in another role.
        let own = self.effects_on(parent);
        let after = match own {
            0 => from,
            own => match self.take(delivery, own, parent)? {
                Taken::Ignored => from,
                Taken::Goes(to) | Taken::Updates(to) => to,
            },
        };
        let effects = self.effects_at(&self.scratch.joined);
        let taken = match self.take(delivery, effects, parent) {
            Ok(taken) => taken,
            Err(error) => {
                // Its slice stays what its parent is.
                self.settle_as(candidate, mask, Some(after));
                return Err(error);
            }
        };
        let to = match taken {
            Taken::Ignored => from,
            Taken::Goes(to) | Taken::Updates(to) => to,
        };
        let is_declined = match self.drops {
            true => to == after,
            false => taken == Taken::Ignored,
        };
        if is_declined {
            self.settle_as(candidate, mask, Some(after));
            return Ok(());
        }
        let place = self.bear(delivery, parent, from, to, taken)?;
        if self.slices.is_live(place) {
            self.scratch.created.push(place);
        } else {
            self.settle_as(candidate, mask, None);
        }
        Ok(())
    }

    fn settle_as(&mut self, candidate: Candidate, mask: u32, state: Option<StateId>) {
        let number = self.scratch.settled.len() as u32;
        self.scratch.settled.push(Settled { candidate, state });
        let key = hashing::mix(hash_words(&self.scratch.joined, mask), mask.into());
        self.scratch
            .settled_numbers
            .insert_unique(key, (key, number), |(key, _)| *key);
    }

    /// True when a parent that knows more has settled the joined binding.
    fn is_settled(&self, mask: u32) -> bool {
        let joined = &self.scratch.joined;
        let key = hashing::mix(hash_words(joined, mask), mask.into());
        let same = |(other, number): &(u64, u32)| {
            *other == key
                && self.scratch.settled.get(*number as usize).is_some_and(|s| {
                    let parent = self.slices.binding(s.candidate.parent);
                    let union = self.union_words(s.candidate.union);
                    let both = joined.iter().zip(parent.iter().zip(union));
                    both.into_iter().all(|(&joined, (&parent, &union))| {
                        joined == if union == UNBOUND { parent } else { union }
                    })
                })
        };
        self.scratch.settled_numbers.find(key, same).is_some()
    }

    /// Copies of parents that declined, where a slice that came into being
    /// would otherwise be taken for the one that knows most of the binding.
    /// From those that bind least, since a copy may call for another.
    fn separate(&mut self) {
        if self.scratch.created.is_empty() || self.scratch.settled.is_empty() {
            return;
        }
        let mut settled = std::mem::take(&mut self.scratch.settled);
        settled.retain(|settled| settled.state.is_some());
        settled.sort_by_cached_key(|settled| {
            let mask = self.join_binding(settled.candidate);
            (mask.count_ones(), settled.candidate.parent)
        });
        for settled in &settled {
            let mask = self.join_binding(settled.candidate);
            let joined = &self.scratch.joined;
            let is_between = |&created: &Place| {
                let binding = self.slices.binding(created);
                self.slices.is_live(created)
                    && contains(joined, binding)
                    && mask_of(binding) != mask
            };
            if self.scratch.created.iter().any(is_between)
                && let Some(state) = settled.state
            {
                let parent = settled.candidate.parent;
                let record = self.slices.last_record(parent);
                let place = self.settle(parent, state, Taken::Goes(state), record);
                self.scratch.created.push(place);
            }
        }
        self.scratch.settled = settled;
    }

    /// Drops slices that have become as the one below them.
    pub(crate) fn prune(&mut self, touched: &[Place]) {
        let mut ranked = std::mem::take(&mut self.scratch.ranked);
        let rank = |&place: &Place| (self.slices.mask(place).count_ones(), place);
        ranked.clear();
        ranked.extend(touched.iter().map(rank));
        ranked.sort_unstable();
        let mut lost_violation: Option<SliceId> = None;
        for &(_, place) in &ranked {
            if place == BASE || !self.slices.is_live(place) {
                continue;
            }
            let state = self.slices.state(place);
            let is_of_base = self.slices.state(BASE) == state;
            if !is_of_base && !self.index.has_below(self.slices.mask(place), state) {
                continue;
            }
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
            // The slice below tells of it.
            let mut changes = std::mem::take(&mut self.changes);
            changes.retain(|change| self.is_live(change.slice) || !change.violates());
            self.changes = changes;
        }
    }

    /// The slice that knows most of a slice's binding, itself apart; nothing
    /// when there are several.
    pub(crate) fn below(&self, place: Place) -> Option<Place> {
        let binding = self.slices.binding(place);
        let mask = mask_of(binding);
        let (mut below, mut of_below) = (BASE, 0_u32);
        for inner in self.index.masks() {
            // What binds a part of what the largest binds makes no difference.
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
