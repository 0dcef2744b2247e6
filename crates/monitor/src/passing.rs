//! The passage of time without events, for formulas with time bounds.

use crate::behaviour::Behaviour;
use crate::monitor::Monitor;
use crate::slices::Place;
use crate::step::{Occurrence, Step};
use juror_language::StateId;

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
        let moves: Vec<(StateId, StateId)> = states.advance(time);
        let mut places: Vec<(Place, StateId, StateId)> = Vec::new();
        for place in 0..self.slices.places() {
            let state = self.slices.state(place);
            let due = moves.iter().find(|(from, _)| *from == state);
            if let Some(&(from, to)) = due
                && from != to
                && self.slices.is_live(place)
            {
                places.push((place, from, to));
            }
        }
        let now = Occurrence {
            thread: 0,
            address: 0,
            time,
            values: &[],
        };
        for (place, from, to) in places {
            let change = self.change(place, None, from, to);
            let record = self.slices.last_record(place);
            self.slices.advance(place, to, &mut [], record);
            self.moved(place, from, to);
            self.changed(change, None, &now);
        }
    }
}
