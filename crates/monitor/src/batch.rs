//! Events as plain numbers, for traces that are checked offline.
//!
//! The same evaluator and the same slices: only the way in is shorter, where
//! all that an event carries are whole numbers and nobody asks for the thread
//! or the place.

use crate::monitor::Monitor;
use crate::routing::Delivery;
use crate::slices::BASE;
use crate::step::Occurrence;
use juror_event::{EventId, Value};
use juror_language::EvaluationError;

/// An event of which nothing but its parameter is known.
const BARE: Occurrence<'static> = Occurrence {
    thread: 0,
    address: 0,
    time: 0,
    values: &[],
};

impl Monitor {
    /// Takes one event whose captures are these numbers, in their order: as
    /// [`Monitor::step`], with no thread, no address and no time. True when a
    /// slice may have changed.
    ///
    /// [`Monitor::needs`] does not follow these events: it is brought up to date
    /// by the next [`Monitor::step`]. [`Monitor::changes`] has what changed a
    /// verdict, and perhaps more.
    ///
    /// # Errors
    /// As [`Monitor::step`].
    #[inline]
    pub fn step_words(
        &mut self,
        event: EventId,
        captures: &[u64],
    ) -> Result<bool, EvaluationError> {
        match self.step_quickly(event, captures) {
            Some(moved) => Ok(moved),
            None => self.step_slowly(event, captures),
        }
    }

    /// One look-up, where nothing but the state of one slice changes; nothing
    /// was done where there may be more to do.
    #[inline]
    fn step_quickly(&mut self, event: EventId, captures: &[u64]) -> Option<bool> {
        if self.history.is_kept() || self.parameters > 1 {
            return None;
        }
        let mut place = BASE;
        if self.parameters == 1 {
            let slot = self.plan.only_slot(event)?;
            let word = *captures.get(usize::from(slot))?;
            if word >> 63 != 0 {
                return None;
            }
            place = self.index.only(&self.slices, word).unwrap_or(BASE);
        }
        let state = self.slices.state(place);
        let next = self.behaviour.quick(state, event)?;
        if next != state {
            // A slice is born of the base, or dropped when it is like it.
            let is_sliced = self.parameters == 1;
            if is_sliced && (place == BASE || self.drops && next == self.slices.state(BASE)) {
                return None;
            }
            self.slices.set_state(place, next);
            self.needs.lose_count();
        }
        self.begin();
        Some(next != state)
    }

    /// The same, whatever it takes.
    fn step_slowly(&mut self, event: EventId, captures: &[u64]) -> Result<bool, EvaluationError> {
        let Some(effects) = self.behaviour.whole_effects(event) else {
            return self.step_values(event, captures);
        };
        if self.history.is_kept() {
            return self.step_values(event, captures);
        }
        self.needs.defer(true);
        let delivery = Delivery {
            event,
            occurrence: &BARE,
            applying: effects,
        };
        let result = match (self.parameters, self.plan.only_slot(event)) {
            (0, _) => {
                self.begin();
                self.deliver(delivery, effects, BASE)
            }
            (1, Some(slot)) => match captures.get(usize::from(slot)) {
                Some(&word) if word >> 63 == 0 => {
                    self.begin();
                    self.route_word(delivery, word)
                }
                _ => return self.step_values(event, captures),
            },
            _ => return self.step_values(event, captures),
        };
        result.map(|()| !self.changes.is_empty())
    }

    /// The same with the numbers as values.
    fn step_values(&mut self, event: EventId, captures: &[u64]) -> Result<bool, EvaluationError> {
        let mut values = std::mem::take(&mut self.scratch.values);
        values.clear();
        values.extend(captures.iter().map(|&word| Value::Int(word.into())));
        let occurrence = Occurrence {
            values: &values,
            ..BARE
        };
        let result = self.step(event, &occurrence);
        self.scratch.values = values;
        result.map(|step| step.taken)
    }
}
