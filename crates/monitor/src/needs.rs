//! Which events the occupied states need, kept by counting.
//!
//! Invariant: what is needed is the union over the states that at least one
//! slice is in; a slice that moves between occupied states costs two counts.

use crate::plan::StateNeed;
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
    /// By event: the captures that are always read.
    declared: Vec<u64>,
    /// By state: how many slices are in it.
    occupied: Vec<u64>,
    /// By event: how many occupied states need it.
    events: Vec<u32>,
    /// By event and capture: how many occupied states need it.
    captures: Vec<u32>,
    changed: bool,
    /// Nothing is counted: nobody asks what is needed.
    is_deferred: bool,
    /// Something was not counted.
    is_stale: bool,
}

impl Needs {
    /// Of no states, with these captures of each event always read.
    pub(crate) fn new(declared: &[u64]) -> Needs {
        let events = declared.len();
        let unneeded = |&captures: &u64| EventNeed {
            needed: false,
            captures,
        };
        Needs {
            needs: declared.iter().map(unneeded).collect(),
            declared: declared.to_vec(),
            occupied: Vec::new(),
            events: vec![0; events],
            captures: vec![0; events * CAPTURES_MAX],
            changed: false,
            is_deferred: false,
            is_stale: false,
        }
    }

    /// From here on nothing is counted, since nobody asks what is needed, or
    /// everything is again. True when it is to be counted anew.
    #[inline]
    pub(crate) fn defer(&mut self, is_deferred: bool) -> bool {
        self.is_deferred = is_deferred;
        self.is_stale && !is_deferred
    }

    /// True when nothing is counted, so that every event may be needed.
    #[inline]
    pub(crate) fn is_deferred(&self) -> bool {
        self.is_deferred
    }

    /// True when nothing was left uncounted.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        !self.is_deferred && !self.is_stale
    }

    /// Slices move without being counted.
    #[inline]
    pub(crate) fn lose_count(&mut self) {
        self.is_stale = true;
    }

    /// No slice is in any state.
    pub(crate) fn clear(&mut self) {
        self.is_stale = false;
        self.changed = true;
        for (need, captures) in self.needs.iter_mut().zip(&self.declared) {
            *need = EventNeed {
                needed: false,
                captures: *captures,
            };
        }
        self.occupied.clear();
        self.events.fill(0);
        self.captures.fill(0);
    }

    pub(crate) fn all(&self) -> &[EventNeed] {
        &self.needs
    }

    /// True when some occupied state needs the event.
    #[inline]
    pub(crate) fn is_needed(&self, event: EventId) -> bool {
        let need = self.needs.get(usize::from(event.0));
        need.is_some_and(|need| need.needed)
    }

    /// Whether anything changed since this was last asked.
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// True when some slice is in this state.
    #[inline]
    pub(crate) fn is_occupied(&self, state: StateId) -> bool {
        self.occupied.get(state.index()).is_some_and(|&n| n > 0)
    }

    /// A slice is in this state from now on, which needs this.
    #[inline]
    pub(crate) fn enter<'a>(&mut self, state: StateId, needs: impl FnOnce() -> &'a [StateNeed]) {
        if self.is_deferred {
            self.is_stale = true;
            return;
        }
        if self.occupied.len() <= state.index() {
            self.occupied.resize(state.index() + 1, 0);
        }
        let Some(count) = self.occupied.get_mut(state.index()) else {
            return;
        };
        *count += 1;
        if *count == 1 {
            self.apply(needs(), true);
        }
    }

    /// A slice is no longer in this state, which needs this.
    #[inline]
    pub(crate) fn leave<'a>(&mut self, state: StateId, needs: impl FnOnce() -> &'a [StateNeed]) {
        if self.is_deferred {
            self.is_stale = true;
            return;
        }
        let Some(count) = self.occupied.get_mut(state.index()) else {
            return;
        };
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.apply(needs(), false);
        }
    }

    fn apply(&mut self, needs: &[StateNeed], occupied: bool) {
        for need in needs {
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
