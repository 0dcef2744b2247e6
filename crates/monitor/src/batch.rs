//! Events given as integers, for traces that are checked offline.
//!
//! The evaluator and the slices are the same as for [`Monitor::step`]; only the entry
//! is shorter, for events whose values are all non-negative integers and whose thread
//! and address are not needed.

use crate::behaviour::Behaviour;
use crate::monitor::Monitor;
use crate::routing::Delivery;
use crate::slices::{BASE, Place};
use crate::step::Occurrence;
use crate::words::{OTHER, UNBOUND, Word, mask_of};
use juror_event::{EventId, Value, Verdict};
use juror_language::{EvaluationError, StateId};

/// The maximum number of parameters of events on the fast path.
const WORDS_MAX: usize = 16;

/// An event of which only the parameters are known.
const BARE: Occurrence<'static> = Occurrence {
    thread: 0,
    address: 0,
    time: 0,
    values: &[],
};

impl Monitor {
    /// Takes one event whose captures are these numbers, in their order, like
    /// [`Monitor::step`] with no thread, no address and no time. Returns true if a
    /// slice may have changed.
    ///
    /// [`Monitor::needs`] is not updated by these events, but by the next
    /// [`Monitor::step`]. [`Monitor::changes`] contains the transitions that changed a
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

    /// Takes an event that concerns one slice and causes no final verdict, with one
    /// look-up; returns `None` and does nothing if there may be more to do.
    #[inline]
    fn step_quickly(&mut self, event: EventId, captures: &[u64]) -> Option<bool> {
        if self.history.is_kept() {
            return None;
        }
        match self.parameters {
            0 => self.step_base(event),
            1 => self.step_only(event, captures),
            _ => self.step_whole(event, captures),
        }
    }

    /// Takes an event of a property without parameters.
    #[inline]
    fn step_base(&mut self, event: EventId) -> Option<bool> {
        let state = self.slices.state(BASE);
        let next = self.behaviour.quick(state, event)?;
        self.begin();
        if next != state {
            self.slices.set_state(BASE, next);
            self.counted(BASE, None, (state, next));
        }
        Some(next != state)
    }

    /// Takes an event that binds the only parameter.
    #[inline]
    fn step_only(&mut self, event: EventId, captures: &[u64]) -> Option<bool> {
        let slot = self.plan.only_slot(event)?;
        let word = *captures.get(usize::from(slot))?;
        if word >= OTHER {
            return None;
        }
        let place = self.index.only(&self.slices, word).unwrap_or(BASE);
        let state = self.slices.state(place);
        let next = self.behaviour.quick(state, event)?;
        if place == BASE {
            return self.bear_quickly(event, (state, next), &[word]);
        }
        self.begin();
        if next != state {
            self.counted(place, None, (state, next));
            self.slices.set_state(place, next);
        }
        if self.drops && next == self.slices.state(BASE) {
            self.index.remove_only(&self.slices, place, word);
            self.drop_quickly(place, next);
        }
        Some(next != state)
    }

    /// Takes an event that binds all of several parameters: only the slice with this
    /// binding takes it, and if that exists, no slice is created.
    #[inline]
    fn step_whole(&mut self, event: EventId, captures: &[u64]) -> Option<bool> {
        let mut words = [UNBOUND; WORDS_MAX];
        let slots = self.plan.whole_slots(event)?;
        for (word, slot) in words.iter_mut().zip(slots) {
            *word = *captures.get(usize::from(*slot))?;
            if *word >= OTHER {
                return None;
            }
        }
        let words = words.get(..self.parameters)?;
        let mask = mask_of(words);
        let Some(place) = self.index.exact(&self.slices, words, mask) else {
            if !self.index.binds_all(mask) {
                return None;
            }
            let state = self.slices.state(BASE);
            let next = self.behaviour.quick(state, event)?;
            return self.bear_quickly(event, (state, next), words);
        };
        let state = self.slices.state(place);
        let next = self.behaviour.quick(state, event)?;
        let below = if self.drops { self.below(place) } else { None };
        let is_dropped = below.is_some_and(|below| self.slices.state(below) == next);
        if is_dropped && (next == state || self.behaviour.verdict(next) == Verdict::Violated) {
            return None;
        }
        self.begin();
        if next != state {
            self.counted(place, None, (state, next));
            self.index.moved(&self.slices, place, state, next);
            self.slices.set_state(place, next);
            if is_dropped {
                self.index.remove(&self.slices, place);
                self.drop_quickly(place, next);
            }
        }
        Some(next != state)
    }

