//! The consequences of a transition of a slice: counts, history records, reports, and
//! the end of slices that are forgotten.
//!
//! **Invariant:** every live slice is in the index, is counted once in the tally of
//! verdicts and, unless counting is deferred, once in the needs of its state.

use crate::automaton::Taken;
use crate::behaviour::Behaviour;
use crate::history::Record;
use crate::monitor::{ENDED_MAX, Ended, Monitor};
use crate::routing::Delivery;
use crate::slices::{BASE, Place, SliceId};
use crate::step::{Change, Occurrence};
use juror_event::{EventId, Verdict};
use juror_language::{EvaluationError, StateId};

impl Monitor {
    /// Updates the index, the tally and the needs for a slice that has moved to another
    /// state.
    #[inline]
    pub(crate) fn moved(&mut self, place: Place, from: StateId, to: StateId) {
        let (before, after) = (self.behaviour.verdict(from), self.behaviour.verdict(to));
        if before != after {
            self.tally.enter(after);
            self.tally.leave(before);
        }
        if self.parameters > 1 {
            self.index.moved(&self.slices, place, from, to);
        }
        self.needs.enter(to, || self.behaviour.needs(to));
        self.leave(from);
    }

    /// Updates the needs for a slice that leaves this state.
    #[inline]
    fn leave(&mut self, state: StateId) {
        self.needs.leave(state, || self.behaviour.needs(state));
        if let Behaviour::Timed(states) = &mut self.behaviour
            && !self.needs.is_occupied(state)
        {
            states.release(state);
        }
    }

    /// Creates a slice with the joined binding, in the state to which the parent's
    /// state leads.
    pub(crate) fn bear(
        &mut self,
        delivery: Delivery<'_>,
        parent: Place,
        from: StateId,
        to: StateId,
        taken: Taken,
    ) -> Result<Place, EvaluationError> {
        let last = self.slices.last_record(parent);
        let record = self.remember(delivery, last, from, to);
        let place = self.settle(parent, to, taken, record);
        let mut change = self.change(place, Some(parent), from, to);
        change.branch = self.branch_taken(delivery, parent, from);
        self.changed(change, Some(delivery.event), delivery.occurrence);
        Ok(place)
    }

    /// Adds a slice with the joined binding.
    pub(crate) fn settle(
        &mut self,
        parent: Place,
        state: StateId,
        taken: Taken,
        record: Option<u64>,
    ) -> Place {
        if !matches!(taken, Taken::Updates(_)) {
            let of_parent = self.slices.environment(parent);
            crate::slices::copy_values(&mut self.scratch.environment, of_parent);
        }
        let environment = &self.scratch.environment;
        let joined = &self.scratch.joined;
        let place = self.slices.insert(joined, state, environment, record);
        self.index.insert(&self.slices, place);
        self.needs.enter(state, || self.behaviour.needs(state));
        self.tally.enter(self.behaviour.verdict(state));
        self.peak = self.peak.max(self.slices.count());
        place
    }

    #[inline]
    pub(crate) fn remember(
        &mut self,
        delivery: Delivery<'_>,
        previous: Option<u64>,
        from: StateId,
        to: StateId,
    ) -> Option<u64> {
        if !self.history.is_kept() {
            return None;
        }
        let record = Record {
            previous,
            sequence: self.sequence,
            event: delivery.event,
            from: self.behaviour.shown(from),
            to: self.behaviour.shown(to),
            thread: delivery.occurrence.thread,
            address: delivery.occurrence.address,
            time: delivery.occurrence.time,
        };
        self.history.push(record, delivery.occurrence)
    }

    /// Builds the report of a transition.
    #[inline]
    pub(crate) fn change(
        &self,
        place: Place,
        parent: Option<Place>,
        from: StateId,
        to: StateId,
    ) -> Change {
        Change {
            slice: self.slices.id(place),
            parent: parent.map(|parent| self.slices.id(parent)),
            from: self.behaviour.shown(from),
            to: self.behaviour.shown(to),
            verdict_before: self.behaviour.verdict(from),
            verdict_after: self.behaviour.verdict(to),
            ended: place != BASE && self.behaviour.is_final(to),
            branch: None,
            deadline: None,
        }
    }

    /// Returns the branch that an event took in a slice that was in this state, and
    /// whose variables are not updated yet.
    #[inline]
    pub(crate) fn branch_taken(
        &self,
        delivery: Delivery<'_>,
        place: Place,
        from: StateId,
    ) -> Option<u32> {
        let slice = (from, self.slices.environment(place));
        let captures = delivery.occurrence.values;
        self.behaviour.branch_taken(slice, delivery.event, captures)
    }

    /// Records a transition, and forgets a slice that is in a final state.
    #[inline]
    pub(crate) fn changed(
        &mut self,
        change: Change,
        event: Option<EventId>,
        occurrence: &Occurrence<'_>,
    ) {
        if change.violates() {
            self.violations
                .note(&change, event, occurrence, self.sequence);
        }
        self.changes.push(change);
        if change.ended
            && let Some(place) = self.slices.place_of(change.slice)
        {
            self.end(place, change.to, change.verdict_after);
        }
    }

    /// Forgets a slice in a final state, except for reports.
    fn end(&mut self, place: Place, state: StateId, verdict: Verdict) {
        if verdict == Verdict::Violated && self.ended.len() < ENDED_MAX {
            self.ended.push(Ended {
                id: self.slices.id(place),
                binding: self.words.binding(self.slices.binding(place)),
                state,
                environment: self.slices.environment(place).to_vec(),
                last_record: self.slices.last_record(place),
            });
        }
        self.ended_count += 1;
        self.forget(place);
    }

    /// Removes a slice.
    pub(crate) fn forget(&mut self, place: Place) {
        let state = self.slices.state(place);
        if place == BASE || !self.slices.is_live(place) {
            return;
        }
        self.index.remove(&self.slices, place);
        self.slices.remove(place);
        self.tally.leave(self.behaviour.verdict(state));
        self.leave(state);
    }

    /// Returns true if the slice still exists.
    pub(crate) fn is_live(&self, slice: SliceId) -> bool {
        self.slices.place_of(slice).is_some()
    }
}
