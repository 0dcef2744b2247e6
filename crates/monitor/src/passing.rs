//! The passage of time without events, for formulas with time bounds.

use crate::behaviour::Behaviour;
use crate::history::PathEvent;
use crate::monitor::{ENDED_MAX, Monitor};
use crate::slices::{Place, SliceId};
use crate::step::{Occurrence, Step};
use crate::timed::Expired;
use juror_language::StateId;
use std::collections::BTreeMap;

impl Monitor {
    /// Returns the time at which something is decided without an event, in nanoseconds
    /// since the program's start, when [`Monitor::advance`] must be called; `None` if
    /// no deadline is pending.
    pub fn next_deadline(&self) -> Option<u64> {
        match &self.behaviour {
            Behaviour::Timed(states) => states.next_deadline(),
            _ => None,
        }
    }

    /// Advances the time, in nanoseconds since the program's start. No events before
    /// that time may be missing.
    pub fn advance(&mut self, time: u64) -> Step {
        let before = self.verdict();
        self.changes.clear();
        self.needs.take_changed();
        self.pass(time);
        self.sweep();
        self.summary(before)
    }

    /// Returns the time, in nanoseconds since the program's start, from which on a slice
    /// was violated without an event; `None` if an event violated it, or the end of the
    /// run.
    pub fn deadline(&self, slice: SliceId) -> Option<u64> {
        let mut expired = self.expired.iter();
        let found = expired.find(|(violated, _)| *violated == slice);
        found.map(|(_, deadline)| *deadline)
    }

    /// Returns the event that set a deadline: the last one on the slice's path that is as
    /// far before it as a bound of the formula is wide.
    pub fn asked(&self, slice: SliceId, deadline: u64) -> Option<PathEvent> {
        let Behaviour::Timed(states) = &self.behaviour else {
            return None;
        };
        let widths = states.widths();
        let asks = |time: u64| {
            let distance = deadline.checked_sub(time);
            // Both ends of a bound belong to it.
            let distance = distance.and_then(|distance| distance.checked_sub(1));
            distance.is_some_and(|distance| widths.binary_search(&distance).is_ok())
        };
        self.history.find(self.last_record_of(slice), asks)
    }

    fn note_expired(&mut self, slice: SliceId, deadline: u64) {
        if self.expired.len() == ENDED_MAX {
            self.expired.pop_front();
        }
        self.expired.push_back((slice, deadline));
    }

    /// Decides what is due before an event.
    #[inline]
    pub(crate) fn pass(&mut self, time: u64) {
        if self
            .next_deadline()
            .is_some_and(|deadline| deadline <= time)
        {
            self.expire(time);
        }
    }

    /// Forgets states that no slice has entered.
    #[inline]
    pub(crate) fn sweep(&mut self) {
        if let Behaviour::Timed(states) = &mut self.behaviour {
            states.sweep(|state| self.needs.is_occupied(state));
        }
    }

    /// Moves the slices whose deadlines have passed.
    fn expire(&mut self, time: u64) {
        let Behaviour::Timed(states) = &mut self.behaviour else {
            return;
        };
        let moves: BTreeMap<StateId, Expired> = states
            .advance(time)
            .into_iter()
            .map(|expired| (expired.from, expired))
            .collect();
        let mut places: Vec<(Place, Expired)> = Vec::new();
        for place in 0..self.slices.places() {
            let state = self.slices.state(place);
            if let Some(&expired) = moves.get(&state)
                && expired.from != expired.to
                && self.slices.is_live(place)
            {
                places.push((place, expired));
            }
        }
        let now = Occurrence {
            thread: 0,
            address: 0,
            time,
            values: &[],
        };
        for (place, Expired { from, to, deadline }) in places {
            let mut change = self.change(place, None, from, to);
            change.deadline = Some(deadline);
            if change.violates() {
                self.note_expired(change.slice, deadline);
            }
            let record = self.slices.last_record(place);
            self.slices.advance(place, to, &mut [], record);
            self.moved(place, from, to);
            self.changed(change, None, &now);
        }
    }
}
