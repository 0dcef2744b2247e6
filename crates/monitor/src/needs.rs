//! The events that the occupied states need, kept by counting.
//!
//! **Invariant:** the needed events are the union over the states that at least one
//! slice is in; a slice that moves between occupied states costs two counts.

use crate::plan::StateNeed;
use juror_event::EventId;
use juror_language::StateId;

/// The maximum number of captures of an event, which are bits of a mask.
const CAPTURES_MAX: usize = 64;

/// What the occupied states need of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventNeed {
    /// True if some occupied state has a transition for the event.
    pub needed: bool,
    /// The captures to read; bit n is slot n. Declared captures are always included,
    /// hoisted ones only if a transition uses them.
    pub captures: u64,
}

/// The needs, and the counts from which they are derived.
#[derive(Debug, Clone)]
pub(crate) struct Needs {
    needs: Vec<EventNeed>,
    /// By event: the captures that are always read.
    declared: Vec<u64>,
    /// By state: the number of slices in it.
    occupied: Vec<u64>,
    /// By event: the number of occupied states that need it.
    events: Vec<u32>,
    /// By event and capture: the number of occupied states that need it.
    captures: Vec<u32>,
    changed: bool,
    /// True while nothing is counted, since the needs are not read.
    is_deferred: bool,
    /// True if something was not counted.
    is_stale: bool,
}

impl Needs {
    /// Creates the needs of no states; the `declared` captures of each event are always
    /// read.
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

    /// Stops the counting, since the needs are not read, or resumes it. Returns true if
    /// everything must be counted again.
    #[inline]
    pub(crate) fn defer(&mut self, is_deferred: bool) -> bool {
        self.is_deferred = is_deferred;
        self.is_stale && !is_deferred
    }

    /// Returns true while nothing is counted, so that every event may be needed.
    #[inline]
    pub(crate) fn is_deferred(&self) -> bool {
        self.is_deferred
    }

    /// Returns true if everything is counted.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        !self.is_deferred && !self.is_stale
    }

    /// Records that slices move without being counted.
    #[inline]
    pub(crate) fn lose_count(&mut self) {
        self.is_stale = true;
    }

    /// Resets all counts.
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

    /// Returns true if some occupied state needs the event.
    #[inline]
    pub(crate) fn is_needed(&self, event: EventId) -> bool {
        let need = self.needs.get(usize::from(event.0));
        need.is_some_and(|need| need.needed)
    }

    /// Returns true if anything changed since the last call.
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Returns true if some slice is in this state.
    #[inline]
    pub(crate) fn is_occupied(&self, state: StateId) -> bool {
        self.occupied.get(state.index()).is_some_and(|&n| n > 0)
    }

    /// Counts a slice that enters this state.
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

    /// Counts a slice that leaves this state.
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

/// Counts up or down; returns true if the count came from zero or reached it.
fn counted(count: &mut u32, more: bool) -> bool {
    if more {
        *count += 1;
        *count == 1
    } else {
        *count = count.saturating_sub(1);
        *count == 0
    }
}
