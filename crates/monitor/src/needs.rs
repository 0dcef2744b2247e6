//! Which events the occupied states need, kept by counting.
//!
//! Invariant: what is needed is the union over the states that at least one
//! slice is in; a slice that moves between occupied states costs two counts.

use crate::automaton::Automaton;
use juror_event::EventId;
use juror_language::StateId;

/// How many captures an event has at most: bits of a mask.
const CAPTURES_MAX: usize = 64;

/// What the states that slices are in need of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventNeed {
    /// True when some transition is for the event.
    pub needed: bool,
    /// Which captures are to be read; bit n is slot n. The declared ones
    /// always, the hoisted ones only when a transition uses them.
    pub captures: u64,
}

/// The needs, and the counts that they come from.
#[derive(Debug, Clone)]
pub(crate) struct Needs {
    needs: Vec<EventNeed>,
    /// By state: how many slices are in it.
    occupied: Vec<u64>,
    /// By event: how many occupied states need it.
    events: Vec<u32>,
    /// By event and capture: how many occupied states need it.
    captures: Vec<u32>,
    changed: bool,
}

impl Needs {
    pub(crate) fn new(automaton: &Automaton) -> Needs {
        let events = automaton.property.events.len();
        let unneeded = |&captures: &u64| EventNeed {
            needed: false,
            captures,
        };
        Needs {
            needs: automaton.declared.iter().map(unneeded).collect(),
            occupied: vec![0; automaton.property.states().len()],
            events: vec![0; events],
            captures: vec![0; events * CAPTURES_MAX],
            changed: false,
        }
    }

    pub(crate) fn all(&self) -> &[EventNeed] {
        &self.needs
    }

    /// Whether anything changed since this was last asked.
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// A slice is in this state from now on.
    pub(crate) fn enter(&mut self, automaton: &Automaton, state: StateId) {
        let Some(count) = self.occupied.get_mut(state.index()) else {
            return;
        };
        *count += 1;
        if *count == 1 {
            self.apply(automaton, state, true);
        }
    }

    /// A slice is no longer in this state.
    pub(crate) fn leave(&mut self, automaton: &Automaton, state: StateId) {
        let Some(count) = self.occupied.get_mut(state.index()) else {
            return;
        };
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.apply(automaton, state, false);
        }
    }

    fn apply(&mut self, automaton: &Automaton, state: StateId, occupied: bool) {
        let needs = automaton.needs.get(state.index());
        for need in needs.into_iter().flatten() {
            self.count_event(need.event, occupied);
            let mut rest = need.hoisted;
            while rest != 0 {
                self.count_capture(need.event, rest.trailing_zeros(), occupied);
                rest &= rest - 1;
            }
        }
    }

    fn count_event(&mut self, event: EventId, more: bool) {
        let event = usize::from(event.0);
        let (Some(count), Some(need)) = (self.events.get_mut(event), self.needs.get_mut(event))
        else {
            return;
        };
        if counted(count, more) {
            need.needed = more;
            self.changed = true;
        }
    }

    fn count_capture(&mut self, event: EventId, slot: u32, more: bool) {
        let event = usize::from(event.0);
        let position = event * CAPTURES_MAX + slot as usize;
        let count = self.captures.get_mut(position);
        let (Some(count), Some(need)) = (count, self.needs.get_mut(event)) else {
            return;
        };
        if counted(count, more) {
            need.captures ^= 1 << slot;
            self.changed = true;
        }
    }
}

/// Counts up or down; true when the count came from or to zero.
fn counted(count: &mut u32, more: bool) -> bool {
    if more {
        *count += 1;
        *count == 1
    } else {
        *count = count.saturating_sub(1);
        *count == 0
    }
}
