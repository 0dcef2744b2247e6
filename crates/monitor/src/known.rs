//! The fast path for the common event: it concerns one existing slice and changes only
//! the state of that slice.
//!
//! **Invariant:** the result is the same as without this path, which only checks less:
//! no guard, no roles, no new slice, no final verdict.

use crate::monitor::Monitor;
use crate::routing::Delivery;
use crate::slices::{BASE, Place};
use crate::step::{Occurrence, Step};
use crate::words::OTHER;
use juror_event::{EventId, Value};

impl Monitor {
    /// Takes the event if it is a common one; returns `None` and does nothing
    /// otherwise.
    #[inline]
    pub(crate) fn step_known(
        &mut self,
        event: EventId,
        occurrence: &Occurrence<'_>,
    ) -> Option<Step> {
        if !self.needs.is_counted() || !self.needs.is_needed(event) {
            return None;
        }
        let place = self.known_place(event, occurrence)?;
        let from = self.slices.state(place);
        let to = self.behaviour.quick(from, event)?;
        if !self.behaviour.is_prepared(to) {
            return None;
        }
        let before = self.verdict();
        self.needs.take_changed();
        self.begin();
        if from == to && self.behaviour.ignores(from, event) {
            return Some(self.summary(before));
        }
        let delivery = Delivery {
            event,
            occurrence,
            applying: 0,
        };
        let record = self.remember(delivery, self.slices.last_record(place), from, to);
        let mut change = self.change(place, None, from, to);
        change.branch = self.branch_taken(delivery, place, from);
        self.slices.advance(place, to, &mut [], record);
        if from != to {
            self.moved(place, from, to);
        }
        self.changed(change, Some(event), occurrence);
        if self.drops && place != BASE && to == self.slices.state(BASE) {
            self.forget(place);
        }
        Some(self.summary(before))
    }

    /// Returns the slice that the event concerns, if there is only one and its values
    /// are their own words.
    #[inline]
    fn known_place(&mut self, event: EventId, occurrence: &Occurrence<'_>) -> Option<Place> {
        match self.parameters {
            0 => Some(BASE),
            1 => {
                let slot = self.plan.only_slot(event)?;
                let value = occurrence.values.get(usize::from(slot))?;
                let is_own_word = match value {
                    Value::Address(address) => *address < OTHER,
                    Value::Int(number) => (0..i128::from(OTHER)).contains(number),
                    _ => false,
                };
                if !is_own_word {
                    return None;
                }
                let word = self.words.word(0, value);
                self.index.only(&self.slices, word)
            }
            _ => None,
        }
    }
}