    /// Creates a slice from the base if the event leads to another state; returns
    /// `None` and does nothing if the slice has variables to inherit, or may be
    /// excluded by the constraint.
    #[inline]
    fn bear_quickly(
        &mut self,
        event: EventId,
        (state, next): (StateId, StateId),
        words: &[Word],
    ) -> Option<bool> {
        if next == state {
            // A transition from a state to itself is a transition, too.
            return self.behaviour.ignores(state, event).then(|| {
                self.begin();
                false
            });
        }
        if self.slices.have_variables() || !self.plan.constraint.is_empty() {
            return None;
        }
        let place = self.slices.insert(words, next, &[], None);
        match words {
            [word] => self.index.insert_only(&self.slices, place, *word),
            _ => self.index.insert(&self.slices, place),
        }
        self.peak = self.peak.max(self.slices.count());
        self.begin();
        self.tally.enter(self.behaviour.verdict(state));
        self.counted(place, Some(BASE), (state, next));
        Some(true)
    }

    /// Records that a slice goes from one state to another: if the verdict changes, it
    /// is counted and reported.
    #[inline]
    fn counted(&mut self, place: Place, parent: Option<Place>, (from, to): (StateId, StateId)) {
        self.needs.lose_count();
        let (before, after) = (self.behaviour.verdict(from), self.behaviour.verdict(to));
        if before != after {
            self.tally.enter(after);
            self.tally.leave(before);
            let change = self.change(place, parent, from, to);
            self.changes.push(change);
        }
    }

    /// Drops a slice that equals the one below it and is no longer in the index;
    /// `state` is the state in which it was last counted.
    #[inline]
    fn drop_quickly(&mut self, place: Place, state: StateId) {
        self.slices.remove(place);
        self.needs.lose_count();
        self.tally.leave(self.behaviour.verdict(state));
    }

    /// Takes an event that is not on the fast path.
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

    /// Takes an event with the numbers converted to values.
    fn step_values(&mut self, event: EventId, captures: &[u64]) -> Result<bool, EvaluationError> {
        let mut values = std::mem::take(&mut self.scratch.values);
        values.clear();
        values.extend(captures.iter().map(|&word| Value::Int(word.into())));
        let occurrence = Occurrence {
            values: &values,
            ..BARE
        };
        let result = if self.has_one_slice(event) {
            self.step_one(event, &occurrence)
        } else {
            self.step_all(event, &occurrence)
        };
        self.scratch.values = values;
        result
    }

    /// Takes an event with values that several slices may take. States of timed
    /// formulas, which are forgotten when no slice is in them, must be counted.
    fn step_all(
        &mut self,
        event: EventId,
        occurrence: &Occurrence<'_>,
    ) -> Result<bool, EvaluationError> {
        match self.behaviour {
            Behaviour::Timed(_) => self.count_again()?,
            Behaviour::Automaton(_) | Behaviour::Logic(_) => {
                self.needs.defer(true);
            }
        }
        self.take_event(event, occurrence)?;
        Ok(!self.changes.is_empty())
    }

    /// Returns true if only one slice of an automaton takes the event, or is created by
    /// it.
    fn has_one_slice(&self, event: EventId) -> bool {
        let is_automaton = matches!(self.behaviour, Behaviour::Automaton(_));
        is_automaton
            && match self.parameters {
                0 => true,
                1 => self.plan.only_slot(event).is_some(),
                _ => false,
            }
    }

    /// Takes an event with values in one slice of an automaton.
    fn step_one(
        &mut self,
        event: EventId,
        occurrence: &Occurrence<'_>,
    ) -> Result<bool, EvaluationError> {
        if self.words.is_crowded() {
            self.tidy();
        }
        let slot = self.plan.only_slot(event).map(usize::from);
        let bound = slot.map(|slot| occurrence.values.get(slot));
        if bound == Some(None) {
            return self.step_all(event, occurrence);
        }
        self.needs.defer(true);
        self.begin();
        let delivery = Delivery {
            event,
            occurrence,
            applying: 1,
        };
        match bound.flatten() {
            None => self.deliver(delivery, 1, BASE)?,
            Some(value) => {
                let word = self.words.word(0, value);
                self.route_word(delivery, word)?;
            }
        }
        Ok(!self.changes.is_empty())
    }
}
